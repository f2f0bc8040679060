"""The games of estimates.py: large, with exact answers, half of them held out.

Every game is plain arrays and one NumPy formula, so that peers can evaluate it in
environments of their own; tables of 2^20 worths are built once and kept.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

CACHE = Path(os.environ.get("FAIRFIELD_CACHE", Path(__file__).resolve().parent / ".cache"))
# What was measured of our own estimates, row by row, is kept beside the pages that show it.
RUNS = Path(os.environ.get("FAIRFIELD_RUNS", Path(__file__).resolve().parent / "runs"))
REFERENCE = Path(
    os.environ.get(
        "FAIRFIELD_REFERENCE", Path(__file__).resolve().parents[2] / "shared" / "reference"
    )
)
# Samplers are chosen on the first half and reported on the second.
CHOSEN_ON = (
    "flid20",
    "voting30",
    "ridge20",
    "trees20",
    "pairwise100",
    "soum_n15",
    "local_xai_bike_n12",
    "ensemble_cali_r2_n10",
    "image_vit_n9",
    "paper_breast_cancer",
    "paper_digits2",
    "tree14",
    "svc100",
)
HELD_OUT = (
    "flid30",
    "voting20",
    "mlp20",
    "unanimity30",
    "coverage100",
    "data_valuation_adult_dt_n15",
    "global_xai_bike_n12",
    "dataset_valuation_cali_n10",
    "cluster_bike_n12",
    "paper_breast_cancer2",
    "paper_digits",
    "paper_adult_row1",
    "forest60",
    "svc300",
)

Worths = Callable[[np.ndarray], np.ndarray]


def load(name: str) -> tuple[int, Worths, np.ndarray, np.ndarray]:
    """Players, worths, exact Shapley and exact Banzhaf values of a game."""
    path = CACHE / f"{name}.npz"
    if not path.exists():
        build(name, path)
    with np.load(path, allow_pickle=False) as file:
        held = {key: file[key] for key in file.files}
    kind = str(held.pop("kind"))
    shapley, banzhaf = held.pop("shapley"), held.pop("banzhaf")
    return (
        len(shapley),
        lambda S: FORMULAS[kind](np.asarray(S, dtype=bool), **held),
        shapley,
        banzhaf,
    )


def budgets(players: int) -> dict[str, int]:
    """The budgets of a game, by name, that do not reach a table of all worths."""
    found = {"2n+2": 2 * players + 2} | {f"{k}n": k * players for k in (3, 5, 10, 20, 100)}
    return {name: count for name, count in found.items() if count < 2**players}


def trivial(game: str, value: str) -> float:
    """The relative squared error of equal shares of F(N) - F(∅), or of nothing for Banzhaf."""
    players, worths, shapley, _ = load(game)
    if value == "banzhaf":
        return 1.0
    empty, grand = worths(np.repeat([[False], [True]], players, axis=1))
    return float(((shapley - (grand - empty) / players) ** 2).sum() / (shapley**2).sum())


def cells() -> list[tuple[str, int]]:
    """Games and budgets."""
    return [(g, m) for g in CHOSEN_ON + HELD_OUT for m in budgets(load(g)[0]).values()]


def table(S: np.ndarray, worths: np.ndarray) -> np.ndarray:
    return worths[S @ (1 << np.arange(S.shape[1]))]


def flid(S: np.ndarray, gains: np.ndarray, weights: np.ndarray) -> np.ndarray:
    best = np.where(S[:, :, None], weights, 0.0).max(axis=1)
    return S @ (gains - weights.sum(axis=1)) + best.sum(axis=1)


def voting(S: np.ndarray, weights: np.ndarray, quota: np.ndarray) -> np.ndarray:
    return (S @ weights >= quota).astype(float)


def pairwise(S: np.ndarray, linear: np.ndarray, quadratic: np.ndarray) -> np.ndarray:
    z = S.astype(float)
    return z @ linear + 0.5 * np.einsum("mi,mi->m", z @ quadratic, z)


def coverage(S: np.ndarray, cover: np.ndarray, importance: np.ndarray) -> np.ndarray:
    return ((S.astype(float) @ cover.T) > 0) @ importance


def unanimity(S: np.ndarray, carriers: np.ndarray, worths: np.ndarray) -> np.ndarray:
    return (S.astype(float) @ carriers.T >= carriers.sum(axis=1)) @ worths


def products(S: np.ndarray, scales: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Σ_j scale_j Π_{i outside S} factor_ji of logs of factors (terms, n)."""
    return np.exp((1.0 - S) @ factors.T) @ scales


