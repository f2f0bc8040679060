"""The multilinear extension of small tables, folded player by player.

Each player carries two factors, one for being out and one for being in. A *law* is
their product over all players, one entry per coalition, in table order. The factors
(1 - x, x) make it the product law q_x; (-1, 1) differentiates by a player; (1, 1)
sums him out.

A table of 2^m worths is a matrix M with one row per coalition of the high players
and one column per coalition of the low ones, so with w_l, w_h the laws of the two,

    w_hᵀ M   is a table of the low players alone,
    M w_l    is a table of the high players alone,

and what is asked about one player is asked of the smaller table that still holds
him. All functions take leading batch axes. Cost O(2^m).
"""

from __future__ import annotations

import numpy as np

from fairfield.multilinear import FloatArray, Update

DERIVATIVE = np.array([-1.0, 1.0])
INSIDE = np.array([0.0, 1.0])


def probabilities(x: FloatArray) -> FloatArray:
    """The factors (1 - x_i, x_i) of players who join independently: (..., m, 2)."""
    return np.stack([1 - x, x], axis=-1)


def laws(factors: FloatArray) -> list[FloatArray]:
    """The laws of the first 0, 1, …, m players.

    >>> laws(probabilities(np.array([0.75, 0.5])))[2].tolist()
    [0.125, 0.375, 0.125, 0.375]
    """
    chain = [np.ones((*factors.shape[:-2], 1))]
    for i in range(factors.shape[-2]):
        chain.append(_with_player(chain[-1], factors[..., i, :]))
    return chain


def probed(factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The law, then the law with each player in turn carrying his ``probe``: (..., m + 1, 2^m)."""
    own = np.eye(factors.shape[-2], dtype=bool)[..., None]
    each = laws(np.where(own, probe[..., None, :, :], factors[..., None, :, :]))[-1]
    return np.concatenate([laws(factors)[-1][..., None, :], each], axis=-2)


def faces(table: FloatArray, factors: FloatArray, chain: list[FloatArray]) -> FloatArray:
    """What the others make of the table with player i out, and in: (..., m, 2).

    With probabilities as factors these are f(x | x_i←0) and f(x | x_i←1): their
    difference is the gradient. No term is subtracted, so sums of positive tables
    keep their relative accuracy. ``chain`` is ``laws(factors)``.
    """
    count = factors.shape[-2]
    sides = np.empty((*table.shape[:-1], count, 2))
    if factors.size == 2 * count and table.size > 4 * table.shape[-1] ** 2:
        # Factors shared by many tables: the answer is linear in the table, so fold
        # the unit tables once and leave the rest to one matrix product.
        alone = factors.reshape(count, 2)
        basis = faces(np.eye(table.shape[-1]), alone, laws(alone))
        return np.asarray(table @ basis.reshape(len(basis), -1)).reshape(sides.shape)
    for i, halves in enumerate(_folded_from_above(table, factors)):
        np.vecdot(halves, chain[i][..., None, :], out=sides[..., i, :])
    return sides


def pairs(table: FloatArray, factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The table folded with the probes (m, 2) in place of two players' factors: (..., m, m).

    Probes (-1, 1) make these the second derivatives; (0, 1) the sums over the
    coalitions that hold both. The diagonal is zero.
    """
    count = factors.shape[-2]
    if count <= 1:
        return np.zeros((*table.shape[:-1], count, count))
    low = count // 2
    below, above = factors[..., :low, :], factors[..., low:, :]
    matrix = table.reshape(*table.shape[:-1], 2 ** (count - low), 2**low)
    of_low = (laws(above)[-1][..., None, :] @ matrix)[..., 0, :]
    of_high = probed(below, probe[..., :low, :]) @ matrix.swapaxes(-1, -2)
    return join_pairs(of_low, of_high, below, above, probe)


def join_pairs(
    of_low: FloatArray, of_high: FloatArray, below: FloatArray, above: FloatArray, probe: FloatArray
) -> FloatArray:
    """All pairs, from the low players' table and the high players' tables.

    ``of_high`` holds the matrix times each of ``probed(below, …)``.
    """
    low, count = below.shape[-2], below.shape[-2] + above.shape[-2]
    each = above[..., None, :, :]
    of_low_probe, of_high_probe = probe[..., :low, :], probe[..., low:, :]
    sides = faces(of_high[..., 1:, :], each, laws(each))
    across = np.vecdot(sides, of_high_probe[..., None, :, :])
    joined = np.empty((*of_low.shape[:-1], count, count))
    joined[..., :low, :low] = pairs(of_low, below, of_low_probe)
    joined[..., low:, low:] = pairs(of_high[..., 0, :], above, of_high_probe)
    joined[..., :low, low:] = across
    joined[..., low:, :low] = across.swapaxes(-1, -2)
    return joined


def sweep(table: FloatArray, x: FloatArray, update: Update, first: int = 0) -> None:
    """Update every player of ``x`` in turn, in place; ``first`` is the number of x[0]."""
    below = np.ones((*x.shape[:-1], 1))
    for i, halves in enumerate(_folded_from_above(table, probabilities(x))):
        pair = np.vecdot(halves, below[..., None, :])
        x[..., i] = update(first + i, pair[..., 1] - pair[..., 0])
        below = _with_player(below, probabilities(x[..., i]))


def _folded_from_above(table: FloatArray, factors: FloatArray) -> list[FloatArray]:
    """Per player i, the table of the players 0 … i, halved by player i: (..., 2, 2^i)."""
    folded = []
    for i in reversed(range(factors.shape[-2])):
        halves = table.reshape(*table.shape[:-1], 2, 2**i)
        folded.append(halves)
        if i:
            weighed = factors[..., i, :, None] * halves
            table = weighed[..., 0, :] + weighed[..., 1, :]
    return folded[::-1]


def _with_player(products: FloatArray, factors: FloatArray) -> FloatArray:
    """The law of one more player on top of those known."""
    grown = factors[..., :, None] * products[..., None, :]
    return np.asarray(grown.reshape(*grown.shape[:-2], -1))
