"""What the members of a coalition repeat of each other, with its gradient.

    rep(S; W) = Σ_d (Σ_{i∈S} W_id - max_{i∈S} W_id),    W ≥ 0,

and what player i repeats of the others, Δ_i rep(S; W) = Σ_d min(W_id, max_{j∈S-i} W_jd).
The maximum over no players is 0. Both are piecewise linear in W; where players tie, the
gradient is one between those on both sides.
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
    highest = np.zeros((len(some.sizes), weights.shape[1]))
    if len(row):
        highest[filled] = np.maximum.reduceat(offered, first, axis=0)

    def pullback(gradient: FloatArray) -> FloatArray:
        best = (offered == highest[row]) & (offered > 0)
        ties = np.ones_like(highest)
        if len(row):
            ties[filled] = np.maximum(np.add.reduceat(best, first, axis=0, dtype=float), 1.0)
        shares = (1.0 - best / ties[row]) * gradient[row, None]
        columns = [np.bincount(member, share, len(weights)) for share in shares.T]
        return np.array(columns, dtype=float).reshape(-1, len(weights)).T

    return some.sums(weights.sum(axis=1)) - highest.sum(axis=1), pullback


def repeated_by_each(weights: FloatArray, inside: FloatArray) -> tuple[FloatArray, Pullback]:
    """Δ_i rep(S; W) (m, n) of coalitions (m, n), and its pullback to W (n, D)."""
    rows = np.arange(len(inside))
    repeated = np.zeros(inside.shape)
    kept = []
    for own in weights.T:
        offered = inside * own
        best = offered.argmax(axis=1)
        highest = offered[rows, best]
        offered[rows, best] = 0.0
        next_best = offered.argmax(axis=1)
        others = np.repeat(highest[:, None], len(own), axis=1)
        others[rows, best] = offered[rows, next_best]
        repeated += np.minimum(own, others)
        # Where no other offers anything, the minimum is 0 whatever W is.
        kept.append((best, next_best, own < others, (own >= others) & (others > 0)))

    def pullback(gradient: FloatArray) -> FloatArray:
        gradients = np.zeros_like(weights)
        for d, (best, next_best, own_least, others_least) in enumerate(kept):
            of_others = np.where(others_least, gradient, 0.0)
            of_next = of_others[rows, best]
            gradients[:, d] = np.sum(gradient, axis=0, where=own_least)
            gradients[:, d] += np.bincount(best, of_others.sum(axis=1) - of_next, len(weights))
            gradients[:, d] += np.bincount(next_best, of_next, len(weights))
        return gradients

    return repeated, pullback
