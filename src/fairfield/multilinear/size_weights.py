"""Weighted sums over a table whose weights depend on the size of the coalition.

Interactions of coalitions A of one size, semivalues among them, are Σ_S c(S) F(S) with
coefficients that depend only on |S| and on |S ∩ A|; so the weights are applied in the pass over
the table, and what is left are small tables of sums. The table is centred on the way where its
offset would cost digits.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, beside, on_host
from fairfield.core.coalitions import enumerate_coalitions, rows_of, sizes
from fairfield.multilinear.worth_matrix import WorthMatrix

if TYPE_CHECKING:
    from fairfield.multilinear.table import TableExtension

# Columns of one pass; those of pairs are always fewer.
MOST_COLUMNS = 128


def shapley_weights(players: int, order: int = 1) -> FloatArray:
    """1/((n-k+1) C(n-k, s)): Shapley's weights for contributions of k players at once."""
    most = players - order
    return np.array([1 / ((most + 1) * comb(most, size)) for size in range(most + 1)])


def diagonal_weights(players: int, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    """Σ_k shares_k at_k^s (1 - at_k)^(n-order-s), by the size s of a coalition of the others."""
    s = np.arange(players - order + 1)[:, None]
    return np.asarray((at**s * (1 - at) ** (players - order - s)) @ shares)


def interactions(table: TableExtension, weights: FloatArray, size: int) -> FloatArray:
    """Σ_{S∩A=∅} weights[|S|] Δ_A F(S) for all A of this size: (*batch, coalitions).

    The weights are those of the sizes 0 … n - |A|, the coalitions in the order of
    ``itertools.combinations``. One pass, which for pairs is a product with about n/2 columns,
    for triples with n²/8; more than 128 columns take several.
    """
    found = _sums(table.matrix, _coefficients(weights, size))
    return table.shaped(found[:, None], table.batch)


def interaction_variances(
    table: TableExtension, weights: FloatArray, size: int
) -> FloatArray | None:
    """The variances Σ_S V(S) c_A(S)² of such sums, due to independent errors of the worths."""
    if table.noise is None:
        return None
    found = _sums(table.noise.matrix, _coefficients(weights, size) ** 2)
    return table.shaped(found[:, None], table.batch)


def semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i} weights[|S|] (F(S+i) - F(S)), for weights of the sizes 0 … n-1."""
    return interactions(table, weights, 1)


def pair_semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i,j} weights[|S|] Δ_ij F(S) as a matrix, weights of the sizes 0 … n-2."""
    return _square(interactions(table, weights, 2), table.players)


def semivalue_covariance(table: TableExtension, weights: FloatArray) -> FloatArray | None:
    """The covariance of a semivalue due to independent errors of the worths: (…, n, n).

    Σ_S V(S) c_i(S) c_j(S), where c_i is w_{s-1} if S has i and -w_s if not.
    """
    variances = interaction_variances(table, weights, 1)
    if table.noise is None or variances is None:
        return None
    held, left = np.append(0.0, weights), np.append(weights, 0.0)
    both = _sums(table.noise.matrix, np.array([left**2, -held * left, held**2]))
    joint = _square(table.shaped(both[:, None], table.batch), table.players)
    joint[..., np.arange(table.players), np.arange(table.players)] = variances
    return joint


def _square(pairs: FloatArray, players: int) -> FloatArray:
    """Values of pairs as symmetric matrices, 0 on the diagonal."""
    matrix = np.zeros((*pairs.shape[:-1], players, players))
    first, second = np.triu_indices(players, 1)
    matrix[..., first, second] = matrix[..., second, first] = pairs
    return matrix


def _coefficients(weights: FloatArray, size: int) -> FloatArray:
    """The coefficient of F(S), by |S ∩ A| and |S|: (size + 1, n + 1)."""
    found = np.zeros((size + 1, len(weights) + size))
    for inside, row in enumerate(found):
        row[inside : inside + len(weights)] = (-1.0) ** (size - inside) * weights
    return found


