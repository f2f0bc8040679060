"""The multilinear extension of small tables, folded player by player.

Each player carries two factors, one for being out and one for being in; their product over
all players is a weight for each coalition, in table order. The factors (1 - x, x) make it
the product law q_x; (-1, 1) differentiates by a player; (1, 1) sums over a player.

A table of 2^m worths is a matrix M with one row per coalition of the high players and one
column per coalition of the low ones, so with w_l, w_h the weights of the two,

    w_hᵀ M   is a table of the low players alone,
    M w_l    is a table of the high players alone,

and every player is read from the smaller table that still has them. All functions take
leading batch axes. Cost O(2^m).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Update

DERIVATIVE = np.array([-1.0, 1.0])
INSIDE = np.array([0.0, 1.0])


def probabilities(x: FloatArray) -> FloatArray:
    """The factors (1 - x_i, x_i) of players who join independently: (..., m, 2)."""
    return np.stack([1 - x, x], axis=-1)


class Factors:
    """Factors of m players, (..., m, 2), and their products, computed once.

    >>> Factors(probabilities(np.array([0.75, 0.5]))).product.tolist()
    [0.125, 0.375, 0.125, 0.375]
    """

    def __init__(self, values: FloatArray) -> None:
        self.values = values
        self.count = values.shape[-2]

    @cached_property
    def chain(self) -> list[FloatArray]:
        """The products over the first 0, 1, …, m players."""
        chain = [np.ones((*self.values.shape[:-2], 1))]
        for i in range(self.count):
            chain.append(_with_player(chain[-1], self.values[..., i, :]))
        return chain

    @property
    def product(self) -> FloatArray:
        """The product over all players, one entry per coalition: (..., 2^m)."""
        return self.chain[-1]


class Halves:
    """The factors of the ``count`` first players, the low ones, and of the others.

    Where these are equally many they are multiplied out together, along one more axis: for
    small tables it is calls that cost.
    """

    def __init__(self, factors: FloatArray, count: int) -> None:
        self.count = count
        self.below, self.above = factors[..., :count, :], factors[..., count:, :]
        self.equal = self.below.shape == self.above.shape
        parts = [np.array([self.below, self.above])] if self.equal else [self.below, self.above]
        self.parts = [Factors(part) for part in parts]

    @property
    def low(self) -> FloatArray:
        """The weights of the coalitions of low players."""
        return self.parts[0].product[0] if self.equal else self.parts[0].product

    @property
    def high(self) -> FloatArray:
        """The weights of the coalitions of high players."""
        return self.parts[-1].product[1] if self.equal else self.parts[-1].product

    def _each(
        self, read: Callable[..., FloatArray], *sides: tuple[FloatArray, FloatArray]
    ) -> list[FloatArray]:
        """What is read from the arrays of the low players, and from those of the high ones."""
        if self.equal:
            return list(read(self.parts[0], *map(np.array, sides)))
        return [
            read(part, *own) for part, own in zip(self.parts, zip(*sides, strict=True), strict=True)
        ]

    def faces(self, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
        """The faces of all players, from the low players' table and the high players' table."""
        return np.concatenate(self._each(faces, (of_low, of_high)), axis=-2)

    def across(self, of_high: FloatArray, probe: FloatArray) -> FloatArray:
        """All pairs of a low and a high player, (..., low, high).

        ``of_high`` are the high players' tables with the probe of each low player in turn.
        """
        sides = faces(Factors(self.above[..., None, :, :]), of_high)
        return np.asarray(np.vecdot(sides, probe[..., None, self.count :, :]))

    def pairs(
        self, of_low: FloatArray, of_high: FloatArray, across: FloatArray, probe: FloatArray
    ) -> FloatArray:
        """All pairs, from the low players' table, the high players' table and the pairs across.

        ``probe`` has one probe per player.
        """
        low = self.count
        probes = probe[..., :low, :], probe[..., low:, :]
        joined = np.empty((*of_low.shape[:-1], *[probe.shape[-2]] * 2))
        joined[..., :low, :low], joined[..., low:, low:] = self._each(
            pairs, (of_low, of_high), probes
        )
        joined[..., :low, low:] = across
        joined[..., low:, :low] = across.swapaxes(-1, -2)
        return joined


def with_probes(factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The factors, then with the ``probe`` of each player in turn: (..., m + 1, m, 2)."""
    count = factors.shape[-2]
    own = np.eye(count + 1, count, -1, dtype=bool)[..., None]
    return np.where(own, probe[..., None, :, :], factors[..., None, :, :])


def probed(factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The product, then the product with each player's ``probe`` in turn: (..., m + 1, 2^m)."""
    return Factors(with_probes(factors, probe)).product


def faces(factors: Factors, table: FloatArray) -> FloatArray:
    """The table folded by the factors of all but player i, who is out, or in: (..., m, 2).

    With probabilities as factors these are f(x | x_i←0) and f(x | x_i←1): their
    difference is the gradient. No term is subtracted, so sums of positive tables
    keep their relative accuracy.
    """
    count = factors.count
    if factors.values.size == 2 * count and table.size > 4 * table.shape[-1] ** 2:
        # Factors shared by many tables: the answer is linear in the table, so fold
        # the unit tables once and leave the rest to one matrix product.
        basis = faces(Factors(factors.values.reshape(-1, 2)), np.eye(table.shape[-1]))
        found = table @ basis.reshape(len(basis), -1)
        return np.asarray(found).reshape(*table.shape[:-1], count, 2)
    sides = np.empty((*table.shape[:-1], count, 2))
    for i, both in enumerate(_folded_from_above(table, factors.values)):
        np.vecdot(both, factors.chain[i][..., None, :], out=sides[..., i, :])
    return sides


def pairs(factors: Factors, table: FloatArray, probe: FloatArray) -> FloatArray:
    """The table folded with the probes (…, m, 2) of two players for their factors: (..., m, m).

    Probes (-1, 1) make these the second derivatives; (0, 1) the sums over the
    coalitions that have both. The diagonal is zero.
    """
    if factors.count <= 1:
        return np.zeros((*table.shape[:-1], factors.count, factors.count))
    low = factors.count // 2
    halves = Halves(factors.values, low)
    # One row per coalition of the high players, one column per coalition of the low ones.
    matrix = table.reshape(*table.shape[:-1], -1, 2**low)
    of_low = (halves.high[..., None, :] @ matrix)[..., 0, :]
    of_high = probed(halves.below, probe[..., :low, :]) @ matrix.swapaxes(-1, -2)
    across = halves.across(of_high[..., 1:, :], probe)
    return halves.pairs(of_low, of_high[..., 0, :], across, probe)


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
    """The products over one more player."""
    grown = factors[..., :, None] * products[..., None, :]
    return np.asarray(grown.reshape(*grown.shape[:-2], -1))
