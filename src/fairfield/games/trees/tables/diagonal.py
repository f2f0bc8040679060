"""Readings of tree games along the diagonal, for many rows at once.

Σ_k w_k ∇f(t_k, …, t_k), or the same of ∇²f, from tables over the codes of rows at the ends of trees:
O(background + rows), without a product of the two, after O(3^k) or less for each leaf of k
players. Trees for which tables do not pay are left to the extension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import RLock
from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.tables.fill import fill
from fairfield.games.trees.tables.groups import MOST_BITS, Groups, cut
from fairfield.games.trees.tables.look_up import FEW, by_code, count_codes, look_up, look_up_few

Over = Callable[[Callable[[slice], None]], None]
# Most players on a path, the order (-1: players, by code), and the points with their weights.
Key = tuple[int, int, bytes]
# Where the table of each group begins, and these tables; the same for groups from, to.
Made = tuple[Int64s, FloatArray]
Some = tuple[int, int, Int64s, FloatArray]

# Worths are read at no point of the diagonal.
NO_POINTS = np.empty(0)
# Bytes of the tables that are kept for more rows; more than that are built part by part.
KEPT, AT_ONCE = 2**28, 2**25
# Bytes of the counts of codes.
COUNTED = 2**30
# The players on a path of a tree that may have tables: a code has at most three bits more.
MOST_PLAYERS = MOST_BITS - 3


class Ends(NamedTuple):
    """The ends of some trees, and how many background rows have each code there."""

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
        self._served = 0  # players on the paths of trees whose tables are always used
        self._reached = 0  # players on the paths of trees whose tables were used so far
        self._ends: dict[int, Ends] = {}  # of these, and of the latest
        self._tables: dict[Key, Made] = {}
        self._lock = RLock()

    def serve(self) -> None:
        """Use tables for any number of rows, as far as these can be kept: many more will come."""
        with self._lock:
            for longest in range(min(MOST_PLAYERS, int(self.degree.max(initial=0))), 0, -1):
                groups = cut(self.nodes, np.flatnonzero(self.degree <= longest))
                sizes = _sizes(groups, 1)
                if 8 * groups.value.shape[1] * sizes.sum() <= KEPT:
                    self._served = longest
                    self._count(longest, groups)
                    return

    def add(
        self,
        rows: FloatArray,
        at: FloatArray,
        weights: FloatArray,
        order: int,
        values: FloatArray,
        over: Over,
    ) -> Int64s:
        """Add worths (order 0), values of players (1) or pairs (2), (outputs, …, rows); the trees left out.

        The points, none for worths, are between 0 and 1, neither included. ``over`` calls its work for blocks of rows.
        """
        longest = self._longest(rows.shape[1] + (0 if self._served else self.others))
        left = np.flatnonzero(self.degree > longest)
        if len(left) < len(self.degree):
            self._reached = max(self._reached, longest)
            groups = self._ends_of(longest).groups
            if order == 1 and rows.shape[1] <= FEW and 0 < self._served == longest:
                few = self._turned(longest, at, weights)
                look_up_few(self.nodes, groups, *few, np.asarray(rows), values)
                return left
            for part in self._parts(longest, at, weights, order):
                self.look_up(groups, part, order, rows, values, over)
        return left

    def mean(self, outputs: int) -> tuple[FloatArray, Int64s]:
        """The mean outputs over the background, of trees whose codes were counted; the other trees."""
        total, longest = np.zeros(outputs), max(self._ends, default=0)
        left = np.flatnonzero(self.degree > longest)
        if len(left) < len(self.degree):
            groups, start, counts = self._ends_of(longest)
            for low, high, entry, table in self._parts(longest, NO_POINTS, NO_POINTS, 0):
                shares = counts[start[low] : start[high]]
                means = np.add.reduceat(table * shares, entry[low:high], axis=1)
                outputs_of = self.nodes.output[groups.tree[low:high]]
                np.add.at(total, outputs_of + np.arange(len(table))[:, None], means)
        return total, left

    def look_up(
        self,
        groups: Groups,
        part: Some,
        order: int,
        rows: FloatArray,
        values: FloatArray,
        over: Over,
    ) -> None:
        """Add what some groups pay to rows."""
        low, high, entry, table = part

        def work(block: slice) -> None:
            some = np.ascontiguousarray(rows[:, block])
            paid = np.zeros((*values.shape[:2], some.shape[1]))
            look_up(self.nodes, groups, low, high, order, entry, table, some, paid)
            values[..., block] += paid

        over(work)

    def count(self, groups: Groups, start: Int64s) -> FloatArray:
        """How many background rows have each code."""
        return count_codes(self.nodes, groups, self.background, start)

    def kept_bytes(self) -> int:
        """The bytes of the tables that are kept."""
        return sum(table.nbytes for _, table in self._tables.values())

    def _longest(self, rows: int) -> int:
        """The most players on a path of the trees that are best read from tables for so many rows.

        To build one costs about 2^k k² steps for a leaf of k players; without it each row costs
        about 24 of them, and more the larger the background, or 4 in a walk. The codes of the
        background that are counted must fit into memory.
        """
        size = self.background.shape[1]
        saved = rows * (24 + size / 40 if size else 4)
        longest = self._served or self._reached
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
        with self._lock:
            if longest not in self._ends:
                self._count(longest, cut(self.nodes, np.flatnonzero(self.degree <= longest)))
            return self._ends[longest]

    def _count(self, longest: int, groups: Groups) -> None:
        """Keep these groups, and how many background rows have each code there."""
        start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
        counts = np.empty(0)
        if self.background.shape[1]:
            counts = self.count(groups, start)
            counts /= self.background.shape[1]
        used = {k: ends for k, ends in self._ends.items() if k in (self._served, self._reached)}
        self._ends = {**used, longest: Ends(groups, start, counts)}

    def _parts(
        self, longest: int, at: FloatArray, weights: FloatArray, order: int
    ) -> Iterator[Some]:
        """Tables of groups low … high - 1, and where that of each begins."""
        groups, start, counts = self._ends_of(longest)
        key = _key(longest, order, at, weights)
        kept = self._tables.get(key)
        if kept is not None:
            yield 0, len(groups.tree), *kept
            return
        sizes, width = _sizes(groups, order), groups.value.shape[1]
        whole = 8 * width * int(sizes.sum()) <= KEPT
        low = 0
        while low < len(sizes):
            ends = np.cumsum(sizes[low:])
            high = len(sizes)
            if not whole:
                high = low + max(1, int(np.searchsorted(8 * width * ends, AT_ONCE, side="right")))
            entry = np.zeros(len(sizes), np.int64)
            entry[low + 1 : high] = ends[: high - low - 1]
            table = np.zeros((width, int(ends[high - low - 1])))
            fill(groups, low, high, start, counts, at, weights, order, entry, table)
            if whole:
                self._keep(key, (entry, table))
            yield low, high, entry, table
            low = high

    def _turned(self, longest: int, at: FloatArray, weights: FloatArray) -> Made:
        """The tables of players by code, which only served trees have, so that they can be kept."""
        key = _key(longest, -1, at, weights)
        kept = self._tables.get(key)
        if kept is None:
            ((_, _, entry, table),) = self._parts(longest, at, weights, 1)
            kept = entry, by_code(self._ends_of(longest).groups, entry, table)
            plain = _key(longest, 1, at, weights)
            with self._lock:  # other threads may be reading the old one
                self._tables = {k: made for k, made in self._tables.items() if k != plain}
            self._keep(key, kept)
        return kept

    def _keep(self, key: Key, made: Made) -> None:
        """Keep a table, and of the earlier ones the latest that fit."""
        with self._lock:
            kept, room = {key: made}, KEPT - made[1].nbytes
            for other, each in reversed(self._tables.items()):
                room -= each[1].nbytes
                if room < 0:
                    break
                kept[other] = each
            self._tables = dict(reversed(kept.items()))


def _key(longest: int, order: int, at: FloatArray, weights: FloatArray) -> Key:
    return longest, order, at.tobytes() + weights.tobytes()


def _sizes(groups: Groups, order: int) -> Int64s:
    """How many entries the table of each group has for worths, players, or pairs of them."""
    members, codes = np.diff(groups.member), 1 << np.diff(groups.bit)
    return codes * (np.ones_like(members), members, members * (members - 1) // 2)[order]