def forest(S: np.ndarray, row: np.ndarray, other: np.ndarray, **trees: np.ndarray) -> np.ndarray:
    """The sum of trees as plain arrays: feature, threshold, left, right, value of nodes."""
    X = np.where(S, row, other)
    total = np.zeros(len(S))
    for root in trees["roots"]:
        at = np.full(len(S), root)
        while (inner := trees["left"][at] >= 0).any():
            here = at[inner]
            low = X[inner, trees["feature"][here]] <= trees["threshold"][here]
            at[inner] = np.where(low, trees["left"][here], trees["right"][here])
        total += trees["value"][at]
    return total


FORMULAS = {
    "products": products,
    "forest": forest,
    "table": table,
    "flid": flid,
    "voting": voting,
    "pairwise": pairwise,
    "coverage": coverage,
    "unanimity": unanimity,
}


def build(name: str, path: Path) -> None:
    """Make a game and its exact values by closed forms or from its table."""
    import fairfield as ff

    kind, held, game = RECIPES[name]() if name in RECIPES else from_reference(name)
    if game is None:
        game = ff.TableGame(held["worths"])
    if isinstance(game, dict):
        answers = game
    else:
        answers = {"shapley": ff.shapley(game).values, "banzhaf": ff.banzhaf(game).values}
    path.parent.mkdir(exist_ok=True)
    np.savez(path, kind=np.array(kind), **held, **answers)


def make_flid(players: int, seed: int):
    import fairfield as ff

    rng = np.random.default_rng(seed)
    weights = 2 * rng.random((players, 8))
    gain = (weights.sum() - weights.max(axis=0).sum()) / players
    gains = np.full(players, gain)
    return "flid", {"gains": gains, "weights": weights}, ff.FLIDGame(gains, weights)


