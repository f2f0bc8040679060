"""A table of 2^n worths as a matrix M: one row per coalition of the high players, one
column per coalition of the low ones.

The table is read in passes over M: products with weights of the high players from the
left and of the low players from the right, sums by the size of coalitions, largest worths.
A pass takes blocks that fit the cache, or on a device all at once; what is left are tables
of about 2^(n/2) entries, which go to the host.

The big table is read in blocks from here alone. Its operations go through the array's own
namespace, so the table may live on any device; it is never copied, centred or converted as
a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, beside, compiler, on_host
from fairfield.core.coalitions import enumerate_coalitions

# Worths in a block: 4 MB of float64 stay in the last-level cache between the two
# products, and are enough work for BLAS to share among threads.
BLOCK = 2**19
# Worths in a block that is worked on further: 1 MB, inside the second-level cache.
CACHED = 2**17
# On a device a block is bounded by the memory that work on it takes: ½ GB a copy.
ON_DEVICE = 2**26
# A pass over so many worths is worth compiling a kernel, which takes seconds.
COMPILED = 2**29
# Reading so many worths on a device takes longer than the host takes to prepare a product.
MANY = 2**26
# A kernel counts its entries in 32 bits, which is faster.
ONE_CALL = 2**30

Lift = Callable[[Any, Any], Any]
Compiler = Callable[[Any], Any]


@dataclass(frozen=True)
class WorthMatrix:
    """The tables of a batch of games as matrices (games, 2^high, 2^low).

    ``shift`` is subtracted from every worth as it is read; with a ``lift``, what is read
    is not F but lift(rate · (F - shift)), elementwise. Both are done in the precision of
    the table, all sums in float64.
    """

    entries: Any
    shift: FloatArray | None = None
    rate: FloatArray | None = None
    lift: Lift | None = None

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        games, height, width = self.entries.shape
        return int(games), int(height), int(width)

    @cached_property
    def low(self) -> int:
        """The number of low players."""
        return self.shape[2].bit_length() - 1

    @cached_property
    def high(self) -> int:
        """The number of high players."""
        return self.shape[1].bit_length() - 1

    @property
    def eps(self) -> float:
        """The rounding of a worth as it is stored."""
        return 2.0**-52 if self.entries.dtype == self.namespace.float64 else 2.0**-23

    @property
    def together(self) -> int:
        """How many worths of games to solve at once: 8 MB stay in cache between steps."""
        return 2**20 if self.in_numpy else ON_DEVICE

    def corner(self, at: int) -> FloatArray:
        """F(∅) of every game, or F(N): the first entry or the last."""
        return np.asarray(on_host(self.entries[:, at, at]))

    def games(self, chosen: slice | NDArray[np.int64]) -> WorthMatrix:
        """The matrices of some games."""
        xp = self.namespace
        if isinstance(chosen, slice):
            entries = self.entries[chosen, ...]
        else:
            entries = xp.take(self.entries, beside(self.entries, chosen), axis=0)
        shift, rate = (None if each is None else each[chosen] for each in (self.shift, self.rate))
        return replace(self, entries=entries, shift=shift, rate=rate)

    def shifted(self, shift: FloatArray | None) -> WorthMatrix:
        """The worths less a constant per game."""
        return replace(self, shift=None if shift is None else self._rounded(shift))

    def lifted(self, shift: FloatArray, rate: FloatArray, lift: Lift) -> WorthMatrix:
        """lift(rate · (F - shift)), one shift and rate per game."""
        return replace(self, shift=self._rounded(shift), rate=rate, lift=lift)

    # ------------------------------------------------------------------ passes

    def fold(self, high: FloatArray | None, low: FloatArray | None) -> tuple[Any, Any]:
        """w_hᵀ M and M w_l for k weights each, (1 or games, k, ·), in one pass; None for none."""
        if not self.in_numpy:
            sides = (None if each is None else beside(self.entries, each) for each in (high, low))
            below, above = self.products(*sides)
            return None if high is None else on_host(below), None if low is None else on_host(above)
        games, height, width = self.shape
        of_low: Any = None if high is None else np.zeros((games, high.shape[1], width))
        of_high: Any = None if low is None else np.empty((games, height, low.shape[1]))
        for some, rows in self.blocks(self.lift is not None):
            block = self.read(some, rows)
            if high is not None:
                of_low[some] += (high if len(high) == 1 else high[some])[:, :, rows] @ block
            if low is not None:
                of_high[some, rows] = block @ (low if len(low) == 1 else low[some]).swapaxes(1, 2)
        return of_low, None if of_high is None else of_high.swapaxes(1, 2)

    def products(self, high: Any, low: Any) -> tuple[Any, Any]:
        """As :meth:`fold`, for weights on the table's device, with the answers left there.

        All kernels are launched before the first answer is waited for.
        """
        single = all(each is None or each.shape[1] == 1 for each in (high, low))
        compiled = self._compile if single else None
        changes = [self._per_game(each, slice(None)) for each in (self.shift, self.rate)]
        of_low, of_high = [], []
        for rows in self._row_blocks(compiled is not None):
            block = self._rows(rows)
            left = None if high is None else high[:, :, rows]
            if compiled is None:
                below, above = self._multiplied(block, changes, left, low)
            else:
                below, above = self._summed(compiled, block, changes, left, low)
            of_low.append(below)
            of_high.append(above)
        return (
            None if high is None else sum(of_low[1:], of_low[0]),
            None if low is None else _joined(self.namespace, of_high),
        )

    def _multiplied(self, block: Any, changes: list[Any], left: Any, right: Any) -> tuple[Any, Any]:
        """The products of a block with weights of its rows and of its columns."""
        xp = self.namespace
        block = _prepare(xp, self.lift, block, *changes)
        above = None if right is None else right @ xp.matrix_transpose(block)
        return None if left is None else left @ block, above

    def _summed(
        self, compiled: Compiler, block: Any, changes: list[Any], left: Any, right: Any
    ) -> tuple[Any, Any]:
        """The same for one weight each, by kernels that prepare entries as they read them."""
        xp = self.namespace
        weights = None if left is None else xp.matrix_transpose(left), right
        below, above = (
            None
            if each is None
            else compiled(_weighted_sum(xp, self.lift, axis))(block, *changes, each)[:, None, :]
            for axis, each in zip((1, 2), weights, strict=True)
        )
        return below, above

    def _row_blocks(self, compiled: bool) -> list[slice]:
        """Rows of all games that are worked on at once on a device."""
        games, height, width = self.shape
        # Entries as they are need no memory beside them; a kernel numbers its own in 32 bits.
        size = ONE_CALL if compiled else ON_DEVICE if self.changes else games * height * width
        step = max(1, min(height, size // (games * width)))
        return [slice(row, row + step) for row in range(0, height, step)]

    def _rows(self, rows: slice) -> Any:
        # A slice of everything is a copy in some libraries.
        return self.entries if rows.stop - rows.start >= self.shape[1] else self.entries[:, rows, :]

    def log_sums(self, rate: FloatArray, bias: FloatArray) -> tuple[FloatArray, FloatArray]:
        """log Σ exp(rate · (F - shift) + bias · z) over the rows, and over the columns.

        Shaped (games, 2^low) and (games, 2^high). Each row and each column is shifted by
        its own maximum, so nothing underflows however large the rate.
        """
        xp, (games, height, width) = self.namespace, self.shape
        add_low = beside(self.entries, enumerate_coalitions(self.low) @ bias[: self.low])
        add_high = beside(self.entries, enumerate_coalitions(self.high) @ bias[self.low :])
        speed = beside(self.entries, rate.reshape(games, 1, 1))
        tops = np.full((games, width), -np.inf)
        sums = np.zeros((games, width))
        of_rows = np.empty((games, height))
        for some, rows in self.blocks(worked_on=True):
            block = self.read(some, rows) * speed[some, ...]
            block = block + (add_low + add_high[rows][:, None])
            top = xp.max(block, axis=2, keepdims=True)
            logs = top[..., 0] + xp.log(xp.sum(xp.exp(block - top), axis=2))
            of_rows[some, rows] = on_host(logs)
            higher = np.maximum(tops[some], on_host(xp.max(block, axis=1)))
            sums[some] *= np.exp(tops[some] - higher)
            rest = block - beside(self.entries, higher[:, None])
            sums[some] += on_host(xp.sum(xp.exp(rest), axis=1))
            tops[some] = higher
        return tops + np.log(sums), of_rows

    def highest_among(self, rows: BoolArray, columns: BoolArray) -> FloatArray:
        """The largest worth in some rows and columns, per game."""
        xp = self.namespace
        highest = np.full(self.shape[0], -np.inf)
        for some, part in self.blocks(worked_on=True):
            inside = beside(self.entries, rows[part, None] & columns)
            block = xp.where(inside, self.entries[some, part, :], -xp.inf)
            highest[some] = np.maximum(highest[some], on_host(xp.max(block, axis=(1, 2))))
        return highest

    def second_differences(self, i: int, j: int) -> tuple[FloatArray, FloatArray]:
        """The least and the largest Δ_ij F(S) over all S ∌ i < j, per game."""
        xp, (games, height, width) = self.namespace, self.shape
        shape = (games, height * width >> (j + 1), 2, 2 ** (j - 1 - i), 2, 2**i)
        table = xp.reshape(self.entries, shape)
        with_j = table[:, :, 1, :, 1, :] - table[:, :, 1, :, 0, :]
        change = with_j - (table[:, :, 0, :, 1, :] - table[:, :, 0, :, 0, :])
        least, largest = (on_host(extreme(change, axis=(1, 2, 3))) for extreme in (xp.min, xp.max))
        return least, largest

    def gather(self, game: int, rows: NDArray[np.int64]) -> Any:
        """Some rows of one game's matrix."""
        some = slice(game, game + 1)
        block = self.namespace.take(self.entries[some, ...], beside(self.entries, rows), axis=1)
        return self._prepared(block, some)[0, ...]

    # ------------------------------------------------------------------ blocks

    def blocks(self, worked_on: bool) -> Iterator[tuple[slice, slice]]:
        """Which games and which rows make a block, smaller where it is worked on further."""
        games, height, width = self.shape
        if self.in_numpy:
            size = CACHED if worked_on else BLOCK
        else:
            size = ON_DEVICE if worked_on or self.changes else games * height * width
        rows, together = min(height, max(1, size // width)), max(1, size // (height * width))
        for first in range(0, games, together):
            for row in range(0, height, rows):
                yield slice(first, min(first + together, games)), slice(row, row + rows)

    def read(self, games: slice, rows: slice) -> Any:
        """A block of the matrices, shifted and lifted."""
        # A slice of everything is a copy in some libraries.
        whole = (games.stop - games.start, rows.stop - rows.start) == self.shape[:2]
        return self._prepared(self.entries if whole else self.entries[games, rows, :], games)

    def _prepared(self, block: Any, games: slice) -> Any:
        if not self.changes:
            return block
        shift, rate = (self._per_game(each, games) for each in (self.shift, self.rate))
        return _prepare(self.namespace, self.lift, block, shift, rate)

    def _per_game(self, numbers: FloatArray | None, games: slice) -> Any:
        """Numbers per game beside the table, in its precision."""
        if numbers is None:
            return None
        return beside(self.entries, self._rounded(numbers, self._dtype)[games, None, None])

    def _rounded(self, numbers: FloatArray, into: Any = np.float64) -> Any:
        """Finite numbers as the table would store them."""
        most = np.finfo(self._dtype).max
        return np.clip(numbers, -most, most).astype(self._dtype).astype(into)

    @cached_property
    def _dtype(self) -> Any:
        return np.float64 if self.entries.dtype == self.namespace.float64 else np.float32

    @cached_property
    def changes(self) -> bool:
        """Whether entries are not read as they are stored."""
        return self.shift is not None or self.lift is not None or self._dtype != np.float64

    @cached_property
    def in_numpy(self) -> bool:
        """Whether the table is in the memory of the host."""
        return isinstance(self.entries, np.ndarray)

    @cached_property
    def read_once(self) -> bool:
        """Whether it is the reading of the table that takes time, not the number of products."""
        return not self.in_numpy and bool(np.prod(self.shape) >= MANY)

    @cached_property
    def _compile(self) -> Compiler | None:
        """What compiles a pass, where that pays: products need no help with plain entries."""
        if self.in_numpy or not self.changes or np.prod(self.shape) < COMPILED:
            return None
        return compiler(self.entries)

    @cached_property
    def namespace(self) -> Any:
        return array_api_compat.array_namespace(self.entries)


def _prepare(xp: Any, lift: Lift | None, block: Any, shift: Any, rate: Any) -> Any:
    """A block shifted and lifted in its own precision, then in float64."""
    if shift is not None:
        block = block - shift
    if lift is not None:
        # The difference is a new array, so it may be written to.
        block *= rate
        block = lift(xp, block)
    return block if block.dtype == xp.float64 else xp.astype(block, xp.float64)


def _joined(xp: Any, parts: list[Any]) -> Any:
    """Parts along the last axis as one; a single part is not copied."""
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-1)


@cache
def _weighted_sum(xp: Any, lift: Lift | None, axis: int) -> Callable[..., Any]:
    """Σ over an axis of prepared entries times weights, as one function to compile."""

    def weighted_sum(entries: Any, shift: Any, rate: Any, weights: Any) -> Any:
        return xp.sum(_prepare(xp, lift, entries, shift, rate) * weights, axis=axis)

    return weighted_sum
