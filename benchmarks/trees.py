"""Tree games beside shap.TreeExplainer, in one process: Shapley values and the variational index.

Run with: python benchmarks/trees.py
Every time is of the whole call, from the fitted model to the values, without compilation.
Needs shap and xgboost.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
import shap
import xgboost
from measure import machine, show
from sklearn.ensemble import RandomForestRegressor

import fairfield as ff
from fairfield.games.trees.game import TreeGame

EXPLAINED = 200


def data(features: int, rows: int = 6000) -> tuple[Any, Any]:
    """Normal columns, every third of few values, and an answer with interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, features))
    X[:, ::3] = np.round(2 * X[:, ::3])
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 3:].clip(0).sum(axis=1)
    return X, y + X[:, 4] * X[:, 6] * (X[:, 5] > 0) + 0.3 * rng.normal(size=rows)


def boosted(features: int, trees: int = 100, depth: int = 6) -> Any:
    X, y = data(features)
    return xgboost.XGBRegressor(n_estimators=trees, max_depth=depth).fit(X[:5000], y[:5000])


def forest(features: int, trees: int = 20) -> Any:
    X, y = data(features)
    return RandomForestRegressor(trees, n_jobs=-1, random_state=0).fit(X[:5000], y[:5000])


def tables(features: int, background: int | None, rows: int = EXPLAINED) -> tuple[Any, Any]:
    X, _ = data(features)
    return X[5000 : 5000 + rows], None if background is None else X[:background]


def by_shap(model: Any, rows: Any, background: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if background is None:
            explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        else:
            # Without max_samples the masker would keep 100 rows, and say nothing.
            masker = shap.maskers.Independent(background, max_samples=len(background))
            explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
        return explainer.shap_values(rows, check_additivity=False)


def in_turn(*tasks: Any, repeats: int = 3) -> list[float]:
    """The shortest time of each task, run in turn so that all meet the same disturbances."""
    times = np.empty((repeats, len(tasks)))
    for row, column in np.ndindex(times.shape):
        start = time.perf_counter()
        tasks[column]()
        times[row, column] = time.perf_counter() - start
    return [float(shortest) for shortest in times.min(axis=0)]


def beside_shap() -> None:
    cases = [
        (f"XGBoost 100 × depth 6, {features} features", boosted(features), features, size, 1.0)
        for features in (12, 30)
        for size in (100, 1000, None)
    ]
    cases += [
        (f"forest of 20, unbounded, {features} features", forest(features), features, size, 0.5)
        for features in (12, 30)
        for size in (100, None)
    ]
    lines = []
    for name, model, features, size, part in cases:
        rows, background = tables(features, size, int(EXPLAINED * part))
        shapley, index, theirs = in_turn(
            lambda: ff.shapley(TreeGame(model, rows, background)),  # noqa: B023  # runs at once
            lambda: ff.variational_index(TreeGame(model, rows, background)),  # noqa: B023
            lambda: by_shap(model, rows, background),  # noqa: B023
        )
        ours = ff.shapley(TreeGame(model, rows, background)).values
        apart = float(np.abs(ours - by_shap(model, rows, background)).max())
        each = 1e3 / len(rows)
        lines.append(
            [name, size or "path-dependent", shapley * each, index * each, theirs * each,
             shapley / theirs, index / theirs, f"{apart:.0e}"]
        )  # fmt: skip
    show(
        f"Tree games and shap {shap.__version__}, milliseconds per explained row",
        ["model", "background", "Shapley", "index", "shap", "Shapley ÷ shap", "index ÷ shap",
         "largest difference"],
        lines,
    )  # fmt: skip


def growth() -> None:
    base = {"features": 12, "trees": 100, "depth": 6, "background": 100, "rows": EXPLAINED}
    doubled = [base, *({**base, name: 2 * size} for name, size in base.items())]
    doubled += [{**base, "background": size} for size in (1000, 10_000)]
    lines = []
    for case in doubled:
        model = boosted(case["features"], case["trees"], case["depth"])
        X, _ = data(case["features"], 16_000)
        rows, background = X[5000 : 5000 + case["rows"]], X[6000 : 6000 + case["background"]]
        game = TreeGame(model, rows, background)
        closed = game.extension()
        half = np.full(case["features"], 0.5)
        closed.gradient(half)
        gradient, shapley = in_turn(partial(closed.gradient, half), lambda g=game: ff.shapley(g))
        kept = sum(array.nbytes for _, terms in closed._kept for array in terms)
        lines.append([*case.values(), shapley * 1e3, gradient * 1e3, kept / 2**20])
    show(
        "Growth: XGBoost, all rows together",
        [*base, "Shapley, ms", "one gradient, ms", "terms kept, MB"],
        lines,
    )


if __name__ == "__main__":
    print(f"## Trees\n\n{machine()}; {EXPLAINED} explained rows, half for forests.")
    small, small_background = tables(12, 5, 2)
    for some in (small_background, None):
        ff.variational_index(TreeGame(boosted(12, 2), small, some))
        ff.shapley(TreeGame(boosted(12, 2), small, some))
    beside_shap()
    growth()
