"""Exact pair interactions of the games of estimate_games.py."""

import numpy as np
from estimate_games import CACHE, load

import fairfield as ff

# Where ∂_ij f is read on the diagonal, as a density of t; Banzhaf's (and the faithful one's) at ½.
DENSITIES = {
    "shapley": lambda t: np.ones_like(t),
    "stii": lambda t: 2 * (1 - t),
    "fsii": lambda t: 6 * t * (1 - t),
}
BUDGETS = (5, 10, 20, 100)


def budgets(players: int) -> list[int]:
    """Those that do not reach a table of all worths."""
    return [k * players for k in BUDGETS if k * players < 2**players]


def exact(game: str, index: str) -> np.ndarray:
    """The interactions of all pairs, in the order of itertools.combinations."""
    path = CACHE / f"{game}.pairs.npz"
    known = dict(np.load(path)) if path.exists() else {}
    if index not in known:
        known[index] = _exact(game, index)
        np.savez(path, **known)
    return known[index]


def held(game: str) -> dict[str, np.ndarray]:
    """The arrays that a game is made of."""
    load(game)
    with np.load(CACHE / f"{game}.npz", allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def closed(game: str) -> ff.Game | None:
    """The game as one of the library, if it is a table or a closed form there."""
    given = held(game)
    makers = {
        "table": lambda: ff.TableGame(given["worths"]),
        "flid": lambda: ff.FLIDGame(given["gains"], given["weights"]),
        "voting": lambda: ff.VotingGame(given["weights"].tolist(), int(given["quota"])),
        "pairwise": lambda: ff.PairwiseGame(given["linear"], given["quadratic"]),
        "coverage": lambda: ff.CoverageGame(given["cover"], given["importance"]),
    }
    make = makers.get(str(given["kind"]))
    return make and make()


def _exact(game: str, index: str) -> np.ndarray:
    if (known := closed(game)) is not None:
        return ff.interactions(known, index).of_size(2).values
    given = held(game)
    players, *_ = load(game)
    terms = {"unanimity": _unanimity, "products": _svc, "forest": _leaves}[str(given["kind"])]
    scales, inside, outside = terms(given)
    at, weights = np.polynomial.legendre.leggauss(players // 2 + 2)
    at, weights = (1 + at) / 2, weights / 2
    if index == "banzhaf":
        at, weights = np.array([0.5]), np.ones(1)
    else:
        weights = weights * DENSITIES[index](at)
    total = np.zeros((players, players))
    for t, weight in zip(at, weights, strict=True):
        factors = outside + (inside - outside) * t
        steps = (inside - outside) / factors
        total += (steps * (weight * scales * factors.prod(axis=1))[:, None]).T @ steps
    return total[np.triu_indices(players, 1)]


def _unanimity(held: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    carriers = held["carriers"]
    return held["worths"], np.ones_like(carriers), 1 - carriers


def _svc(held: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    factors = held["factors"]
    return held["scales"], np.ones_like(factors), np.exp(factors)


def _leaves(held: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each leaf as a product of who must be in (0 outside) and who must not be (0 inside)."""
    row, other = held["row"], held["other"]
    found = []
    stack = [(int(root), np.ones(len(row)), np.ones(len(row))) for root in held["roots"]]
    while stack:
        node, inside, outside = stack.pop()
        if held["left"][node] < 0:
            found.append((held["value"][node], inside, outside))
            continue
        feature, cut = held["feature"][node], held["threshold"][node]
        for child, left in ((held["left"][node], True), (held["right"][node], False)):
            ins, outs = inside.copy(), outside.copy()
            ins[feature] *= (row[feature] <= cut) == left
            outs[feature] *= (other[feature] <= cut) == left
            if ins[feature] or outs[feature]:
                stack.append((int(child), ins, outs))
    scales, inside, outside = zip(*found, strict=True)
    return np.array(scales), np.array(inside), np.array(outside)
