"""Weighted sums over a table whose weights depend on the size of the coalition.

Interactions of coalitions A of one size, semivalues among them, are Σ_S c(S) F(S) with
coefficients that depend only on |S| and on |S ∩ A|; so the weights are applied in the pass over
the table, and what is left are small tables of sums. The table is centred on the way where its
offset would cost digits.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, beside, on_host
from fairfield.core.coalitions import enumerate_coalitions, rows_of, sizes
from fairfield.multilinear.row_errors import semivalue_coefficients
from fairfield.multilinear.worth_matrix import WorthMatrix

if TYPE_CHECKING:
    from fairfield.multilinear.table import TableExtension

# Columns of one pass; those of pairs are always fewer.
MOST_COLUMNS = 128

# The places of all pairs in a matrix of so many players.
_upper = lru_cache(maxsize=16)(partial(np.triu_indices, k=1))


def shapley_weights(players: int, order: int = 1) -> FloatArray:
    """1/((n-k+1) C(n-k, s)): Shapley's weights for contributions of k players at once."""
    most = players - order
    return np.array([1 / ((most + 1) * comb(most, size)) for size in range(most + 1)])


def diagonal_weights(players: int, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
    """Σ_k shares_k at_k^s (1 - at_k)^(n-order-s), by the size s of a coalition of the others."""
    return np.asarray(shares @ _powers(at.tobytes(), players - order + 1))


@lru_cache(maxsize=16)
def _powers(points: bytes, count: int) -> FloatArray:
    """t^s (1 - t)^(count-1-s) by the points t and the sizes s."""
    at = np.frombuffer(points)
    return np.asarray(np.vander(at, count, increasing=True) * np.vander(1 - at, count))


def interactions(table: TableExtension, weights: FloatArray, size: int) -> FloatArray:
    """Σ_{S∩A=∅} weights[|S|] Δ_A F(S) for all A of this size: (*batch, coalitions).

    The weights are those of the sizes 0 … n - |A|, the coalitions in the order of
    ``itertools.combinations``. One pass, which for pairs is a product with about n/2 columns,
    for triples with n²/8; more than 128 columns take several.
    """
    found = _sums(table.matrix, _coefficients(weights, size))
    return table.shaped(found[:, None], table.batch)


def interaction_variances(noise: TableExtension, weights: FloatArray, size: int) -> FloatArray:
    """Σ_S V(S) c_A(S)², the variances of such sums due to independent errors of the worths."""
    found = _sums(noise.matrix, _coefficients(weights, size) ** 2)
    return noise.shaped(found[:, None], noise.batch)


def semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i} weights[|S|] (F(S+i) - F(S)), for weights of the sizes 0 … n-1."""
    return interactions(table, weights, 1)


def pair_semivalue(table: TableExtension, weights: FloatArray) -> FloatArray:
    """Σ_{S∌i,j} weights[|S|] Δ_ij F(S) as a matrix, weights of the sizes 0 … n-2."""
    sums = _pair_sums(table.matrix, *_coefficients(weights, 2))
    sums[..., np.arange(table.players), np.arange(table.players)] = 0.0
    return table.shaped(sums[:, None], table.batch)


def semivalue_covariance(table: TableExtension, weights: FloatArray) -> FloatArray | None:
    """The covariance of a semivalue due to independent errors of the worths: (…, n, n).

    Σ_S V(S) c_i(S) c_j(S), where c_i is w_{s-1} if S has i and -w_s if not; where worths are means
    over test rows, their covariance over these is added.
    """
    over_rows = table.over_rows(semivalue_coefficients(weights))
    if table.noise is None:
        return over_rows
    left, held = _coefficients(weights, 1)
    joint = _pair_sums(table.noise.matrix, left**2, held * left, held**2)
    found = table.shaped(joint[:, None], table.batch)
    return found if over_rows is None else found + over_rows


def _coefficients(weights: FloatArray, size: int) -> FloatArray:
    """The coefficient of F(S), by |S ∩ A| and |S|: (size + 1, n + 1)."""
    found = np.zeros((size + 1, len(weights) + size))
    for inside, row in enumerate(found):
        row[inside : inside + len(weights)] = -weights if (size - inside) % 2 else weights
    return found


def _sums(matrix: WorthMatrix, coefficients: FloatArray) -> FloatArray:
    """Σ_S coefficients[|S ∩ A|, |S|] F(S) for all A of one size: (games, coalitions)."""
    if len(coefficients) == 2:
        return _single_sums(matrix, *coefficients)
    if len(coefficients) == 3:
        first, second = _upper(matrix.low + matrix.high)
        return np.asarray(_pair_sums(matrix, *coefficients)[:, first, second])
    return _larger_sums(matrix, coefficients)


def _single_sums(matrix: WorthMatrix, none: FloatArray, one: FloatArray) -> FloatArray:
    """Σ_S F(S) one or none[|S|], as S has a player or not: (games, n)."""
    size = _sizes(matrix.low, matrix.high)
    beta = (one - none)[size]
    of_high, sums = _by_size(matrix, beta[:, None])
    total = _weigh(none[size], sums).sum(axis=-1)
    return np.asarray(_inside(matrix, _weigh(beta, sums), of_high[:, 0]) + total[:, None])


def _pair_sums(
    matrix: WorthMatrix, none: FloatArray, one: FloatArray, two: FloatArray
) -> FloatArray:
    """Σ_S F(S) two, one or none[|S|], as S has both of a pair, one or none: (games, n, n).

    The coefficient is α on both, plus β for each, plus γ; on the diagonal, ``two`` where S
    has the player and ``none`` where not.
    """
    size, low, count = _sizes(matrix.low, matrix.high), matrix.low, matrix.low + matrix.high
    alpha, beta, gamma = (each[size] for each in (two - 2 * one + none, one - none, none))
    members, rows = _holding(low, 1).T, _holding(matrix.high, 1).T
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


def _larger_sums(matrix: WorthMatrix, coefficients: FloatArray) -> FloatArray:
    """The same for coalitions A of any one size: (games, coalitions).

    The coefficient is Σ_{B⊆A∩S} α_|B|(|S|), with α_b their b-th difference; so what is needed of
    each B is the sum of α F over the coalitions that have it, and those of A are added up.
    """
    alpha, low, high = coefficients.copy(), matrix.low, matrix.high
    for b in range(1, len(alpha)):
        alpha[b:] -= alpha[b - 1 : -1].copy()
    size = _sizes(low, high)
    passes, parts = _plan(low, high, len(alpha) - 1)
    held = []
    for group in passes:
        columns = [alpha[b][size][:, None] * _holding(low, i).T for b, i in group]
        of_high, sums = _by_size(matrix, np.concatenate(columns, axis=1))
        ends = np.cumsum([comb(low, i) for _, i in group])[:-1]
        for (b, i), part in zip(group, np.split(of_high, ends, axis=1), strict=True):
            inside = _over_supersets(part)[..., _rows(high, b - i)]
            held.append(inside.reshape(len(inside), -1))
    for b, each in enumerate(alpha):
        held.append(_over_supersets(_weigh(each[size], sums))[:, _rows(low, b)])
    return np.asarray(np.concatenate(held, axis=1)[:, parts].sum(axis=-1))


@lru_cache(maxsize=16)
def _plan(low: int, high: int, order: int) -> tuple[list[list[tuple[int, int]]], IntArray]:
    """Which sums are gathered in which pass, and which of them make up each coalition.

    The sums of a pass are of coalitions of b players of whom i < b are low, pairs (b, i); those of
    low players alone come last. The parts (coalitions, 2^order) are the places of its subsets.
    """
    kinds = [(b, i) for b in range(1, order + 1) for i in range(min(b, low + 1))]
    passes: list[list[tuple[int, int]]] = [[]]
    for b, i in kinds:
        if passes[-1] and sum(comb(low, j) for _, j in [*passes[-1], (b, i)]) > MOST_COLUMNS:
            passes.append([])
        passes[-1].append((b, i))
    gathered = [np.add.outer(_rows(low, i), _rows(high, b - i) << low).ravel() for b, i in kinds]
    rows = np.concatenate([*gathered, *(_rows(low, b) for b in range(order + 1))])
    # The row of a coalition is the sum of those of its members, and so are those of its subsets.
    whole = np.array(list(combinations(_rows(low + high, 1), order)), dtype=np.int64)
    parts = whole @ enumerate_coalitions(order).T
    sorted_by = np.argsort(rows)
    return passes, sorted_by[np.searchsorted(rows[sorted_by], parts)]


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
    xp, (_, k, width) = matrix.namespace, columns.shape
    every = beside(matrix.entries, columns.reshape(-1, width).T)
    member, kept = (beside(matrix.entries, each) for each in _levels(matrix.high))
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


@lru_cache(maxsize=16)
def _levels(count: int) -> tuple[FloatArray, IntArray]:
    """Which coalitions are of each size, and their places in a list of all of them by size."""
    own, levels = sizes(count), np.arange(count + 1)
    return np.equal.outer(levels, own) * 1.0, own + len(levels) * np.arange(len(own))


@lru_cache(maxsize=8)
def _holding(count: int, size: int) -> FloatArray:
    """Which coalitions hold which of this size, as numbers: (2^count, those of this size)."""
    chosen = _rows(count, size)
    return np.asarray(np.arange(2**count)[:, None] & chosen == chosen, dtype=float)


@lru_cache(maxsize=16)
def _rows(count: int, size: int) -> IntArray:
    """The table rows of all coalitions of so many of the players, as combinations lists them."""
    inside = np.zeros((comb(count, size), count), dtype=bool)
    for row, members in zip(inside, combinations(range(count), size), strict=True):
        row[list(members)] = True
    return rows_of(inside)


def _inside(matrix: WorthMatrix, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
    """Per player, the sum over the coalitions with that player: (games, n)."""
    members = _holding(matrix.low, 1), _holding(matrix.high, 1)
    return np.concatenate([of_low @ members[0], of_high @ members[1]], axis=-1)


@lru_cache(maxsize=16)
def _sizes(low: int, high: int) -> IntArray:
    """The size of a coalition, by that of its high players and its low ones: (high + 1, 2^low)."""
    return np.asarray(np.arange(high + 1)[:, None] + sizes(low))


def _weigh(weights: FloatArray, sums: FloatArray) -> FloatArray:
    """Σ over sizes of the high coalition of weights · sums: (games, 2^low)."""
    return np.asarray((weights * sums).sum(axis=1))
