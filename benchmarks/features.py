"""Exact feature values of black boxes against shap.explainers.Exact, in one run.

    FAIRFIELD_DATA=folder python benchmarks/features.py

Adult where FAIRFIELD_DATA has it, else a generated table with the same ties; 12 features,
100 background rows; then continuous data, where there are no ties to use; then memory.
Times are processor time of one thread, in a process of its own, so that what else runs on
the machine counts little.
"""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import machine, show

import fairfield as ff
from fairfield.games.features.corners import LARGEST_CALL

# The paper's data and models are no part of the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paper.adult import MODELS, fit, load_adult

warnings.filterwarnings("ignore")
EXPLAINED, REPEATS = 10, 5
BOUNDS = {"xgboost": 8, "mlp": 8}
BARE = 1.15


class Counted:
    """The probability of a model's second class, counting the rows it is asked for."""

    def __init__(self, model: object) -> None:
        self.model, self.rows = model, 0
        self.kept: list[np.ndarray] | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        self.rows += len(X)
        if self.kept is not None:
            self.kept.append(X.copy())
        return self.model.predict_proba(X)[:, 1]


def generated(rng: np.random.Generator, rows: int = 8000) -> tuple[np.ndarray, np.ndarray]:
    """A table whose columns repeat their values about as often as Adult's do."""

    def column(*weights: float) -> np.ndarray:
        law = np.array(weights) / sum(weights)
        return rng.choice(len(law), rows, p=law)

    X = np.column_stack(
        [
            rng.integers(17, 75, rows), column(70, 8, 6, 6, 4, 3, 3), column(32, 22, 16, 6, 5, 4, 4, 3, 3, 5),
            column(46, 33, 14, 3, 3, 1), column(13, 13, 12, 11, 10, 10, 6, 6, 5, 5, 4, 3, 2), column(41, 26, 16, 10, 5, 2),
            column(85, 10, 3, 1, 1), column(67, 33), column(91.7, 1, 1, 1, 1, 1, 1, 1, 1.3), column(95.3, 2, 1, 1, 0.7),
            column(47, 9, 9, 6, 5, 4, 3, 3, 2, 2, 2, 2, 2, 2, 2), column(90, 2, 2, 1, 1, 1, 1, 1, 1),
        ]
    ).astype(float)  # fmt: skip
    signal = (X[:, 0] - 45) / 15 + X[:, 2] / 4 + X[:, 7] + X[:, 8] + rng.standard_normal(rows)
    return X, signal > np.quantile(signal, 0.75)


