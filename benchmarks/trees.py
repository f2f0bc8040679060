"""Tree games beside the tree explainers of others, in one process, one factor varied at a time.

    python benchmarks/trees.py [cells] [growth] [serving]

A cell is 1000 rows, 1000 background rows, XGBoost 100 × depth 6, 30 features, Shapley values, with one
of these changed. Times are processor time per explained row of the whole call, from the fitted
model to the values, compilation left out; a peer whose rows take long explains fewer. Needs shap,
xgboost, lightgbm, woodelf-explainer and shapiq ≥ 1.8, and so Python 3.12.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import lightgbm
import numpy as np
import pandas
import shap
import shapiq
import xgboost
from measure import machine, show
from sklearn.ensemble import RandomForestRegressor
from woodelf import WoodelfExplainer

import fairfield as ff

# Seconds that a peer may take for a cell: it explains as many rows as fit.
ENOUGH = 2.0
# Rows that a peer explains to find out how many these are.
TRIED = 20


@dataclass(frozen=True)
class Cell:
    """What is explained; ``background`` None is the path-dependent game."""

    rows: int = 1000
    background: int | None = 1000
    model: str = "xgboost"
    depth: int = 6
    features: int = 30
    criterion: str = "Shapley"

    def __str__(self) -> str:
        size = "path-dependent" if self.background is None else f"{self.background} background rows"
        grown = {"forest": "forest of 20, unbounded", "lightgbm": "LightGBM, 63 leaves"}
        model = grown.get(self.model, f"XGBoost, depth {self.depth}")
        rows = "1 row" if self.rows == 1 else f"{self.rows} rows"
        return f"{rows}, {size}, {model}, {self.features} features, {self.criterion}"


BASE = Cell()
CELLS = [
    BASE,
    *(replace(BASE, rows=rows) for rows in (1, 200, 5000, 20_000)),
    *(replace(BASE, background=size) for size in (100, 20_000, None)),
    *(replace(BASE, depth=depth) for depth in (3, 12)),
    *(replace(BASE, depth=depth, background=None) for depth in (3, 12)),
    *(replace(BASE, model="forest", rows=200, background=size) for size in (100, None)),
    *(replace(BASE, model="lightgbm", background=size) for size in (1000, None)),
    *(replace(BASE, features=features) for features in (12, 200)),
    *(replace(BASE, criterion=what) for what in ("Banzhaf", "pairs", "index")),
    *(replace(BASE, background=None, criterion=what) for what in ("Banzhaf", "pairs", "index")),
    replace(BASE, background=100, criterion="index"),
    replace(BASE, rows=20_000, background=20_000),
    replace(BASE, rows=20_000, background=20_000, criterion="pairs"),
]


def data(features: int, rows: int) -> tuple[Any, Any]:
    """Normal columns, every third of few values, and an answer with interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features)).astype(np.float32).astype(float)
    X[:, ::3] = np.round(2 * X[:, ::3])
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 3:30].clip(0).sum(axis=1)
    return X, y + X[:, 4] * X[:, 6] * (X[:, 5] > 0) + 0.3 * rng.normal(size=rows)


def fitted(cell: Cell) -> Any:
    X, y = data(cell.features, 5000)
    if cell.model == "forest":
        return RandomForestRegressor(20, random_state=0).fit(X, y)
    if cell.model == "lightgbm":
        return lightgbm.LGBMRegressor(num_leaves=63, n_jobs=1, verbose=-1).fit(X, y)
    return xgboost.XGBRegressor(n_estimators=100, max_depth=cell.depth, n_jobs=1).fit(X, y)


def ours(cell: Cell, model: Any, rows: Any, background: Any) -> Any:
    game = ff.TreeGame(model, rows, background)
    if cell.criterion == "pairs":
        return ff.interactions(game).values
    by = {"Shapley": ff.shapley, "Banzhaf": ff.banzhaf, "index": ff.variational_index}
    return by[cell.criterion](game).values


