"""All worths of feature games, by sub-cubes.

Let D be the players in which a background row b differs from the explained row x. The
model's output on (x on S, b elsewhere) depends on S ∩ D alone, so b needs 2^|D| model rows
instead of 2^n. They are the corners of a cube, written by doubling: all of b, then a copy
with one more player taken from x, and so on. A corner that two background rows share is
asked of the model once. What the model says is summed over the rows of equal D, and the
sums are spread over the players outside D one player at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fairfield.coalitions import BoolArray, IntArray, members, rows_of, spell
from fairfield.evaluation.workers import WorthError
from fairfield.game import Player
from fairfield.games.tabular import Matrix
from fairfield.multilinear import FloatArray

# Rows that reach the model at once, and the bytes they may take.
MOST_ROWS, MOST_BYTES = 2**17, 2**28
# Keys of corners stay below this, so that a few of them can be added.
LARGEST_KEY = 2**56


@dataclass(frozen=True)
class Cubes:
    """Explained rows x, background rows b with their weights, and who differs where.

    ``row_codes`` (N, n) and ``codes`` (m, n) agree exactly where a player has the same
    values; ``owned`` (n, columns) says which columns are a player's.
    """

    players: tuple[Player, ...]
    rows: Matrix
    background: Matrix
    weights: FloatArray
    row_codes: IntArray
    codes: IntArray
    owned: BoolArray

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
        return sum(
            int((1 << self.differing(x).sum(axis=1)).sum()) for x in range(len(self.row_codes))
        )


@dataclass(frozen=True)
class Group:
    """Background rows that differ from x in equally many players, and their cubes.

    ``order`` (c, d) lists those players. The first ``free`` of them span the cube held
    here; the others are taken from x where ``fixed`` has a bit.
    """

    which: IntArray
    order: IntArray
    free: int
    fixed: int

    @property
    def corners(self) -> int:
        return len(self.which) << self.free

    def write(self, cubes: Cubes, x: int, into: Matrix) -> None:
        """Write the corners' model rows, all of b first, into (corners, columns)."""
        block = into.reshape(len(self.which), 1 << self.free, into.shape[-1])
        explained = cubes.rows[x]
        block[:, 0] = cubes.background[self.which]
        for player in self._fixed():
            np.copyto(block[:, 0], explained, where=cubes.owned[player])
        corners = np.arange(1 << self.free)
        for k in range(self.free):
            upper = slice(1 << k, 2 << k)
            block[:, upper] = block[:, : 1 << k]
            cube, column = np.nonzero(cubes.owned[self.order[:, k]])
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


@dataclass
class Piece:
    """Cubes of one explained row that lie side by side in the buffer."""

    x: int
    start: int
    last: bool = False
    groups: list[Group] = field(default_factory=list)
    kept: int = 0

    def compact(self, cubes: Cubes, rows: Matrix) -> None:
        """Drop shared corners from ``rows``; what is left are the first ``kept``."""
        keys = [np.concatenate([g.keys(d) for g in self.groups]) for d in cubes.digits]
        count = len(keys[0])
        candidates = np.flatnonzero(keys[0] < LARGEST_KEY)
        chosen = [key[candidates] for key in keys]
        joint = chosen[0] if len(keys) == 1 else np.stack(chosen, axis=1)
        _, first, inverse = np.unique(joint, axis=0, return_index=True, return_inverse=True)
        owners = candidates[first[inverse.ravel()]]
        repeats = owners != candidates
        self._repeated, self._owners = candidates[repeats], owners[repeats]
        self.kept = count - len(self._repeated)
        # The holes are filled from the end, so that few rows move.
        self._holes = self._repeated[self._repeated < self.kept]
        ends = np.ones(count - self.kept, dtype=bool)
        ends[self._repeated[self._repeated >= self.kept] - self.kept] = False
        self._moved = self.kept + np.flatnonzero(ends)
        rows[self._holes] = rows[self._moved]

    def restore(self, outputs: FloatArray) -> FloatArray:
        """The outputs of all corners from those of the ``kept`` rows."""
        found = np.empty(self.kept + len(self._repeated))
        found[: self.kept] = outputs
        found[self._moved] = outputs[self._holes]
        found[self._repeated] = found[self._owners]
        return found


