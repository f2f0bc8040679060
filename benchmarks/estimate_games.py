"""The games of estimates.py: large, with exact answers, half of them held out.

Every game is plain arrays and one NumPy formula, so that peers can evaluate it in
environments of their own; tables of 2^20 worths are built once and kept.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

CACHE = Path(os.environ.get("FAIRFIELD_CACHE", Path(__file__).resolve().parent / ".cache"))
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
)
BUDGETS = (500, 2000, 10_000)

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


def cells() -> list[tuple[str, int]]:
    """The games and the budgets that do not reach a table of all worths."""
    return [(g, m) for g in CHOSEN_ON + HELD_OUT for m in BUDGETS if m < 2 ** load(g)[0]]


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


FORMULAS = {
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


def from_reference(name: str):
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
}
