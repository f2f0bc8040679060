"""What the members of a coalition repeat of each other, with its slopes.

    rep(S; W) = Σ_d (Σ_{i∈S} W_id - max_{i∈S} W_id),    W ≥ 0,

and what player i repeats of the others, Δ_i rep(S; W) = Σ_d min(W_id, max_{j∈S-i} W_jd).
The maximum over nobody is 0. Both are piecewise linear in W; where players tie, the slope
is one of those between both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.learning.members import Members

Pullback: TypeAlias = Callable[[FloatArray], FloatArray]


def repeated_in_all(weights: FloatArray, some: Members) -> tuple[FloatArray, Pullback]:
    """rep(S; W) (m,) of some coalitions, and its pullback to W (n, D)."""
    row, member = some.row, some.member
    offered = weights[member]
    filled, first = np.unique(row, return_index=True)
    highest = np.zeros((some.rows, weights.shape[1]))
    if len(row):
        highest[filled] = np.maximum.reduceat(offered, first, axis=0)

    def pullback(slope: FloatArray) -> FloatArray:
        best = (offered == highest[row]) & (offered > 0)
        ties = np.ones_like(highest)
        if len(row):
            ties[filled] = np.maximum(np.add.reduceat(best, first, axis=0, dtype=float), 1.0)
        shares = (1.0 - best / ties[row]) * slope[row, None]
        slopes = np.zeros_like(weights)
        for d, share in enumerate(shares.T):
            slopes[:, d] = np.bincount(member, share, len(weights))
        return slopes

    return some.sums(weights.sum(axis=1)) - highest.sum(axis=1), pullback


def repeated_by_each(weights: FloatArray, inside: FloatArray) -> tuple[FloatArray, Pullback]:
    """Δ_i rep(S; W) (m, n) of coalitions (m, n), and its pullback to W (n, D)."""
    rows = np.arange(len(inside))
    repeated = np.zeros(inside.shape)
    seen = []
    for own in weights.T:
        offered = inside * own
        best = offered.argmax(axis=1)
        highest = offered[rows, best]
        offered[rows, best] = 0.0
        next_best = offered.argmax(axis=1)
        others = np.repeat(highest[:, None], len(own), axis=1)
        others[rows, best] = offered[rows, next_best]
        repeated += np.minimum(own, others)
        # Where nobody else offers anything, the minimum is 0 whatever W is.
        seen.append((best, next_best, own < others, (own >= others) & (others > 0)))

    def pullback(slope: FloatArray) -> FloatArray:
        slopes = np.zeros_like(weights)
        for d, (best, next_best, mine, theirs) in enumerate(seen):
            of_others = np.where(theirs, slope, 0.0)
            of_next = of_others[rows, best]
            slopes[:, d] = np.sum(slope, axis=0, where=mine)
            slopes[:, d] += np.bincount(best, of_others.sum(axis=1) - of_next, len(weights))
            slopes[:, d] += np.bincount(next_best, of_next, len(weights))
        return slopes

    return repeated, pullback
