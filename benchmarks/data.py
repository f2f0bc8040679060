"""Data valuation: what the engine costs beside a bare loop, and what workers gain.

The game: breast cancer, 12 random groups of training rows, LogisticRegression, accuracy. Fits are
timed in turns, in CPU seconds where one process works; start-up of workers is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from joblib import parallel_config
from measure import machine, show
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import fairfield as ff
from fairfield.core.arrays import BoolArray
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from fairfield.evaluation.workers import one_blas_thread

HERE = Path(__file__).resolve().parent
GROUPS, CHUNKS, TURNS = 12, 4, 3
PYDVL_SECONDS = 20
KEPT = 200_000
SHARED_OUT = "lbfgs, scikit-learn's default"
MODELS = {
    "liblinear, as in the paper": LogisticRegression(
        solver="liblinear", max_iter=5000, random_state=666
    ),
    "lbfgs, scikit-learn's default": LogisticRegression(),
}


class Setup:
    """The game, and the same worths by hand."""

    def __init__(self, model: LogisticRegression) -> None:
        X, y = load_breast_cancer(return_X_y=True)
        sets = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
        self.X, self.X_test, self.y, self.y_test = sets
        self.groups = ff.cluster(self.X, GROUPS, how="random")
        self.model = model
        self.game = ff.DataGame(model, self.X, self.y, self.X_test, self.y_test, groups=self.groups)

    def bare(self, coalitions: BoolArray) -> list[float]:
        """clone → fit → score, nothing else."""
        worths = []
        for coalition in coalitions:
            rows = coalition[self.groups]
            if not rows.any():
                worths.append(max(np.bincount(self.y_test)) / len(self.y_test))
                continue
            model = clone(self.model).fit(self.X[rows], self.y[rows])
            worths.append(model.score(self.X_test, self.y_test))
        return worths

    def engine(self, coalitions: BoolArray) -> np.ndarray:
        with Evaluator(self.game, Options(n_jobs=1, progress=False)) as evaluator:
            return evaluator.worths(coalitions)


def seconds(clock: Callable[[], float], task: Callable[..., object], *given: object) -> float:
    start = clock()
    task(*given)
    return clock() - start


def overhead() -> None:
    """Chunk by chunk in turns, the fastest turn of each: a noisy machine hits both alike."""
    rows = []
    for name, model in MODELS.items():
        setup = Setup(model)
        bare = engine = 0.0
        with one_blas_thread():
            for chunk in np.array_split(enumerate_coalitions(GROUPS), CHUNKS):
                assert (setup.engine(chunk) == setup.bare(chunk)).all()
                turns = [
                    (
                        seconds(time.process_time, setup.bare, chunk),
                        seconds(time.process_time, setup.engine, chunk),
                    )
                    for _ in range(TURNS)
                ]
                fastest = np.min(turns, axis=0)
                bare, engine = bare + fastest[0], engine + fastest[1]
        rows.append((name, 1000 * bare / 2**GROUPS, bare, engine, f"{engine / bare - 1:+.1%}"))
    show(
        "All 4096 worths, n_jobs=1 against a bare clone → fit → score loop (bar: 5 %)",
        ("model", "ms per fit", "bare loop, CPU s", "engine, CPU s", "overhead"),
        rows,
    )


@contextmanager
def started(name: str) -> Iterator[None]:
    """Two workers of a cluster engine, where the backend does not start its own."""
    if name == "dask":
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            yield
    elif name == "ray":
        import ray
        from ray.util.joblib import register_ray

        ray.init("local", num_cpus=2, include_dashboard=False, logging_level="ERROR")
        register_ray()
        yield
        ray.shutdown()
    else:
        yield


def by_hand(coalitions: BoolArray) -> list[float]:
    """The bare loop, in a process of its own."""
    with one_blas_thread():
        return Setup(MODELS[SHARED_OUT]).bare(coalitions)


def workers() -> None:
    """The same worths by one process and by two workers of each engine, all warm, in turns.

    Two bare loops side by side, half of the coalitions each, tell what the machine has to give.
    """
    setup = Setup(MODELS[SHARED_OUT])
    shuffled = np.random.default_rng(0).permutation(enumerate_coalitions(GROUPS))
    warm, *turns = np.array_split(shuffled[:2048], 8)
    took: dict[str, list[float]] = {}
    with ExitStack() as stack:
        pool = stack.enter_context(ProcessPoolExecutor(2, mp_context=get_context("spawn")))
        list(pool.map(by_hand, np.array_split(warm, 2)))
        ready = {}
        for name in ("one process", "loky", "dask", "ray"):
            jobs = 1 if name == "one process" else 2
            try:
                stack.enter_context(started(name))
            except ImportError as missing:
                print(f"\n{missing.name} is not installed, so {name} was not measured.")
                continue
            with parallel_config(backend=name if jobs == 2 else "loky", n_jobs=jobs):
                ready[name] = stack.enter_context(Evaluator(setup.game, Options(progress=False)))
                ready[name].worths(warm)
        for coalitions in turns:
            worths = []
            for name, evaluator in ready.items():
                start = time.perf_counter()
                worths.append(evaluator.worths(coalitions))
                took.setdefault(name, []).append(time.perf_counter() - start)
            start = time.perf_counter()
            halves = list(pool.map(by_hand, np.array_split(coalitions, 2)))
            took.setdefault("two bare loops", []).append(time.perf_counter() - start)
            assert all((each == worths[0]).all() for each in [*worths, np.concatenate(halves)])
    alone, loky, bare = (np.array(took[n]) for n in ("one process", "loky", "two bare loops"))
    show(
        f"{len(turns[0])} worths by two workers, median of {len(turns)} turns "
        "(bars: 1.7 × on free cores; dask and ray within 25 % of loky)",
        ("workers", "wall s", "speed-up", "against loky", "against two bare loops"),
        [
            (name, float(np.median(own)), float(np.median(alone / own)),
             f"{np.median(own / loky) - 1:+.0%}", f"{np.median(own / bare) - 1:+.0%}")
            for name, own in took.items()
        ],
    )  # fmt: skip


def peer() -> None:
    """pyDVL on the same game, in its own environment."""
    python = os.environ.get("FAIRFIELD_PYDVL_PYTHON")
    if not python:
        print("\nFAIRFIELD_PYDVL_PYTHON names no interpreter, so pyDVL was not measured.")
        return
    setup = Setup(MODELS["liblinear, as in the paper"])
    sets = {name: getattr(setup, name) for name in ("X", "y", "X_test", "y_test", "groups")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.npz"
        np.savez(path, **sets)
        command = [python, str(HERE / "pydvl_data.py"), str(path), str(PYDVL_SECONDS)]
        run = subprocess.run(
            command, capture_output=True, text=True, check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
    theirs = json.loads(run.stdout.splitlines()[-1])
    with one_blas_thread():
        ours = seconds(time.process_time, lambda: ff.shapley(setup.game, n_jobs=1))
    rows = [("fairfield, exact", 2**GROUPS, 2**GROUPS / ours, 1.0, f"{ours:.0f} s")]
    for name, (fits, took) in theirs.items():
        needed = f"{GROUPS * 2**GROUPS * took / fits:.0f} s" if name == "exact" else "never exact"
        rate = fits / took
        rows.append((f"pyDVL, {name}", fits, rate, rate / (2**GROUPS / ours), needed))
    show(
        "Evaluations per CPU second beside pyDVL 0.10, one process",
        ("", "evaluations", "per second", "ratio", "to exact Shapley values"),
        rows,
    )


def memory() -> None:
    """What 200 000 evaluations leave behind in memory, after the first tenth of them."""
    rng, rows = np.random.default_rng(0), []
    for players in (24, 80, 300):
        game = ff.FunctionGame(lambda S: S.sum(axis=1), players)
        with Evaluator(game, Options(progress=False)) as evaluator:
            batches = [rng.random((KEPT // 10, players)) < 0.5 for _ in range(10)]
            evaluator.worths(batches[0])
            before = evaluator.evaluations
            tracemalloc.start()
            for batch in batches[1:]:
                evaluator.worths(batch)
            grown = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
        rows.append((players, evaluator.evaluations, grown / (evaluator.evaluations - before), 64))
    show(
        "Memory of kept worths",
        ("players", "evaluations", "bytes per kept worth", "bar"),
        rows,
    )


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"  # in workers as well
    print(f"# Data valuation\n\n{machine()}")
    parts = {"overhead": overhead, "workers": workers, "peer": peer, "memory": memory}
    for part in sys.argv[1:] or parts:
        parts[part]()


if __name__ == "__main__":
    main()