def make_voting(players: int, seed: int):
    import fairfield as ff

    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 40, players)
    quota = int(weights.sum() // 2 + 1)
    game = ff.VotingGame(weights.tolist(), quota)
    return "voting", {"weights": weights, "quota": np.array(quota)}, game


def make_pairwise():
    import fairfield as ff

    rng = np.random.default_rng(5)
    linear = rng.standard_normal(100)
    upper = np.triu(rng.standard_normal((100, 100)) * (rng.random((100, 100)) < 0.3), 1)
    quadratic = 0.3 * (upper + upper.T)
    game = ff.PairwiseGame(linear, quadratic)
    return "pairwise", {"linear": linear, "quadratic": quadratic}, game


def make_coverage():
    import fairfield as ff

    rng = np.random.default_rng(6)
    cover = (rng.random((400, 100)) < 0.03).astype(float)
    importance = rng.exponential(size=400)
    game = ff.CoverageGame(cover, importance)
    return "coverage", {"cover": cover, "importance": importance}, game


def make_unanimity():
    """150 unanimity games of at most 8 of 30 players, as shapiq's sum of them."""
    rng = np.random.default_rng(7)
    carriers = np.zeros((150, 30))
    for row in carriers:
        row[rng.choice(30, rng.integers(1, 9), replace=False)] = 1
    worths = rng.uniform(-1, 1, 150)
    held = {"carriers": carriers, "worths": worths}
    sizes = carriers.sum(axis=1)
    answers = {
        "shapley": (worths / sizes) @ carriers,
        "banzhaf": (worths / 2 ** (sizes - 1)) @ carriers,
    }
    return "unanimity", held, answers


def make_ridge():
    """R² on test data of a ridge regression fitted to the rows of 20 sources."""
    rng = np.random.default_rng(8)
    columns, rows = 6, 4
    X = rng.standard_normal((20, rows, columns)) * rng.uniform(0.5, 2, (20, 1, 1))
    truth = rng.standard_normal(columns)
    y = X @ truth + rng.standard_normal((20, rows)) * rng.uniform(0.2, 4, (20, 1))
    X_test = rng.standard_normal((200, columns))
    y_test = X_test @ truth + 0.5 * rng.standard_normal(200)
    gram, moment = np.einsum("prc,prd->pcd", X, X), np.einsum("prc,pr->pc", X, y)
    worths = np.empty(2**20)
    for start in range(0, 2**20, 2**16):
        S = every(start, start + 2**16, 20).astype(float)
        left = (S @ gram.reshape(20, -1)).reshape(-1, columns, columns) + np.eye(columns)
        fitted = np.linalg.solve(left, (S @ moment)[..., None])[..., 0]
        error = ((y_test - fitted @ X_test.T) ** 2).mean(axis=1)
        worths[start : start + 2**16] = 1 - error / y_test.var()
    return "table", {"worths": worths}, None


def make_features(kind: str):
    """The output of a model at one row, absent features from ten background rows."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.neural_network import MLPRegressor

    rng = np.random.default_rng(9)
    X = rng.standard_normal((2000, 20))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) * X[:, 3] + X[:, 4:9].sum(axis=1)
    y += np.maximum(X[:, 9:14], 0).prod(axis=1) + 0.5 * np.abs(X[:, 14] - X[:, 15]) * X[:, 16]
    model = MLPRegressor(hidden_layer_sizes=(50, 50), max_iter=60, random_state=0)
    if kind == "trees":
        model = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=15, random_state=0)
    model.fit(X, y)
    row, background = X[1], X[10:20] if kind == "mlp" else X[10:11]
    worths = np.zeros(2**20)
    for start in range(0, 2**20, 2**15):
        S = every(start, start + 2**15, 20)
        for other in background:
            asked = np.where(S, row, other)
            worths[start : start + 2**15] += model.predict(asked) / len(background)
    return "table", {"worths": worths}, None


def make_trees(players: int, count: int, depth: int, seed: int):
    """Randomised trees of scikit-learn on features that interact, at one row against another."""
    from sklearn.ensemble import ExtraTreesRegressor

    import fairfield as ff

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3000, players))
    y = X[:, :5].sum(axis=1) + 2 * X[:, 5] * X[:, 6] + np.sign(X[:, 7]) * X[:, 8] * X[:, 9]
    model = ExtraTreesRegressor(count, max_depth=depth, max_features=0.7, random_state=seed)
    model.fit(X.astype(np.float32), y)
    row, other = X[:2].astype(np.float32).astype(float)
    parts, roots, start = {k: [] for k in ("feature", "threshold", "left", "right", "value")}, [], 0
    for each in model.estimators_:
        tree = each.tree_
        inner = tree.children_left >= 0
        roots.append(start)
        parts["feature"].append(np.maximum(tree.feature, 0))
        parts["threshold"].append(tree.threshold)
        parts["left"].append(np.where(inner, tree.children_left + start, -1))
        parts["right"].append(np.where(inner, tree.children_right + start, -1))
        parts["value"].append(tree.value[:, 0, 0] / count)
        start += tree.node_count
    held = {name: np.concatenate(part) for name, part in parts.items()}
    held |= {"roots": np.array(roots), "row": row, "other": other}
    return "forest", held, ff.TreeGame(model, row, other[None])


def make_svc(players: int, seed: int):
    """The margin of a support vector machine with a Gaussian kernel: a sum of products."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1500, players))
    y = X[:, :10].sum(axis=1) + X[:, 10] * X[:, 11] + np.abs(X[:, 12]) > 1
    model = SVC(gamma=0.5 / players, C=3.0).fit(X, y)
    row, other = X[:2]
    rate, vectors, scales = 0.5 / players, model.support_vectors_, model.dual_coef_[0]
    inside = np.exp(-rate * ((row - vectors) ** 2).sum(axis=1))
    factors = -rate * ((other - vectors) ** 2 - (row - vectors) ** 2)
    held = {"scales": scales * inside, "factors": factors}
    ratios = np.exp(factors)  # of a player who is out

    def mean_slopes(nodes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        total = np.zeros(players)
        for t, weight in zip(nodes, weights, strict=True):
            each = t + (1 - t) * ratios
            whole = np.exp(np.log(each).sum(axis=1)) * held["scales"]
            total += weight * ((whole[:, None] / each) * (1 - ratios)).sum(axis=0)
        return total

    nodes, weights = np.polynomial.legendre.leggauss(players // 2 + 1)
    return (
        "products",
        held,
        {
            "shapley": mean_slopes((1 + nodes) / 2, weights / 2),
            "banzhaf": mean_slopes(np.array([0.5]), np.ones(1)),
        },
    )


def from_reference(name: str):
    if name.startswith("paper"):
        with np.load(REFERENCE / f"{name}.npz", allow_pickle=False) as file:
            return "table", {"worths": file["worths"]}, None
    with np.load(REFERENCE / "games.npz", allow_pickle=False) as file:
        return "table", {"worths": file[f"{name}/values"]}, None


def every(start: int, stop: int, players: int) -> np.ndarray:
    return (np.arange(start, stop)[:, None] >> np.arange(players) & 1).astype(bool)


RECIPES = {
    "flid20": lambda: make_flid(20, 1),
    "flid30": lambda: make_flid(30, 2),
    "voting20": lambda: make_voting(20, 3),
    "voting30": lambda: make_voting(30, 4),
    "pairwise100": make_pairwise,
    "coverage100": make_coverage,
    "unanimity30": make_unanimity,
    "ridge20": make_ridge,
    "trees20": lambda: make_features("trees"),
    "mlp20": lambda: make_features("mlp"),
    "tree14": lambda: make_trees(14, 3, 7, 11),
    "forest60": lambda: make_trees(60, 30, 5, 12),
    "svc100": lambda: make_svc(100, 13),
    "svc300": lambda: make_svc(300, 14),
}
