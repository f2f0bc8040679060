"""Weighted sums over a table whose weights depend on the size of the coalition.

A semivalue is Σ_S c(S) F(S) with coefficients that depend only on |S| and on which of one
or two players are in S; so the weights are applied in the pass over the table, and what is
left are small tables of sums. The table is centred on the way where its offset would cost
digits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, beside, on_host
from fairfield.core.coalitions import enumerate_coalitions, sizes
from fairfield.multilinear import worth_matrix
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
    with_player, without = np.append(0.0, weights), np.append(weights, 0.0)
    both = with_player + without
    of_high, sums = _by_size(table.matrix, lambda size: both[size][None])
    inside = _inside(table, _weigh(table, sums, both), of_high[:, 0])
    total = _weigh(table, sums, without).sum(axis=-1)
    return table.shaped((inside - total[:, None])[:, None], table.batch)


def pair_semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i,j} weights[|S|] Δ_ij F(S) for all pairs, weights of the sizes 0 … n-2.

    With s = |S| the coefficient of F(S) is w_{s-2}, -w_{s-1} or w_s as S has both,
    one or none of the pair.
    """
    padded = np.concatenate([[0.0, 0.0], weights, [0.0, 0.0]])
    sums = _pair_sums(table, padded[:-2], -padded[1:-1], padded[2:])
    sums[..., np.arange(table.players), np.arange(table.players)] = 0.0
    return table.shaped(sums[:, None], table.batch)


def semivalue_covariance(table: TableExtension, weights: FloatArray) -> FloatArray | None:
    """The covariance of a semivalue due to independent errors of the worths: (…, n, n).

    Σ_S V(S) c_i(S) c_j(S), where c_i is w_{s-1} if S has i and -w_s if not.
    """
    if table.noise is None:
        return None
    held, left = np.append(0.0, weights), np.append(weights, 0.0)
    joint = _pair_sums(table.noise, held**2, -held * left, left**2)
    return table.shaped(joint[:, None], table.batch)


def _pair_sums(
    table: TableExtension, two: FloatArray, one: FloatArray, none: FloatArray
) -> FloatArray:
    """Σ_S F(S) two, one or none[|S|], as S has both of a pair, one or none: (games, n, n).

    The coefficient is α on both, plus β for each, plus γ; on the diagonal, ``two`` where S
    has the player and ``none`` where not.
    """
    alpha, beta, gamma = two - 2 * one + none, one - none, none
    low, count = table.low, table.players
    members = _members(low).T
    of_high, sums = _by_size(
        table.matrix,
        lambda size: np.concatenate([beta[size][None], alpha[size] * members, alpha[size][None]]),
    )
    single = _inside(table, _weigh(table, sums, beta), of_high[:, 0])
    both = np.empty((len(single), count, count))
    rows = _members(table.high).T
    of_low = _weigh(table, sums, alpha)[:, None]
    both[:, :low, :low] = members @ (of_low * members).swapaxes(1, 2)
    both[:, :low, low:] = of_high[:, 1:-1] @ rows.T
    both[:, low:, :low] = both[:, :low, low:].swapaxes(1, 2)
    both[:, low:, low:] = rows @ (of_high[:, -1:] * rows).swapaxes(1, 2)
    both += single[:, :, None] + single[:, None, :]
    both += _weigh(table, sums, gamma).sum(axis=-1)[:, None, None]
    return both


def _by_size(
    matrix: WorthMatrix, columns: Callable[[IntArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """M times columns that depend on coalition sizes, and sums of equal-sized rows.

    ``columns(sizes)`` are k columns for one row, whose coalitions have these sizes.
    Answers (games, k, 2^high) and (games, high + 1, 2^low).
    """
    games, height, width = matrix.shape
    by_row_size = np.stack([columns(s + sizes(matrix.low)) for s in range(matrix.high + 1)])
    of_high = np.empty((games, height, by_row_size.shape[1]))
    sums = np.zeros((games, matrix.high + 1, width))
    gathered = matrix.in_numpy and height * width > worth_matrix.CACHED
    (_gather_rows if gathered else _multiply_all)(matrix, by_row_size, of_high, sums)
    return of_high.swapaxes(1, 2), sums


def _multiply_all(
    matrix: WorthMatrix, columns: FloatArray, of_high: FloatArray, sums: FloatArray
) -> None:
    """All columns for all rows, then each row keeps its own: few large products."""
    xp, (levels, k, width), own = matrix.namespace, columns.shape, sizes(matrix.high)
    every = beside(matrix.entries, columns.reshape(-1, width).T)
    member = beside(matrix.entries, np.equal.outer(np.arange(levels), own) * 1.0)
    for some, rows in matrix.blocks(worked_on=matrix.in_numpy):
        block = matrix.read(some, rows)
        products = xp.reshape(block @ every, (block.shape[0], -1, k))
        kept = own[rows] + levels * np.arange(block.shape[1])
        of_high[some, rows] = on_host(xp.take(products, beside(products, kept), axis=1))
        sums[some] += on_host(member[:, rows] @ block)


def _gather_rows(
    matrix: WorthMatrix, columns: FloatArray, of_high: FloatArray, sums: FloatArray
) -> None:
    """Rows gathered by the size of their coalition, so that each meets only its columns."""
    own, step = sizes(matrix.high), max(1, worth_matrix.CACHED // matrix.shape[2])
    for size, weights in enumerate(columns):
        group, right = np.flatnonzero(own == size), np.ascontiguousarray(weights.T)
        for start in range(0, len(group), step):
            which = group[start : start + step]
            ones = np.ones((1, len(which)))
            for game in range(matrix.shape[0]):
                block = matrix.gather(game, which)
                of_high[game, which] = block @ right
                sums[game, size] += (ones @ block)[0]


@lru_cache(maxsize=4)
def _members(count: int) -> FloatArray:
    """Who is in each coalition, as numbers: (2^count, count)."""
    return enumerate_coalitions(count).astype(float)


def _inside(table: TableExtension, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
    """Per player, the sum over the coalitions with that player: (games, n)."""
    return np.concatenate([of_low @ _members(table.low), of_high @ _members(table.high)], axis=-1)


def _weigh(table: TableExtension, sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Σ over sizes of the high coalition of weights[whole size] · sums: (games, 2^low)."""
    size = np.arange(table.high + 1)[:, None] + sizes(table.low)
    return np.asarray((weights[size] * sums).sum(axis=1))
