"""Checks of :mod:`attacks.differential` that fit models, and of what is read from values."""

from itertools import combinations

import numpy as np

import brute
import fairfield as ff
from attacks import definitions as by_definition
from attacks.definitions import linear


def models(rng):
    """Trees, lines, refits and regressions beside their worths by hand."""
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import Ridge
    from sklearn.tree import DecisionTreeRegressor

    n, rows = int(rng.integers(2, 6)), 5
    X, y = rng.integers(0, 4, (24, n)) * 1.0, rng.normal(size=24)
    some, background, z = X[:rows], X[-6:], by_definition.coalitions(n)

    def tables(predict):
        mixed = np.where(z[None, :, None], some[:, None, None], background)
        return predict(mixed.reshape(-1, n)).reshape(rows, 2**n, -1).mean(axis=-1)

    tree, forest, boosted = (
        model.fit(X, y)
        for model in (
            DecisionTreeRegressor(max_depth=4, random_state=0),
            RandomForestRegressor(3, max_depth=3, random_state=0),
            GradientBoostingRegressor(n_estimators=4, random_state=0),
        )
    )
    for model in (tree, forest, boosted):
        kind, game = type(model).__name__, ff.TreeGame(model, some, background)
        wanted = tables(model.predict)
        yield f"worths of {kind}", game.worths(z), wanted
        yield f"shapley of {kind}", ff.shapley(game).values, linear(wanted, "shapley")
        pairs = ff.interactions(game).values
        yield f"interactions of {kind}", pairs, by_definition.derivatives(wanted, 2)
        v = ff.variational_index(game, temperature=0.5)
        yield f"index of {kind}", v.values, by_definition.gradient(wanted, v.marginals)
    line = Ridge().fit(X, y)
    wanted = tables(line.predict)
    game = ff.LinearGame(line, some, background)
    yield "worths of a line", game.worths(z), wanted
    yield "banzhaf of a line", ff.banzhaf(game).values, linear(wanted, "banzhaf")
    score = -np.array([np.mean((each.mean(axis=-1) - y[:rows]) ** 2) for each in _outputs(
        boosted, z, some, background)])  # fmt: skip
    found = ff.importance(boosted, some, y[:rows], background).values
    yield "importance", found[None], linear(score[None], "shapley")

    table = np.array([_explained(X[:, each], y) for each in z])[None]
    yield "regressions", ff.shapley(ff.RegressionGame(X, y)).values[None], linear(table, "shapley")
    owners = rng.permutation(np.arange(24) % n)
    game = ff.DataGame(Ridge(), X, y, some, y[:rows], groups=owners, fallback=0.0)
    table = np.array([0.0] + [
        Ridge().fit(X[each[owners]], y[each[owners]]).score(some, y[:rows]) for each in z[1:]
    ])[None]  # fmt: skip
    yield "refits", game.worths(z)[None], table
    yield "values of refits", ff.banzhaf(game).values[None], linear(table, "banzhaf")


def _outputs(model, z, X, background):
    """The outputs (rows, background) of each coalition."""
    for each in z:
        mixed = np.where(each, X[:, None], background)
        yield model.predict(mixed.reshape(-1, X.shape[1])).reshape(len(X), -1)


def _explained(X, y):
    """R² of least squares with an intercept."""
    columns = np.column_stack([np.ones(len(y)), X])
    left = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    return 1 - left @ left / np.sum((y - y.mean()) ** 2)


def readings(rng):
    """Unions, laws of each player, paths, diagnoses, axioms, learned laws, metrics."""
    n = int(rng.integers(2, 6))
    table, T = rng.normal(size=2**n) * 3, float(10.0 ** rng.uniform(-0.3, 1))
    cut = int(rng.integers(1, n))
    unions = {"a": list(range(cut)), "b": list(range(cut, n))}
    yield "owen", ff.owen(table, unions).values[None], brute.owen(table, unions.values())[None]
    chances = rng.random((n, n))
    slopes = np.array([by_definition.gradient(table[None], chances[[i]])[0, i] for i in range(n)])
    yield "probabilistic", ff.probabilistic_value(table, chances).values[None], slopes[None]
    path = ff.annealing(table, [5 * T, T], criteria=["variational_index", "banzhaf"])
    for at, (temperature, found) in enumerate(zip((5 * T, T), path.values(), strict=True)):
        x = by_definition.sigmoid(found / temperature)[None]
        yield f"path {at}", found[None], by_definition.gradient(table[None], x)
    yield "path of banzhaf", path.values("banzhaf"), np.tile(linear(table[None], "banzhaf"), (2, 1))
    v = ff.variational_index(table, temperature=T)
    seen = ff.diagnose(table, v, starts=2)
    x = v.marginals[None]
    root = np.sqrt(x[0] * (1 - x[0]))
    bent = np.linalg.eigvalsh(root[:, None] * by_definition.hessian(table[None], x)[0] * root) / T
    wanted = [bent[-1] - 1, bent[0]]
    yield "diagnose", [[seen.saddle_eigenvalue, seen.cycle_eigenvalue]], [wanted]
    met = np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        corners = by_definition.coalitions(n)[:, [i, j]].any(axis=1)
        low = np.flatnonzero(~corners)
        both = table[low | 1 << i | 1 << j] - table[low | 1 << i] - table[low | 1 << j] + table[low]
        met[i, j] = met[j, i] = np.abs(both).max()
    yield "uniqueness", [[seen.uniqueness_temperature]], [[met.sum(axis=1).max() / 4]]
    yield (
        "efficiency",
        [[ff.axioms.efficiency("banzhaf", table).violation]],
        [[abs(linear(table[None], "banzhaf").sum() - (table[-1] - table[0]))]],
    )
    held = [check.holds for check in ff.axioms.check("shapley", table).values()]
    yield "axioms of shapley", [held], [[True] * len(held)]

    seen = rng.random((40, n)) < rng.uniform(0.2, 0.8, n)
    odds = (seen.sum(axis=0) + 0.5) / (40.5 - seen.sum(axis=0))  # Jeffreys' prior
    yield "learn", ff.banzhaf(ff.learn(seen, "linear")).values[None], np.log(odds)[None]
    values, bad = rng.permutation(12.0 + np.arange(12)), rng.random(12) < 0.4
    bad[0] = True
    lowest = np.argsort(values)[: bad.sum()]
    yield "detection_rate", [[ff.detection_rate(values, bad)]], [[bad[lowest].mean()]]
    other = rng.normal(size=12)
    ranks = [np.argsort(np.argsort(each)) for each in (values, other)]
    agreed = ff.rank_stability([values, other], top=0.25)
    top = len(set(np.argsort(values)[-3:]) & set(np.argsort(other)[-3:])) / 3
    spearman = np.corrcoef(*ranks)[0, 1]
    yield "rank_stability", [[agreed.spearman, agreed.overlap]], [[spearman, top]]