def timed(tasks: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of several runs of each task, taken in turn."""
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(REPEATS):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            best[name] = min(best[name], time.process_time() - start)
    return best


def against_shap(
    models: dict[str, Counted], rows: np.ndarray, background: np.ndarray
) -> list[tuple[object, ...]]:
    import shap

    lines = []
    for name, model in models.items():
        # shap keeps 100 rows of the background unless it is told to keep all.
        masker = shap.maskers.Independent(background, max_samples=len(background))
        exact = shap.explainers.Exact(model, masker)
        game = ff.FeatureGame(model, rows, background)
        model.rows = 0
        theirs = exact(rows, silent=True).values
        their_rows, model.rows = model.rows / len(rows), 0
        ours = ff.shapley(game).values
        our_rows = model.rows / len(rows)
        seconds = timed(
            {
                "shap": lambda exact=exact: exact(rows, silent=True),
                "ours": lambda game=game: ff.shapley(game),
                "index": lambda game=game: ff.variational_index(game, temperature=0.1),
            }
        )
        ratio = seconds["shap"] / seconds["ours"]
        bound = BOUNDS.get(name)
        lines.append(
            (name, *(f"{1000 * seconds[k] / len(rows):.1f}" for k in ("shap", "ours", "index")),
             f"{their_rows:,.0f}", f"{our_rows:,.0f}", f"{ratio:.1f}",
             "" if bound is None else f"{bound}{'' if ratio >= bound else ' missed'}",
             f"{np.abs(theirs - ours).max():.1e}")
        )  # fmt: skip
    return lines


def without_ties(models: dict[str, Counted], rng: np.random.Generator) -> list[tuple[object, ...]]:
    """Our time over that of the bare model on the very same batches of rows."""
    import shap

    rows, background = rng.standard_normal((2, 12)), rng.standard_normal((100, 12))
    lines = []
    for name, model in models.items():
        game = ff.FeatureGame(model, rows, background)
        model.kept = []
        game.table()
        batches, model.kept = model.kept, None
        masker = shap.maskers.Independent(background, max_samples=len(background))
        exact = shap.explainers.Exact(model, masker)
        seconds = timed(
            {
                "bare": lambda model=model, batches=batches: [model(batch) for batch in batches],
                "ours": game.table,
                "shap": lambda exact=exact: exact(rows, silent=True),
            }
        )
        ratio = seconds["ours"] / seconds["bare"]
        lines.append(
            (name, *(f"{1000 * seconds[k] / len(rows):.1f}" for k in ("bare", "ours", "shap")),
             f"{ratio:.3f}", "" if name == "logistic" else f"{BARE}{'' if ratio <= BARE else ' missed'}",
             f"{seconds['shap'] / seconds['ours']:.2f}")
        )  # fmt: skip
    return lines


def memory(name: str) -> None:
    """Peak memory of one table, 16 features × 100 background rows; run in its own process."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 16))
    model = fit(name, X, X[:, 0] + X[:, 1] * X[:, 2] > 0)
    model.predict_proba(X[:10])
    before = peak()
    start = time.perf_counter()
    ff.shapley(ff.FeatureGame(model, X[0], X[100:200]))
    seconds = time.perf_counter() - start
    print(f"{peak():.0f} {peak() - before:.0f} {seconds:.1f}")


def peak() -> float:
    """The most memory this process has held, in MB; getrusage would count its parent's too."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) / 1000 for line in file if line.startswith("VmHWM"))


def main() -> None:
    rng = np.random.default_rng(0)
    print(
        f"# Feature values of black boxes\n\n{machine()}, shap {_version('shap')}, Python {sys.version.split()[0]}"
    )
    try:
        frame, y = load_adult(download=False)
        X, source = frame.to_numpy(), "Adult"
    except FileNotFoundError:
        (X, y), source = generated(rng), "a generated table with the ties of Adult"
    models = {name: Counted(fit(name, X, y)) for name in MODELS}
    background = X[rng.choice(len(X), 100, replace=False)]
    rows = X[rng.choice(len(X), EXPLAINED, replace=False)]
    show(
        f"{source}, 12 features, 100 background rows: milliseconds and model rows per explained row",
        ("model", "shap.Exact ms", "ours ms", "variational index ms", "shap.Exact rows", "our rows",
         "times faster", "at least", "largest difference"),
        against_shap(models, rows, background),
    )  # fmt: skip
    show(
        f"Continuous data without ties: milliseconds per explained row, calls of at most {LARGEST_CALL:,} rows",
        (
            "model",
            "bare predict ms",
            "ours ms",
            "shap.Exact ms",
            "ours / bare",
            "at most",
            "shap / ours",
        ),
        without_ties(models, rng),
    )
    peaks = []
    for name in MODELS:
        printed = subprocess.run(
            [sys.executable, __file__, "--memory", name], capture_output=True, text=True, check=True
        ).stdout.split()
        peaks.append((name, f"{printed[0]} MB", f"{printed[1]} MB", f"{printed[2]} s"))
    show(
        "16 features × 100 background rows, no ties (6 553 600 model rows); at most 1 GB",
        ("model", "peak of the process", "of it for the table", "time"),
        peaks,
    )


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        memory(sys.argv[2])
    elif sys.argv[1:2] == ["--here"]:
        main()
    else:
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
        subprocess.run(
            [sys.executable, __file__, "--here"], env={**os.environ, **alone}, check=True
        )
