"""All worths of feature games, by sub-cubes.

Let D be the players in which a background row b differs from the explained row x. The
model's output on (x on S, b elsewhere) depends on S ∩ D alone, so b needs 2^|D| model rows
instead of 2^n. They are the corners of a cube, written by doubling: all of b, then a copy
with one more player taken from x, and so on. Corners have keys, by which those that two
background rows share are found. The model's outputs are summed over the rows of equal D,
and the sums are spread over the players outside D one player at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import rows_of
from fairfield.core.game import Player
from fairfield.games.features.rows import Matrix, Tabular

# Keys of corners stay below this, so that a few of them can be added.
LARGEST_KEY = 2**56
# Outputs by pattern, a set of players as the row of a table: bit k of a row number of
# ``sums[P]`` is the k-th player of P.
Sums: TypeAlias = dict[int, FloatArray]


@dataclass(frozen=True)
class Cubes:
    """Explained rows x, background rows b with their weights, and in which players they differ.

    ``row_codes`` (N, n) and ``codes`` (m, n) agree exactly where a player has the same
    values; ``owned`` (n, columns) is which columns are a player's.
    """

    players: tuple[Player, ...]
    rows: Matrix
    background: Matrix
    weights: FloatArray
    row_codes: IntArray
    codes: IntArray
    owned: BoolArray

    @classmethod
    def of(
        cls,
        tabular: Tabular,
        players: tuple[Player, ...],
        player_of: IntArray,
        weights: FloatArray | None = None,
    ) -> Cubes:
        """Rows by player; equal background rows are one, weighted."""
        own = tabular.row_codes, tabular.background_codes
        owned = np.arange(len(players))[:, None] == player_of
        if len(players) < len(player_of):
            joint = np.concatenate(own)
            groups = [np.unique(joint[:, its], axis=0, return_inverse=True)[1] for its in owned]
            grouped = np.stack([group.ravel() for group in groups], axis=1)
            row_codes, codes = np.split(grouped, [len(own[0])])
        else:
            # Players may be in another order than their columns.
            row_codes, codes = (each[:, np.argsort(player_of)] for each in own)
        distinct, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        sums = np.bincount(which.ravel(), weights).astype(float)
        return cls(
            players, tabular.rows, tabular.background[first], sums, row_codes, distinct, owned
        )

    @cached_property
    def digits(self) -> list[IntArray]:
        """Numbers (m, n) whose sum over the players of K is a key of b on K.

        Two rows with equal keys agree on K. A value that no other background row has
        adds ``LARGEST_KEY``: corners that hold it are like no others. Where the product
        of the numbers of values exceeds that, several keys make one.
        """
        alone = np.zeros(self.codes.shape, dtype=bool)
        digits, sizes = np.zeros_like(self.codes), []
        for i, column in enumerate(self.codes.T):
            _, inverse, counts = np.unique(column, return_inverse=True, return_counts=True)
            shared = counts > 1
            alone[:, i] = ~shared[inverse]
            digits[:, i] = np.where(shared, np.cumsum(shared), 0)[inverse]
            sizes.append(int(shared.sum()) + 1)
        keys, radix = [np.zeros_like(digits)], 1
        for i, size in enumerate(sizes):
            if radix * size > LARGEST_KEY:
                keys.append(np.zeros_like(digits))
                radix = 1
            keys[-1][:, i] = digits[:, i] * radix
            radix *= size
        keys[0][alone] = LARGEST_KEY
        return keys

    def differing(self, x: int) -> BoolArray:
        """(m, n): in which players each background row differs from explained row x."""
        return np.asarray(self.codes != self.row_codes[x])

    def model_rows(self) -> int:
        """Σ 2^|D| over all explained and background rows, shared corners counted twice."""
        return sum(map(self.corners, range(len(self.row_codes))))

    def corners(self, x: int) -> int:
        """Σ 2^|D| over the background rows, for one explained row."""
        depths, counts = np.unique(self.differing(x).sum(axis=1), return_counts=True)
        pairs = zip(depths.tolist(), counts.tolist(), strict=True)
        return sum(count << depth for depth, count in pairs)

    def mattering(self, x: int) -> IntArray:
        """The players in which some background row differs from explained row x."""
        return np.flatnonzero((self.codes != self.row_codes[x]).any(axis=0))


@dataclass(frozen=True)
class Group:
    """Background rows that differ from x in equally many players, and their cubes.

    ``order`` (c, d) lists those players, ``patterns`` are their sets D as rows of a table.
    The first ``free`` players span the cube held here; the others are taken from x where
    ``fixed`` has a bit.
    """

    which: IntArray
    order: IntArray
    patterns: IntArray
    free: int
    fixed: int

    @property
    def corners(self) -> int:
        return len(self.which) << self.free

    def some(self, part: slice) -> Group:
        """The same for some of its background rows."""
        return Group(self.which[part], self.order[part], self.patterns[part], self.free, self.fixed)

    def write(self, cubes: Cubes, x: int, into: Matrix) -> None:
        """Write the corners' model rows, all of b first, into (corners, columns)."""
        block = into.reshape(len(self.which), 1 << self.free, into.shape[-1])
        explained = cubes.rows[x]
        block[:, 0] = cubes.background[self.which]
        for player in self._fixed():
            np.copyto(block[:, 0], explained, where=cubes.owned[player])
        corners = np.arange(1 << self.free)
        for k in range(self.free):
            upper, players = slice(1 << k, 2 << k), self.order[:, k]
            block[:, upper] = block[:, : 1 << k]
            if (players == players[0]).all():  # slices are faster than lists of places
                for own in np.flatnonzero(cubes.owned[players[0]]):
                    block[:, upper, own] = explained[own]
            else:
                cube, column = np.nonzero(cubes.owned[players])
                block[cube[:, None], corners[upper], column[:, None]] = explained[column, None]

    def keys(self, digits: IntArray) -> IntArray:
        """One number per corner, equal where two background rows share it."""
        own = digits[self.which]
        key = np.empty((len(own), 1 << self.free), dtype=np.int64)
        mine = own[np.arange(len(own))[:, None], self.order]
        key[:, 0] = mine.sum(axis=1)
        for player in self._fixed():
            key[:, 0] -= own[np.arange(len(own)), player]
        for k in range(self.free):
            np.subtract(key[:, : 1 << k], mine[:, k, None], out=key[:, 1 << k : 2 << k])
        return key.ravel()

    def _fixed(self) -> Iterator[IntArray]:
        for j in range(self.order.shape[1] - self.free):
            if self.fixed >> j & 1:
                yield self.order[:, self.free + j]


