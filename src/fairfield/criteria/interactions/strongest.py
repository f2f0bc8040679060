"""The strongest pair interactions of many players, without listing all pairs.

Column j of the Hessian is ∇f(x | x_j←1) - ∇f(x | x_j←0), two gradients; no entry of a row
exceeds the row's norm, and products with random signs estimate the norms of all rows at
once. So columns are read from the largest norm on, until what is left is too small.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension

# Random vectors of signs: row norms are then known to a tenth or so.
PROBES = 64
# An estimated norm may be too small by this factor (at odds of less than one in a million).
SAFETY = 2.0
# Columns read at a time.
TOGETHER = 16


def strongest_pairs(
    extension: Extension, at: FloatArray, shares: FloatArray, count: int
) -> tuple[list[tuple[int, ...]], FloatArray]:
    """The pairs with the largest |Σ_w shares_w ∂_ij f(at_w)|, and these values.

    Costs 2·64 gradients, and two for every player whose row might hold one of them. Memory
    for 2·16 points, never n².
    """
    players = extension.players
    norms = SAFETY * _row_norms(extension, at, shares)
    order = np.argsort(-norms, kind="stable")
    rank = np.empty(players, dtype=np.int64)
    rank[order] = np.arange(players)
    best = np.empty((0, 3))
    for start in range(0, players, TOGETHER):
        if len(best) == count and abs(best[-1, 2]) >= norms[order[start]]:
            break
        for j in order[start : start + TOGETHER]:
            column = _column(extension, at, shares, j)
            # Each pair once: with those who come later.
            later = np.flatnonzero(rank > rank[j])
            found = np.column_stack([np.minimum(later, j), np.maximum(later, j), column[later]])
            best = np.concatenate([best, found])
            best = best[np.argsort(-np.abs(best[:, 2]), kind="stable")[:count]]
    return [(int(i), int(j)) for i, j in best[:, :2]], best[:, 2]


def _column(extension: Extension, at: FloatArray, shares: FloatArray, player: int) -> FloatArray:
    """Column ``player`` of the Hessian, exactly: f is linear in each coordinate."""
    total = np.zeros(extension.players)
    for x, share in zip(at, shares, strict=True):
        ends = np.tile(x, (2, 1))
        ends[:, player] = 0.0, 1.0
        out, into = extension.gradient(ends)
        total += share * (into - out)
    total[player] = 0.0
    return total


def _row_norms(extension: Extension, at: FloatArray, shares: FloatArray) -> FloatArray:
    """√mean (H v)² over random signs v, products from central differences of gradients."""
    rng = np.random.default_rng(0)
    squares = np.zeros(extension.players)
    step = 1e-4
    for _ in range(PROBES):
        signs = rng.choice([-step, step], size=extension.players)
        product = np.zeros(extension.players)
        for x, share in zip(at, shares, strict=True):
            ahead, behind = extension.gradient(np.stack([x + signs, x - signs]))
            product += share * (ahead - behind) / (2 * step)
        squares += product**2
    return np.sqrt(squares / PROBES)