class Tables:
    """The tables of all explained rows, filled as the model answers.

    ``ask(rows, x)`` gives the outputs of model rows; ``done(count)`` hears how many were
    asked for, repeats included.
    """

    def __init__(
        self,
        cubes: Cubes,
        ask: Callable[[Matrix], FloatArray],
        column: IntArray,
        done: Callable[[int], object],
    ) -> None:
        self.cubes, self.ask, self.column, self.done = cubes, ask, column, done
        room = most_rows(cubes.rows)
        self.bits = room.bit_length() - 1
        self.buffer = np.empty((room, cubes.rows.shape[1]), dtype=cubes.rows.dtype)
        self.used = 0
        self.pending: list[Piece] = []
        self.sums: dict[int, FloatArray] = {}
        self.worths = np.empty((len(cubes.rows), 2 ** len(cubes.players)))

    def fill(self) -> FloatArray:
        """All worths, (N, 2^n)."""
        for x in range(len(self.worths)):
            self._add(x)
        self._flush()
        return self.worths

    def _add(self, x: int) -> None:
        """Write the cubes of one explained row, asking the model when the buffer is full."""
        whole, piece = len(self.buffer), Piece(x, self.used)
        groups = list(_groups(self.cubes.differing(x), self.bits))
        total = sum(group.corners for group in groups)
        if total <= whole < self.used + total:
            self._flush()  # shared corners are found among rows that lie together
            piece.start = 0
        for group in groups:
            at = 0
            while at < len(group.which):
                fit = whole - self.used >> group.free
                if not fit:
                    self._close(piece)
                    self._flush()
                    piece = Piece(x, 0)
                    continue
                part = slice(at, at + fit)
                some = Group(group.which[part], group.order[part], group.free, group.fixed)
                some.write(self.cubes, x, self.buffer[self.used : self.used + some.corners])
                self.used += some.corners
                piece.groups.append(some)
                at += fit
        piece.last = True
        self._close(piece)

    def _close(self, piece: Piece) -> None:
        if not piece.groups:
            return  # the buffer was full before it began
        piece.compact(self.cubes, self.buffer[piece.start : self.used])
        self.used = piece.start + piece.kept
        self.pending.append(piece)

    def _flush(self) -> None:
        """Ask the model for what lies in the buffer and add it up."""
        if not self.pending:
            return
        outputs = self.ask(self.buffer[: self.used])
        asked = 0
        for piece in self.pending:
            own = outputs[piece.start : piece.start + piece.kept, self.column[piece.x]]
            found = piece.restore(own)
            at = 0
            for group in piece.groups:
                self._place(piece.x, group, found[at : at + group.corners])
                at += group.corners
            asked += at
            if piece.last:
                total = spread(self.sums, len(self.cubes.players))
                self.worths[piece.x] = total / self.cubes.weights.sum()
                self.sums = {}
        self.done(asked)
        self.pending, self.used = [], 0

    def _place(self, x: int, group: Group, outputs: FloatArray) -> None:
        """Add a group's outputs to the sums of its patterns D."""
        values = outputs.reshape(len(group.which), -1)
        if not np.isfinite(values).all():
            raise WorthError(self._complaint(x, group, values))
        values = values * self.cubes.weights[group.which, None]
        patterns = (np.int64(1) << group.order).sum(axis=1)
        edges = np.flatnonzero(np.concatenate([[True], patterns[1:] != patterns[:-1]]))
        part = slice(group.fixed << group.free, (group.fixed + 1) << group.free)
        for pattern, total in zip(
            patterns[edges].tolist(), np.add.reduceat(values, edges, axis=0), strict=True
        ):
            if pattern not in self.sums:
                self.sums[pattern] = np.zeros(1 << group.order.shape[1])
            self.sums[pattern][part] += total

    def _complaint(self, x: int, group: Group, values: FloatArray) -> str:
        row, corner = np.argwhere(~np.isfinite(values))[0]
        bits = int(corner) | group.fixed << group.free
        inside = np.ones(len(self.cubes.players), dtype=bool)
        inside[group.order[row]] = [bool(bits >> k & 1) for k in range(group.order.shape[1])]
        return (
            f"the model's output is {values[row, corner]} where row {x} keeps "
            f"{spell(members(inside, self.cubes.players))} and a background row gives the others; "
            "every output must be a finite number"
        )


def most_rows(table: Matrix) -> int:
    """How many rows of such a table go to the model at once."""
    return max(1, min(MOST_ROWS, MOST_BYTES // (int(table.shape[1]) * table.itemsize)))


def spread(sums: dict[int, FloatArray], players: int) -> FloatArray:
    """F(S) = Σ_P sums[P][S ∩ P] for every coalition S: a table of 2^n worths.

    Bit k of a row number of ``sums[P]`` is the k-th player of P. Player by player, the
    tables over P become tables over everyone so far and the rest of P, and those whose
    rest is the same are added; no table is larger than it must be. O(2^n) additions per
    different rest, without cancellation.

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


def _groups(differing: BoolArray, bits: int) -> Iterator[Group]:
    """The cubes of one explained row, in parts of at most 2^bits corners."""
    depths = differing.sum(axis=1)
    patterns = rows_of(differing)
    for depth in np.unique(depths):
        which = np.flatnonzero(depths == depth)
        which = which[np.argsort(patterns[which], kind="stable")]
        order = np.nonzero(differing[which])[1].reshape(len(which), depth)
        free = min(int(depth), bits)
        for fixed in range(1 << int(depth) - free):
            yield Group(which, order, free, fixed)