def _sums(matrix: WorthMatrix, coefficients: FloatArray) -> FloatArray:
    """Σ_S coefficients[|S ∩ A|, |S|] F(S) for all A of one size: (games, coalitions).

    The coefficient is Σ_{B⊆A∩S} α_|B|(|S|), with α_b their b-th difference; so what is needed of
    each B is the sum of α F over the coalitions that have it, and those of A are added up.
    """
    alpha, low, high = coefficients.copy(), matrix.low, matrix.high
    for b in range(1, len(alpha)):
        alpha[b:] -= alpha[b - 1 : -1].copy()
    size = _sizes(matrix)
    plan = _plan(low, high, len(alpha) - 1)
    held = []
    for group in plan.passes:
        columns = [alpha[b][size][:, None] * _holding(low, i).T for b, i in group]
        of_high, sums = _by_size(matrix, np.concatenate(columns, axis=1))
        ends = np.cumsum([comb(low, i) for _, i in group])[:-1]
        for (b, i), part in zip(group, np.split(of_high, ends, axis=1), strict=True):
            inside = _over_supersets(part)[..., _rows(high, b - i)]
            held.append(inside.reshape(len(inside), -1))
    for b, each in enumerate(alpha):
        held.append(_over_supersets(_weigh(each[size], sums))[:, _rows(low, b)])
    return np.asarray(np.concatenate(held, axis=1)[:, plan.parts].sum(axis=-1))


class Plan(NamedTuple):
    """Which sums are gathered in which pass, and which of them make up each coalition.

    The sums of a pass are of coalitions of b players of whom i < b are low, pairs (b, i); those of
    low players alone come last. ``parts`` (coalitions, 2^size) are the places of its subsets.
    """

    passes: list[list[tuple[int, int]]]
    parts: IntArray


@lru_cache(maxsize=16)
def _plan(low: int, high: int, order: int) -> Plan:
    kinds = [(b, i) for b in range(1, order + 1) for i in range(min(b, low + 1))]
    passes: list[list[tuple[int, int]]] = [[]]
    for b, i in kinds:
        if sum(comb(low, each) for _, each in [*passes[-1], (b, i)]) > MOST_COLUMNS:
            passes.append([])
        passes[-1].append((b, i))
    gathered = [
        np.add.outer(_rows(low, i), _rows(high, b - i) << low).ravel() for b, i in kinds
    ] + [_rows(low, b) for b in range(order + 1)]
    rows = np.concatenate(gathered)
    sorted_by = np.argsort(rows)
    whole = np.array(list(combinations(_rows(low + high, 1), order)), dtype=np.int64)
    # The row of a coalition is the sum of those of its members, and so are those of its subsets.
    parts = whole.reshape(-1, order) @ enumerate_coalitions(order).T
    return Plan(
        [each for each in passes if each], sorted_by[np.searchsorted(rows[sorted_by], parts)]
    )


def _over_supersets(tables: FloatArray) -> FloatArray:
    """Σ_{S⊇R} of tables over the coalitions of m players, for every R: (…, 2^m)."""
    sums = np.array(tables, order="C")
    for i in range(sums.shape[-1].bit_length() - 1):
        halves = sums.reshape(*sums.shape[:-1], -1, 2, 2**i)
        halves[..., 0, :] += halves[..., 1, :]
    return sums


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
def _holding(count: int, size: int) -> FloatArray:
    """Which coalitions hold which of this size, as numbers: (2^count, those of this size)."""
    every = np.arange(2**count)[:, None]
    return np.asarray(every & _rows(count, size) == _rows(count, size), dtype=float)


@lru_cache(maxsize=16)
def _rows(count: int, size: int) -> IntArray:
    """The table rows of all coalitions of so many of the players, as combinations lists them."""
    inside = np.zeros((comb(count, size), count), dtype=bool)
    for row, members in zip(inside, combinations(range(count), size), strict=True):
        row[list(members)] = True
    return rows_of(inside)


def _sizes(matrix: WorthMatrix) -> IntArray:
    """The size of a coalition, by that of its high players and its low ones: (high + 1, 2^low)."""
    return np.asarray(np.arange(matrix.high + 1)[:, None] + sizes(matrix.low))


def _weigh(weights: FloatArray, sums: FloatArray) -> FloatArray:
    """Σ over sizes of the high coalition of weights · sums: (games, 2^low)."""
    return np.asarray((weights * sums).sum(axis=1))