def by_shap(cell: Cell, model: Any, rows: Any, background: Any) -> Any:
    if background is None:
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        if cell.criterion == "pairs":
            return 2 * explainer.shap_interaction_values(rows)
    else:
        # Without max_samples the masker would keep 100 rows, and say nothing.
        masker = shap.maskers.Independent(background, max_samples=len(background))
        explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    return explainer.shap_values(rows, check_additivity=False)


def by_shapiq(cell: Cell, model: Any, rows: Any, background: Any) -> Any:
    index = {"Shapley": "SV", "Banzhaf": "BV", "pairs": "SII"}[cell.criterion]
    order = 2 if cell.criterion == "pairs" else 1
    given = (
        {} if background is None else {"mode": "interventional", "reference_dataset": background}
    )
    explainer = shapiq.TreeExplainer(
        model, max_order=order, min_order=order, index=index, backend="shapiq", **given
    )
    return [explainer.explain(row).get_n_order_values(order) for row in rows]


def by_woodelf(cell: Cell, model: Any, rows: Any, background: Any) -> Any:
    names = [f"f{i}" for i in range(rows.shape[1])]
    frame = pandas.DataFrame(rows, columns=names)
    others = None if background is None else pandas.DataFrame(background, columns=names)
    explainer = WoodelfExplainer(model, others)
    if cell.criterion == "pairs":
        return explainer.shap_interaction_values(
            frame, include_interaction_with_itself=False, as_df=True, verbose=False
        )
    reading = explainer.shap_values if cell.criterion == "Shapley" else explainer.banzhaf_values
    return reading(frame, verbose=False)


def by_the_library(cell: Cell, model: Any, rows: Any, background: Any) -> Any:
    if cell.model == "lightgbm":
        return model.predict(rows, pred_contrib=True, num_threads=1)[:, :-1]
    matrix, booster = xgboost.DMatrix(rows, nthread=1), model.get_booster()
    if cell.criterion == "pairs":
        return 2 * booster.predict(matrix, pred_interactions=True)[:, :-1, :-1]
    return booster.predict(matrix, pred_contribs=True)[:, :-1]


