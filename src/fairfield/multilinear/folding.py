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

from functools import cached_property

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Update

# Up to this many players a table is folded player by player, which takes calls; larger
# ones are split by matrix products, unless there are more than SPLIT of them: NumPy's
# products of many small matrices are slow.
FEW, SPLIT = 11, 16

DERIVATIVE = np.array([-1.0, 1.0])
INSIDE = np.array([0.0, 1.0])


def probabilities(x: FloatArray) -> FloatArray:
    """The factors (1 - x_i, x_i) of players who join independently: (..., m, 2)."""
    return np.stack([1 - x, x], axis=-1)


class Law:
    """Factors of m players, (..., m, 2), and their products, computed once.

    >>> Law(probabilities(np.array([0.75, 0.5]))).whole.tolist()
    [0.125, 0.375, 0.125, 0.375]
    """

    def __init__(self, factors: FloatArray) -> None:
        self.factors = factors
        self.count = factors.shape[-2]

    @cached_property
    def whole(self) -> FloatArray:
        """The product of all players' factors, one entry per coalition: (..., 2^m)."""
        if self.count <= FEW:
            return self.chain[-1]
        both = self.halves.high[..., :, None] * self.halves.low[..., None, :]
        return np.asarray(both.reshape(*both.shape[:-2], -1))

    @cached_property
    def chain(self) -> list[FloatArray]:
        """The laws of the first 0, 1, …, m players."""
        chain = [np.ones((*self.factors.shape[:-2], 1))]
        for i in range(self.count):
            chain.append(_with_player(chain[-1], self.factors[..., i, :]))
        return chain

    @cached_property
    def halves(self) -> Halves:
        return Halves(self.factors, self.count // 2)


class Halves:
    """The factors of the ``low`` first players and of the others.

    Where these are equally many they make one law with one more axis: where tables are
    small, it is calls that cost.
    """

    def __init__(self, factors: FloatArray, low: int) -> None:
        self.below, self.above = factors[..., :low, :], factors[..., low:, :]
        self.equal = self.below.shape == self.above.shape
        parts = [np.stack([self.below, self.above])] if self.equal else [self.below, self.above]
        self.laws = [Law(part) for part in parts]

    @property
    def low(self) -> FloatArray:
        """The law of the low players."""
        return self.laws[0].whole[0] if self.equal else self.laws[0].whole

    @property
    def high(self) -> FloatArray:
        """The law of the high players."""
        return self.laws[-1].whole[1] if self.equal else self.laws[-1].whole

    def faces(self, of_low: FloatArray, of_high: FloatArray) -> FloatArray:
        """The faces of all players, from the low players' table and the high players' table."""
        if self.equal:
            both = list(faces(np.stack([of_low, of_high]), self.laws[0]))
        else:
            both = [
                faces(table, law) for table, law in zip((of_low, of_high), self.laws, strict=True)
            ]
        return np.concatenate(both, axis=-2)

    def across(self, of_high: FloatArray, probe: FloatArray) -> FloatArray:
        """All pairs of a low and a high player, (..., low, high).

        ``of_high`` are the high players' tables in which each low player carries his probe.
        """
        sides = faces(of_high, Law(self.above[..., None, :, :]))
        own = probe[..., self.below.shape[-2] :, :]
        return np.asarray(np.vecdot(sides, own[..., None, :, :]))

    def pairs(
        self, of_low: FloatArray, of_high: FloatArray, across: FloatArray, probe: FloatArray
    ) -> FloatArray:
        """All pairs, from the low players' table, the high players' table and the pairs across.

        Every player has a probe of his own.
        """
        low, count = self.below.shape[-2], self.below.shape[-2] + self.above.shape[-2]
        probes = probe[..., :low, :], probe[..., low:, :]
        joined = np.empty((*of_low.shape[:-1], count, count))
        if self.equal:
            within = list(pairs(np.stack([of_low, of_high]), self.laws[0], np.stack(probes)))
        else:
            parts = zip((of_low, of_high), self.laws, probes, strict=True)
            within = [pairs(table, law, own) for table, law, own in parts]
        joined[..., :low, :low], joined[..., low:, low:] = within
        joined[..., :low, low:] = across
        joined[..., low:, :low] = across.swapaxes(-1, -2)
        return joined


def with_probes(factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The factors, then with each player in turn carrying his ``probe``: (..., m + 1, m, 2)."""
    count = factors.shape[-2]
    own = np.eye(count + 1, count, -1, dtype=bool)[..., None]
    return np.where(own, probe[..., None, :, :], factors[..., None, :, :])


def probed(factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The law, then the law with each player in turn carrying his ``probe``: (..., m + 1, 2^m)."""
    return Law(with_probes(factors, probe)).whole


def faces(table: FloatArray, law: Law) -> FloatArray:
    """What the others make of the table with player i out, and in: (..., m, 2).

    With probabilities as factors these are f(x | x_i←0) and f(x | x_i←1): their
    difference is the gradient. No term is subtracted, so sums of positive tables
    keep their relative accuracy.
    """
    if law.factors.size == 2 * law.count and table.size > 4 * table.shape[-1] ** 2:
        # Factors shared by many tables: the answer is linear in the table, so fold
        # the unit tables once and leave the rest to one matrix product.
        basis = faces(np.eye(table.shape[-1]), Law(law.factors.reshape(-1, 2)))
        found = table @ basis.reshape(len(basis), -1)
        return np.asarray(found).reshape(*table.shape[:-1], law.count, 2)
    if law.count > FEW and table.size <= SPLIT << law.count:
        matrix = _as_matrix(table, law)
        of_low = (law.halves.high[..., None, :] @ matrix)[..., 0, :]
        return law.halves.faces(of_low, (matrix @ law.halves.low[..., None])[..., 0])
    sides = np.empty((*table.shape[:-1], law.count, 2))
    for i, halves in enumerate(_folded_from_above(table, law.factors)):
        np.vecdot(halves, law.chain[i][..., None, :], out=sides[..., i, :])
    return sides


def pairs(table: FloatArray, law: Law, probe: FloatArray) -> FloatArray:
    """The table folded with the probes (…, m, 2) of two players for their factors: (..., m, m).

    Probes (-1, 1) make these the second derivatives; (0, 1) the sums over the
    coalitions that hold both. The diagonal is zero.
    """
    if law.count <= 1:
        return np.zeros((*table.shape[:-1], law.count, law.count))
    matrix, halves = _as_matrix(table, law), law.halves
    of_low = (halves.high[..., None, :] @ matrix)[..., 0, :]
    low = halves.below.shape[-2]
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


def _as_matrix(table: FloatArray, law: Law) -> FloatArray:
    """One row per coalition of the high players, one column per coalition of the low ones."""
    return table.reshape(*table.shape[:-1], -1, 2 ** (law.count // 2))


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
