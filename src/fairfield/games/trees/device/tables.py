"""Tables of what groups of leaves pay, looked up for rows on a device.

The tables are made on the host. The code of a row follows from two products of matrices: of where
it goes left at some nodes with 1 for each left branch that a bit needs and -1 for each right one,
and of the bits that this gives with powers of two. Rows are worked on in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray, beside, on_host, slabs
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.model import TreeModel
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.tables.diagonal import Diagonal, Some
from fairfield.games.trees.tables.groups import Groups

# Numbers of the largest array that is worked on at once: half a GiB of them.
AT_ONCE = 2**26
# Groups whose codes are found together: few calls, of products that stay small.
TOGETHER = 16


class DeviceRows:
    """Rows on a device, (rows, columns) as given; for NumPy (columns, rows) as the splits see them."""

    def __init__(self, trees: TreeModel, given: Any) -> None:
        self.trees, self.given = trees, given
        self.shape = (given.shape[1], given.shape[0])

    def block(self, some: slice) -> Any:
        """Some rows as the splits see them, on the device: (columns, rows)."""
        turned = self.trees.encode(self.given[some, :]).T
        xp = array_api_compat.array_namespace(turned)
        # Flattened, each column is written in one piece.
        return xp.reshape(xp.reshape(turned, (-1,)), turned.shape)

    @cached_property
    def _on_host(self) -> FloatArray:
        if not self.shape[1]:
            return np.empty(self.shape)  # some libraries refuse to read no rows
        return np.ascontiguousarray(self.trees.encode(on_host(self.given, None)).T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return self._on_host

    def __reduce__(self) -> Any:
        # In another process they are on the host.
        return np.asarray, (self._on_host,)


class Chunk(NamedTuple):
    """The groups low … high - 1, and what their codes are found from, on the device.

    At nodes that split these features, rows go left up to the ``threshold``, and where the feature is
    missing if ``missing_left``. A bit is set where the product of ``branches`` with that is ``needed``,
    and counts for ``powers`` in the code of its group.
    """

    low: int
    high: int
    feature: Any
    threshold: Any
    missing_left: Any
    branches: Any
    needed: Any
    powers: Any


class DeviceDiagonal(Diagonal):
    """Values along the diagonal for rows on a device; no split may be by categories."""

    background: Any

    def __init__(self, nodes: Nodes, degree: Int64s, background: Any) -> None:
        super().__init__(nodes, degree, background)
        self._xp = array_api_compat.array_namespace(background.given)
        self._cut: tuple[Any, list[Chunk]] = (None, [])

    def count(self, groups: Groups, start: Int64s) -> FloatArray:
        xp, counts = self._xp, np.zeros(start[-1])
        for _, coded in self._blocks(self.background, self._chunks(groups)):
            for chunk, codes in coded:
                first, end = start[chunk.low], start[chunk.high]
                every = codes + self._there(start[chunk.low : chunk.high, None] - first, np.int32)
                # Not in the standard, but in every library.
                found = xp.bincount(xp.reshape(every, (-1,)), minlength=int(end - first))
                counts[first:end] += on_host(found)
        return counts

    def look_up(
        self,
        groups: Groups,
        part: Some,
        order: int,
        rows: Any,
        values: FloatArray,
        over: Any = None,
    ) -> None:
        xp, (low, high, _, table) = self._xp, part
        # The chunks at the ends may have groups of another part, which pay nothing here.
        chunks = [each for each in self._chunks(groups) if low < each.high and each.low < high]
        lines = {each.low: self._lines(groups, each, order, part, values) for each in chunks}
        flat, there = values.reshape(-1, values.shape[-1]), self._there(table.reshape(-1))
        everyone = np.unique(np.concatenate([who for who, *_ in lines.values()]))
        widest = max(len(everyone), *(len(who) for who, *_ in lines.values()))
        for block, coded in self._blocks(rows, chunks, widest):
            paid: dict[int, Any] = {}
            for chunk, codes in coded:
                who, group, begin = lines[chunk.low]
                entries = xp.take(codes, group, axis=0) + begin
                found = xp.reshape(xp.take(there, xp.reshape(entries, (-1,))), entries.shape)
                ends = np.flatnonzero(np.diff(who, append=-1)) + 1
                for first, end in zip([0, *ends[:-1]], ends, strict=False):
                    own = xp.sum(found[first:end, :], axis=0)
                    paid[who[first]] = paid[who[first]] + own if who[first] in paid else own
            for place, own in paid.items():
                flat[place, block] += on_host(own)

    def _there(self, array: NDArray[Any], dtype: Any = None) -> Any:
        return beside(self.background.given, np.ascontiguousarray(array, dtype))

    def _blocks(
        self, rows: Any, chunks: list[Chunk], widest: int = 0
    ) -> Iterator[tuple[slice, Iterator[tuple[Chunk, Any]]]]:
        """Blocks of rows, each with the chunks and the codes there: (groups, rows)."""
        sizes = (size for chunk in chunks for size in chunk.branches.shape)
        for block in slabs(rows.shape[1], max(rows.shape[0], widest, *sizes), AT_ONCE):
            some = rows.block(block)
            missing: Any = some != some
            if not bool(self._xp.any(missing)):
                missing = None
            yield block, ((chunk, self._codes(chunk, some, missing)) for chunk in chunks)

    def _codes(self, chunk: Chunk, some: Any, missing: Any) -> Any:
        xp = self._xp
        goes = xp.take(some, chunk.feature, axis=0) <= chunk.threshold
        if missing is not None:
            goes = goes | (xp.take(missing, chunk.feature, axis=0) & chunk.missing_left)
        met = chunk.branches @ xp.astype(goes, xp.float32) == chunk.needed
        return xp.astype(chunk.powers @ xp.astype(met, xp.float32), xp.int32)

    def _chunks(self, groups: Groups) -> list[Chunk]:
        kept, chunks = self._cut
        if kept is not groups:
            count = len(groups.tree)
            chunks = [
                self._chunk(groups, low, min(low + TOGETHER, count))
                for low in range(0, count, TOGETHER)
            ]
            self._cut = groups, chunks
        return chunks

    def _chunk(self, groups: Groups, low: int, high: int) -> Chunk:
        nodes, bit = self.nodes, groups.bit[low : high + 1]
        clause = groups.clause[bit[0] : bit[-1] + 1]
        literals, bits = groups.literals[clause[0] : clause[-1]], np.arange(bit[-1] - bit[0])
        of_bit, left = np.repeat(bits, np.diff(clause)), literals & 1
        used, place = np.unique(literals >> 1, return_inverse=True)
        # Single precision holds these whole numbers, and all their sums.
        branches = np.zeros((len(bits), len(used)), np.float32)
        branches[of_bit, place] = 2 * left - 1
        group = np.repeat(np.arange(high - low), np.diff(bit))
        powers = np.zeros((high - low, len(bits)), np.float32)
        powers[group, bits] = 2.0 ** (bits - (bit - bit[0])[group])
        return Chunk(
            low,
            high,
            self._there(nodes.feature[used]),
            self._there(nodes.threshold[used, None]),
            self._there(nodes.missing_left[used, None]),
            self._there(branches),
            self._there(np.bincount(of_bit, left, len(bits))[:, None], np.float32),
            self._there(powers),
        )

    def _lines(
        self, groups: Groups, chunk: Chunk, order: int, part: Some, values: FloatArray
    ) -> tuple[Int64s, Any, Any]:
        """Who is paid, sorted, by which groups of a chunk, and where such a line of tables begins."""
        low, high, entry, table = part
        lines = [np.empty((3, 0), np.int64)]
        for g in range(max(low, chunk.low), min(high, chunk.high)):
            players = groups.players[groups.member[g] : groups.member[g + 1]]
            if order == 0:
                players = np.zeros(1, np.int64)
            elif order == 2:
                # As pair_place has it.
                i, j = (players[each] for each in np.tril_indices(len(players), -1))
                players = np.maximum(i, j) * (np.maximum(i, j) - 1) // 2 + np.minimum(i, j)
            codes = 1 << (groups.bit[g + 1] - groups.bit[g])
            begin = entry[g] + codes * np.arange(len(players))
            for v in range(len(table)):
                who = (self.nodes.output[groups.tree[g]] + v) * values.shape[1] + players
                group = np.full(len(players), g - chunk.low)
                lines.append(np.stack([who, group, v * table.shape[1] + begin]))
        who, group, begin = np.concatenate(lines, axis=1)
        sort = np.argsort(who, kind="stable")
        return who[sort], self._there(group[sort]), self._there(begin[sort, None], np.int32)