def peers(cell: Cell) -> dict[str, Callable[..., Any]]:
    """Those that can do it."""
    found: dict[str, Callable[..., Any]] = {}
    if cell.criterion == "index":
        return found
    if cell.criterion == "Shapley" or (cell.criterion == "pairs" and cell.background is None):
        found["shap"] = by_shap
        if cell.background is None and cell.model != "forest":
            found["the library's own"] = by_the_library
    return {**found, "shapiq": by_shapiq, "woodelf": by_woodelf}


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The least processor time of some runs."""
    least = np.inf
    for _ in range(repeats):
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work()
        least = min(least, time.process_time() - start)
        if least > ENOUGH:
            break
    return float(least)


def per_row(work: Callable[[Any], Any], rows: Any, whole: bool) -> tuple[float, int]:
    """Seconds per row, and how many rows were explained: all, or as many as fit into the time.

    What the others would have taken is reckoned from the time for the first and for all explained.
    """
    if whole:
        return seconds(lambda: work(rows)) / len(rows), len(rows)
    one = seconds(lambda: work(rows[:1]), 2)
    few = min(TRIED, len(rows))
    slope = max(seconds(lambda: work(rows[:few]), 1) - one, 1e-9) / max(1, few - 1)
    count = int(np.clip(ENOUGH / slope, few, len(rows)))
    taken = seconds(lambda: work(rows[:count]))
    if count < len(rows):
        taken += (taken - one) / (count - 1) * (len(rows) - count)
    return taken / len(rows), count


def cells() -> None:
    lines = []
    for cell in CELLS:
        model = fitted(cell)
        X, _ = data(cell.features, 50_000)
        rows = X[25_000 : 25_000 + cell.rows]
        background = None if cell.background is None else X[: cell.background]
        ours(cell, model, rows, background)  # compiles what the cell needs
        mine = seconds(lambda: ours(cell, model, rows, background)) / cell.rows  # noqa: B023
        theirs = {}
        for name, by in peers(cell).items():
            took, count = per_row(
                lambda some, by=by: by(cell, model, some, background),  # noqa: B023
                rows,
                # Its time is that of the model and the background, hardly of the rows.
                whole=by is by_woodelf,
            )
            theirs[name] = took, count
        shown = ", ".join(f"{name} {1e6 * t:.0f} ({k})" for name, (t, k) in theirs.items())
        ratio = f"{mine / min(took for took, _ in theirs.values()):.2f}" if theirs else "—"
        lines.append((str(cell), f"{1e6 * mine:.0f}", shown or "—", ratio))
        print(lines[-1], file=sys.stderr, flush=True)
    show(
        "Processor time per explained row, microseconds (rows that a peer explained)",
        ("cell", "fairfield", "others", "fairfield ÷ best of them"),
        lines,
    )


def growth() -> None:
    base = {"features": 30, "trees": 100, "depth": 6, "background": 1000, "rows": 1000}
    cases = [base, *({**base, name: 2 * size} for name, size in base.items())]
    cases += [{**base, "background": size} for size in (100_000, 1_000_000)]
    lines = []
    for case in (base, *cases):  # the first one compiles
        X, y = data(case["features"], max(case["background"], 5000) + case["rows"])
        model = xgboost.XGBRegressor(
            n_estimators=case["trees"], max_depth=case["depth"], n_jobs=1
        ).fit(X[:5000], y[:5000])
        rows, background = X[-case["rows"] :], X[: case["background"]]
        whole = seconds(lambda: ff.shapley(ff.TreeGame(model, rows, background)), 1)  # noqa: B023
        game = ff.TreeGame(model, rows, background)
        ff.shapley(game)
        again = seconds(lambda: ff.shapley(game))  # noqa: B023
        kept = game.forest.diagonal.kept_bytes()
        lines.append((*case.values(), 1e3 * whole, 1e3 * again, kept / 2**20))
    show(
        "Growth: Shapley values by XGBoost, all rows together",
        (*base, "from the model, ms", "once more, ms", "tables kept, MB"),
        lines[1:],
    )


def serving() -> None:
    model, (X, _), served_rows = fitted(BASE), data(30, 6000), range(5000, 5101)
    frame = pandas.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    named = xgboost.XGBRegressor(n_estimators=100, max_depth=6, n_jobs=1)
    named.fit(frame[:5000], data(30, 5000)[1])
    # Every third column has whole numbers.
    mixed = frame.astype(dict.fromkeys(frame.columns[::3], int))
    cases = [
        (
            model,
            None if size is None else X[:size],
            criterion,
            "array",
            [X[at] for at in served_rows],
        )
        for size in (100, 1000, None)
        for criterion in ("shapley", "banzhaf", "variational_index")
    ]
    for form, table in (("frame", frame), ("frame of two dtypes", mixed)):
        one = [table.iloc[[at]] for at in served_rows], [table.iloc[at] for at in served_rows]
        for what, rows in zip((form, f"Series of a {form}"), one, strict=True):
            cases.append((named, table[:1000], "shapley", what, rows))
    lines = []
    for served, background, criterion, what, rows in cases:
        start = time.process_time()
        explainer = ff.Explainer(served, background, criterion=criterion)
        explainer(rows[0])
        first, times = time.process_time() - start, []
        explainer(rows[0])
        for row in rows[1:]:
            start = time.process_time()
            explainer(row)
            times.append(time.process_time() - start)
        called = "path-dependent" if background is None else len(background)
        lines.append(
            (called, criterion, what, 1e3 * first, 1e3 * np.median(times), 1e3 * min(times))
        )
    show(
        "One row at a time by Explainer, processor time",
        (
            "background",
            "criterion",
            "a row is",
            "first call, ms",
            "median of later ones, ms",
            "least",
        ),
        lines,
    )


if __name__ == "__main__":
    print(
        f"# Trees\n\n{machine()}; shap {shap.__version__}, shapiq {shapiq.__version__}, xgboost "
        f"{xgboost.__version__}, lightgbm {lightgbm.__version__}, woodelf {version('woodelf-explainer')}"
    )
    for section in sys.argv[1:] or ["cells", "growth", "serving"]:
        globals()[section]()