def of_output(sums: Sums, output: int) -> Sums:
    """The sums of one output, from those of several along the first axis."""
    return {pattern: tables[output] for pattern, tables in sums.items()}


def spread(sums: Sums, players: int) -> FloatArray:
    """F(S) = Σ_P sums[P][S ∩ P] for every coalition S: a table of 2^n worths.

    Player by player, the tables over P become tables over everyone so far and the rest of P,
    and those whose rest is the same are added; no table is larger than it must be. O(2^n)
    additions per different rest, without cancellation.

    >>> spread({0b01: np.array([1.0, 2.0]), 0b10: np.array([10.0, 20.0])}, 2)
    array([11., 12., 21., 22.])
    """
    held = {pattern: table[:, None] for pattern, table in sums.items()}
    for _ in range(players):
        after: dict[int, FloatArray] = {}
        for pattern in held:
            rest = pattern >> 1
            if rest in after:
                continue
            inside, outside = held.get(rest << 1 | 1), held.get(rest << 1)
            if inside is None:
                assert outside is not None  # the pattern is one of the two
                joint = np.repeat(outside[:, None], 2, axis=1)
            else:
                joint = inside.reshape(len(inside) // 2, 2, -1)
                if outside is not None:
                    joint = joint + outside[:, None]
            after[rest] = joint.reshape(len(joint), -1)
        held = after
    return np.asarray(held[0][0])


def groups_of(differing: BoolArray, bits: int) -> Iterator[Group]:
    """The cubes of one explained row, in parts of at most 2^bits corners."""
    depths = differing.sum(axis=1)
    patterns = rows_of(differing)
    for depth in np.unique(depths):
        which = np.flatnonzero(depths == depth)
        which = which[np.argsort(patterns[which], kind="stable")]
        order = np.nonzero(differing[which])[1].reshape(len(which), depth)
        free = min(int(depth), bits)
        for fixed in range(1 << int(depth) - free):
            yield Group(which, order, patterns[which], free, fixed)
