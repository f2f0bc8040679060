"""Weighted sums over a table whose weights depend on the size of the coalition.

A semivalue is Σ_S c(S) F(S) with coefficients that depend only on |S| and on which of one
or two players are in S; so the weights are applied in the pass over the table, and what is
left are small tables of sums. The table is centred on the way where its offset would cost
digits.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, beside, on_host
from fairfield.core.coalitions import enumerate_coalitions, sizes
from fairfield.multilinear.worth_matrix import WorthMatrix

if TYPE_CHECKING:
    from fairfield.multilinear.table import TableExtension


def shapley_weights(players: int, order: int = 1) -> FloatArray:
    """1/((n-k+1) C(n-k, s)): Shapley's weights for contributions of k players at once."""
    most = players - order
    return np.array([1 / ((most + 1) * comb(most, size)) for size in range(most + 1)])


def semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i} weights[|S|] (F(S+i) - F(S)), for weights of the sizes 0 … n-1.

    Equal to Σ_{S∋i} F(S) (w_{s-1} + w_s) - Σ_S F(S) w_s with s = |S|: one pass.
    """
    size, without = _sizes(table.matrix), np.append(weights, 0.0)
    both = (np.append(0.0, weights) + without)[size]
    of_high, sums = _by_size(table.matrix, both[:, None])
    inside = _inside(table.matrix, _weigh(both, sums), of_high[:, 0])
    total = _weigh(without[size], sums).sum(axis=-1)
    return table.shaped((inside - total[:, None])[:, None], table.batch)


def pair_semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i,j} weights[|S|] Δ_ij F(S) for all pairs, weights of the sizes 0 … n-2.

    With s = |S| the coefficient of F(S) is w_{s-2}, -w_{s-1} or w_s as S has both,
    one or none of the pair.
    """
    padded = np.concatenate([[0.0, 0.0], weights, [0.0, 0.0]])
    sums = _pair_sums(table.matrix, padded[:-2], -padded[1:-1], padded[2:])
    sums[..., np.arange(table.players), np.arange(table.players)] = 0.0
    return table.shaped(sums[:, None], table.batch)


def semivalue_covariance(table: TableExtension, weights: FloatArray) -> FloatArray | None:
    """The covariance of a semivalue due to independent errors of the worths: (…, n, n).

    Σ_S V(S) c_i(S) c_j(S), where c_i is w_{s-1} if S has i and -w_s if not.
    """
    if table.noise is None:
        return None
    held, left = np.append(0.0, weights), np.append(weights, 0.0)
    joint = _pair_sums(table.noise.matrix, held**2, -held * left, left**2)
    return table.shaped(joint[:, None], table.batch)


def _pair_sums(
    matrix: WorthMatrix, two: FloatArray, one: FloatArray, none: FloatArray
) -> FloatArray:
    """Σ_S F(S) two, one or none[|S|], as S has both of a pair, one or none: (games, n, n).

    The coefficient is α on both, plus β for each, plus γ; on the diagonal, ``two`` where S
    has the player and ``none`` where not.
    """
    size, low, count = _sizes(matrix), matrix.low, matrix.low + matrix.high
    alpha, beta, gamma = (each[size] for each in (two - 2 * one + none, one - none, none))
    members, rows = _members(low).T, _members(matrix.high).T
    columns = [beta[:, None], alpha[:, None] * members, alpha[:, None]]
    of_high, sums = _by_size(matrix, np.concatenate(columns, axis=1))
    single = _inside(matrix, _weigh(beta, sums), of_high[:, 0])
    both = np.empty((len(single), count, count))
    of_low = _weigh(alpha, sums)[:, None]
    both[:, :low, :low] = members @ (of_low * members).swapaxes(1, 2)
    both[:, :low, low:] = of_high[:, 1:-1] @ rows.T
    both[:, low:, :low] = both[:, :low, low:].swapaxes(1, 2)
    both[:, low:, low:] = rows @ (of_high[:, -1:] * rows).swapaxes(1, 2)
    both += single[:, :, None] + single[:, None, :]
    both += _weigh(gamma, sums).sum(axis=-1)[:, None, None]
    return both


def _by_size(matrix: WorthMatrix, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M times columns that depend on the size of the row's coalition, and sums of such rows.

    ``columns`` (high + 1, k, 2^low) are k columns for the rows of each size. Answers
    (games, k, 2^high) and (games, high + 1, 2^low).
    """
    games, height, width = matrix.shape
    of_high = np.empty((games, height, columns.shape[1]))
    sums = np.zeros((games, matrix.high + 1, width))
    # A device reads entries as they are in place; gathered ones are copied first.
    in_place = not matrix.in_numpy and not matrix.changes and columns.shape[1] == 1
    gathered = height * width > matrix.worked_on and not in_place
    (_gather_rows if gathered else _multiply_all)(matrix, columns, of_high, sums)
    return of_high.swapaxes(1, 2), sums


def _multiply_all(
    matrix: WorthMatrix, columns: FloatArray, of_high: FloatArray, sums: FloatArray
) -> None:
    """All columns for all rows, then each row keeps its own: few large products."""
    xp, (levels, k, width), own = matrix.namespace, columns.shape, sizes(matrix.high)
    every = beside(matrix.entries, columns.reshape(-1, width).T)
    member = beside(matrix.entries, np.equal.outer(np.arange(levels), own) * 1.0)
    kept = beside(matrix.entries, own + levels * np.arange(len(own)))
    for some, (rows,) in matrix.blocks(worked_on=matrix.in_numpy):
        block = matrix.read(some, rows)
        products = xp.reshape(block @ every, (block.shape[0], -1, k))
        of_high[some] = on_host(xp.take(products, kept, axis=1))
        sums[some] = on_host(member @ block)


def _gather_rows(
    matrix: WorthMatrix, columns: FloatArray, of_high: FloatArray, sums: FloatArray
) -> None:
    """Rows gathered by the size of their coalition, so that each meets only its columns."""
    own = sizes(matrix.high)
    step = max(1, matrix.worked_on // matrix.shape[2])
    for size, weights in enumerate(columns):
        group = np.flatnonzero(own == size)
        right = beside(matrix.entries, np.ascontiguousarray(weights.T))
        for start in range(0, len(group), step):
            which = group[start : start + step]
            ones = beside(matrix.entries, np.ones((1, len(which))))
            for game in range(matrix.shape[0]):
                block = matrix.gather(game, which)
                of_high[game, which] = on_host(block @ right)
                sums[game, size] += on_host(ones @ block)[0]


@lru_cache(maxsize=4)
def _members(count: int) -> FloatArray:
    """Who is in each coalition, as numbers: (2^count, count)."""
    return enumerate_coalitions(count).astype(float)


def _inside(matrix: WorthMatrix, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
    """Per player, the sum over the coalitions with that player: (games, n)."""
    return np.concatenate([of_low @ _members(matrix.low), of_high @ _members(matrix.high)], axis=-1)


def _sizes(matrix: WorthMatrix) -> IntArray:
    """The size of a coalition, by that of its high players and its low ones: (high + 1, 2^low)."""
    return np.asarray(np.arange(matrix.high + 1)[:, None] + sizes(matrix.low))


def _weigh(weights: FloatArray, sums: FloatArray) -> FloatArray:
    """Σ over sizes of the high coalition of weights · sums: (games, 2^low)."""
    return np.asarray((weights * sums).sum(axis=1))
