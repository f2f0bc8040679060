"""Readings of tree games along the diagonal, for many rows at once.

Σ_k w_k ∇f(t_k, …, t_k), or the same of ∇²f, from tables over the codes of rows at the ends of trees:
O(background + rows), without a product of the two, after O(3^k) or less for each leaf of k
players. Trees for which tables do not pay are left to the extension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.groups import MOST_BITS, Groups, cut
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.tables import count_codes, fill, look_up

Over = Callable[[Callable[[slice], None]], None]
# Groups from, to, where the table of each begins, and these tables.
Part = tuple[int, int, Int64s, FloatArray]

# Bytes of the tables that are kept for more rows; more than that are built part by part.
KEPT, AT_ONCE = 2**28, 2**25
# Bytes of the counts of codes.
COUNTED = 2**30
# The players on a path of a tree that may have tables: a code has at most three bits more.
MOST_PLAYERS = MOST_BITS - 3


class Ends(NamedTuple):
    """The ends of some trees, and how many background rows have each code there."""

    trees: Int64s
    groups: Groups
    start: Int64s
    counts: FloatArray


class Diagonal:
    """Values along the diagonal of all games that share some trees and a background.

    ``degree[tree]`` is the most players on a path of a tree; ``background`` (columns, rows) has no
    rows in path-dependent games.
    """

    def __init__(self, nodes: Nodes, degree: Int64s, background: FloatArray) -> None:
        self.nodes, self.degree, self.background = nodes, degree, background
        leaves = np.append(0, np.cumsum(nodes.left < 0))
        self.leaves = leaves[nodes.ends] - leaves[nodes.roots]
        self.others = 0  # rows of other games that share the tables
        self._ends: dict[int, Ends] = {}
        self._reached = 0  # the most players on a path of a tree with tables so far
        self._tables: dict[tuple[int, int, bytes], FloatArray] = {}

    def add(
        self,
        rows: FloatArray,
        at: FloatArray,
        weights: FloatArray,
        order: int,
        values: FloatArray,
        over: Over,
    ) -> Int64s:
        """Add the values of players (order 1) or pairs (2), (outputs, …, rows); the trees left out.

        The points are between 0 and 1, neither included. ``over`` calls its work for blocks of rows.
        """
        longest = self._longest(rows.shape[1] + self.others)
        left = np.flatnonzero(self.degree > longest)
        if len(left) < len(self.degree):
            if longest > self._reached:
                # What was kept for shorter paths is of no more use.
                self._tables, self._reached = {}, longest
            ends = self._ends_of(longest)
            for part in self._parts(longest, at, weights, order):

                def work(block: slice, part: Part = part) -> None:
                    low, high, entry, table = part
                    some = np.ascontiguousarray(rows[:, block])
                    paid = np.zeros((*values.shape[:2], some.shape[1]))
                    look_up(self.nodes, ends.groups, low, high, order, entry, table, some, paid)
                    values[..., block] += paid

                over(work)
        return left

    def kept_bytes(self) -> int:
        """The bytes of the tables that are kept."""
        return sum(table.nbytes for table in self._tables.values())

    def _longest(self, rows: int) -> int:
        """The most players on a path of the trees that are best read from tables for so many rows.

        To build one costs about 2^k k² steps for a leaf of k players; without it each row costs
        about 24 of them, and more the larger the background, or 4 in a walk. The codes of the
        background that are counted must fit into memory.
        """
        size = self.background.shape[1]
        saved = rows * (24 + size / 40 if size else 4)
        longest = self._reached
        for k in range(longest + 1, min(MOST_PLAYERS, int(self.degree.max(initial=0))) + 1):
            if 2**k * k**2 > saved or not self._counted(k):
                break
            longest = k
        return longest

    def _counted(self, k: int) -> bool:
        """Whether there is room to count codes of trees with paths of at most so many players."""
        # Three leaves or so share codes of two bits more than their paths have players.
        codes = int(self.leaves[self.degree <= k].sum()) // 3 << (k + 2)
        return self.background.shape[1] == 0 or 8 * codes <= COUNTED

    def short_ends(self, most: int) -> Ends:
        """The ends of trees with paths of at most so many players, or fewer where memory says so."""
        short = [0, *(int(k) for k in np.unique(self.degree) if k <= most and self._counted(k))]
        return self._ends_of(short[-1])

    def _ends_of(self, longest: int) -> Ends:
        """The ends of the trees with paths of at most so many players."""
        if longest not in self._ends:
            trees = np.flatnonzero(self.degree <= longest)
            groups = cut(self.nodes, trees)
            start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
            counts = np.empty(0)
            if self.background.shape[1]:
                counts = count_codes(self.nodes, groups, self.background, start)
                counts /= self.background.shape[1]
            self._ends[longest] = Ends(trees, groups, start, counts)
        return self._ends[longest]

    def _parts(
        self, longest: int, at: FloatArray, weights: FloatArray, order: int
    ) -> Iterator[Part]:
        """Tables of groups low … high - 1, and where that of each begins."""
        _, groups, start, counts = self._ends_of(longest)
        members, codes = np.diff(groups.member), 1 << np.diff(groups.bit)
        sizes = codes * (members if order == 1 else members * (members - 1) // 2)
        width = groups.value.shape[1]
        key = (longest, order, np.concatenate([at, weights]).tobytes())
        whole = 8 * width * int(sizes.sum()) <= KEPT
        low = 0
        while low < len(sizes):
            ends = np.cumsum(sizes[low:])
            high = len(sizes)
            if not whole:
                high = low + max(1, int(np.searchsorted(8 * width * ends, AT_ONCE, side="right")))
            entry = np.zeros(len(sizes), np.int64)
            entry[low + 1 : high] = ends[: high - low - 1]
            table = self._tables.get(key)
            if table is None:
                table = np.zeros((width, int(ends[high - low - 1])))
                fill(groups, low, high, start, counts, at, weights, order, entry, table)
                if whole:
                    self._keep(key, table)
            yield low, high, entry, table
            low = high

    def _keep(self, key: tuple[int, int, bytes], table: FloatArray) -> None:
        """Keep a table, and of the earlier ones the latest that fit."""
        kept, room = {key: table}, KEPT - table.nbytes
        for other, each in reversed(self._tables.items()):
            room -= each.nbytes
            if room < 0:
                break
            kept[other] = each
        self._tables = dict(reversed(kept.items()))
