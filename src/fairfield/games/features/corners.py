"""The model's outputs at the corners of many cubes, each shared corner once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.coalitions import members, spell
from fairfield.evaluation.outcomes import WorthError
from fairfield.games.features.rows import Matrix
from fairfield.games.features.subcubes import (
    LARGEST_KEY,
    Cubes,
    Group,
    Sums,
    groups_of,
    of_output,
    spread,
)

# Rows held at once, among which shared corners are found, and the bytes they may take.
MOST_ROWS, MOST_BYTES = 2**18, 2**28
# The model's first call is small, so that a slow one is noticed early; then calls grow.
FIRST_CALL, GROWTH, LARGEST_CALL = 2**10, 4, 2**16


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
        """The outputs (…, corners) of all corners from those of the ``kept`` rows."""
        found = np.empty((*outputs.shape[:-1], self.kept + len(self._repeated)))
        found[..., : self.kept] = outputs
        found[..., self._moved] = outputs[..., self._holes]
        found[..., self._repeated] = found[..., self._owners]
        return found


class Tables:
    """The tables of all explained rows, filled as the model answers.

    ``predict(rows)`` gives the outputs (k, columns) of model rows, of which explained row i
    reads those numbered ``column[i]``, a table for each; ``done(count)`` is called with how many
    are done, shared ones included.
    """

    def __init__(
        self,
        cubes: Cubes,
        predict: Callable[[Matrix], FloatArray],
        column: IntArray,
        done: Callable[[int], object],
    ) -> None:
        self.cubes, self.predict, self.column, self.done = cubes, predict, column, done
        room = most_rows(cubes.rows)
        self.bits = room.bit_length() - 1
        self.buffer = np.empty((room, cubes.rows.shape[1]), dtype=cubes.rows.dtype)
        self.used, self.call = 0, FIRST_CALL
        self.pending: list[Piece] = []
        self.sums: Sums = {}

    def fill(self) -> FloatArray:
        """All worths, (N, outputs, 2^n)."""
        count = len(self.cubes.players)
        worths = np.full((*self.column.shape, 2**count), np.nan)
        for x, sums in self.summed():
            for output, worth in enumerate(worths[x]):
                worth[:] = spread(of_output(sums, output), count) / self.cubes.weights.sum()
        return worths

    def summed(self) -> Iterator[tuple[int, Sums]]:
        """Each explained row, and the outputs summed over the background rows of equal D."""
        for x in range(len(self.cubes.rows)):
            yield from self._add(x)
        yield from self._flush()

    def _add(self, x: int) -> Iterator[tuple[int, Sums]]:
        """Write the cubes of one explained row, calling the model when the buffer is full."""
        whole, piece = len(self.buffer), Piece(x, self.used)
        groups = list(groups_of(self.cubes.differing(x), self.bits))
        total = sum(group.corners for group in groups)
        if total <= whole < self.used + total:
            yield from self._flush()  # shared corners are found among rows that lie together
            piece.start = 0
        for group in groups:
            at = 0
            while at < len(group.which):
                fit = whole - self.used >> group.free
                if not fit:
                    self._close(piece)
                    yield from self._flush()
                    piece = Piece(x, 0)
                    continue
                some = group.some(slice(at, at + fit))
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

    def _flush(self) -> Iterator[tuple[int, Sums]]:
        """Add up the model's outputs for the rows in the buffer; what is complete is given."""
        if not self.pending:
            return
        outputs = self._outputs()
        for piece in self.pending:
            own = outputs[piece.start : piece.start + piece.kept, self.column[piece.x]]
            found = piece.restore(own.T)
            at = 0
            for group in piece.groups:
                self._place(piece.x, group, found[:, at : at + group.corners])
                at += group.corners
            if piece.last:
                yield piece.x, self.sums
                self.sums = {}
        self.pending, self.used = [], 0

    def _outputs(self) -> FloatArray:
        """The model's outputs for the rows in the buffer, call by call."""
        corners = sum(group.corners for piece in self.pending for group in piece.groups)
        parts, at = [], 0
        while at < self.used:
            end = min(at + self.call, self.used)
            # A copy, since models may return the same array at every call.
            parts.append(self.predict(self.buffer[at:end]).copy())
            # Shared corners count as done with the rows around them.
            self.done(corners * end // self.used - corners * at // self.used)
            at, self.call = end, min(self.call * GROWTH, LARGEST_CALL)
        return np.concatenate(parts)

    def _place(self, x: int, group: Group, outputs: FloatArray) -> None:
        """Add a group's outputs to the sums of its patterns D."""
        values = outputs.reshape(len(outputs), len(group.which), -1)
        if not np.isfinite(values).all():
            raise WorthError(self._refusal(x, group, values))
        values = values * self.cubes.weights[group.which, None]
        patterns = group.patterns
        edges = np.flatnonzero(np.concatenate([[True], patterns[1:] != patterns[:-1]]))
        part = slice(group.fixed << group.free, (group.fixed + 1) << group.free)
        totals = np.add.reduceat(values, edges, axis=1)
        for pattern, total in zip(patterns[edges].tolist(), totals.swapaxes(0, 1), strict=True):
            if pattern not in self.sums:
                self.sums[pattern] = np.zeros((len(values), 1 << group.order.shape[1]))
            self.sums[pattern][:, part] += total

    def _refusal(self, x: int, group: Group, values: FloatArray) -> str:
        output, row, corner = np.argwhere(~np.isfinite(values))[0]
        bits = int(corner) | group.fixed << group.free
        inside = np.ones(len(self.cubes.players), dtype=bool)
        inside[group.order[row]] = [bool(bits >> k & 1) for k in range(group.order.shape[1])]
        return (
            f"the model's output is {values[output, row, corner]} where row {x} keeps "
            f"{spell(members(inside, self.cubes.players))} and a background row gives the others; "
            "every output must be a finite number"
        )


def most_rows(table: Matrix) -> int:
    """How many rows of such a table go to the model at once."""
    return max(1, min(MOST_ROWS, MOST_BYTES // (int(table.shape[1]) * table.itemsize)))
