"""What each test row says of a coalition, where a worth is a mean over test rows.

A linear reading Σ_S c_i(S) F(S) of such worths is itself a mean over test rows, of the same reading
of what each row says; so its covariance over them is exact, from the fits that were made anyway.
Scores of rows are kept outside memory, in a temporary file if they are many, one bit each where all
are 0 or 1, and read in one pass.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.runtime.notices import warn
from fairfield.evaluation.kept import Keys, unpack

# No more than this is written to the temporary file; errors are then left out.
MOST_BYTES = 2**32
# Up to so many bytes stay in memory.
IN_MEMORY = 2**24
# A block of coalitions that is read at once has about so many scores.
WORKED_ON = 2**22

_BITS, _NUMBERS = b"b", b"f"

# From coalitions (m, n) to the coefficient of each in every value, (m, n) or one for each game.
Coefficients = Callable[[BoolArray], FloatArray]


def encode(scores: FloatArray) -> bytes:
    """Scores as bytes, bits where all of them are 0 or 1.

    >>> len(encode(np.ones((2, 12)))), len(encode(np.full((2, 12), 0.5)))
    (4, 193)
    """
    ones = scores == 1
    if (ones | (scores == 0)).all():
        return _BITS + np.packbits(ones).tobytes()
    return _NUMBERS + np.ascontiguousarray(scores, dtype="<f8").tobytes()


def decode(packed: bytes, shape: tuple[int, ...]) -> FloatArray:
    """The scores of a shape that were encoded."""
    if packed[:1] == _BITS:
        bits = np.frombuffer(packed, np.uint8, offset=1)
        return np.unpackbits(bits, count=int(np.prod(shape))).reshape(shape).astype(float)
    return np.frombuffer(packed, "<f8", offset=1).reshape(shape)


class RowScores:
    """The scores (games, rows) of coalitions in a temporary file, each coalition once."""

    def __init__(self, players: int, games: int, rows: int) -> None:
        self.players, self.games, self.rows = players, games, rows
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # kept as long as this is
        weakref.finalize(self, self._file.close)
        # Where the scores of a coalition begin, and how many bytes they take.
        self._places: dict[bytes, tuple[int, int]] = {}
        self._full = False
        self._only = slice(None)
        self._made_by: RowScores | None = None

    def game(self, place: int) -> RowScores:
        """The scores of one of the games, in the same file."""
        one = copy(self)
        # The file is closed with the object that made it, so that is kept.
        one._only, one._made_by = slice(place, place + 1), self
        return one

    def add(self, keys: Keys, scores: FloatArray) -> None:
        """Keep the scores (m, games, rows) of coalitions that are not there yet."""
        for key, own in zip(keys.tolist(), scores, strict=True):
            if key in self._places or self._full:
                continue
            packed = encode(own)
            self._file.seek(0, 2)
            at = self._file.tell()
            if at + len(packed) > MOST_BYTES:
                self._full = True
                self._file.truncate(0)
                warn(
                    f"scores of {self.rows:,} test rows take more than {MOST_BYTES / 2**30:.0f} GiB, so "
                    "values have no errors over test rows; give fewer test rows, or players"
                )
                continue
            self._file.write(packed)
            self._places[key] = at, len(packed)

    def covers(self, keys: Keys) -> bool:
        """Whether the scores of all these coalitions are there."""
        return not self._full and all(key in self._places for key in keys.tolist())

    @property
    def complete(self) -> bool:
        """Whether the scores of all 2^n coalitions are there."""
        return not self._full and len(self._places) == 2**self.players

    def _blocks(self) -> Iterator[tuple[BoolArray, FloatArray]]:
        """Coalitions (m, n) and their scores (m, games, rows), block by block.

        In one order however they came, so that sums have the same bits.
        """
        step = max(1, WORKED_ON // (self.games * self.rows))
        keys = sorted(self._places)
        for start in range(0, len(keys), step):
            some = keys[start : start + step]
            scores = np.empty((len(some), self.games, self.rows))
            for own, key in zip(scores, some, strict=True):
                at, length = self._places[key]
                self._file.seek(at)
                own[:] = decode(self._file.read(length), own.shape)
            yield unpack(np.array(some, dtype=f"S{(self.players + 7) // 8}"), self.players), scores

    def covariance(self, coefficients: Coefficients, values: int) -> FloatArray:
        """The covariance over test rows of Σ_S c(S) F(S), a mean of rows: (games, values, values)."""
        read = np.zeros((len(range(self.games)[self._only]), self.rows, values))
        for coalitions, every in self._blocks():
            scores = every[:, self._only]
            # What all rows share moves nothing, and would only cost digits.
            apart = scores - scores.mean(axis=-1, keepdims=True)
            weights = np.asarray(coefficients(coalitions)).reshape(-1, len(coalitions), values)
            read += apart.transpose(1, 2, 0) @ weights
        read -= read.mean(axis=1, keepdims=True)
        return np.asarray(read.swapaxes(1, 2) @ read / (self.rows * (self.rows - 1)))
