"""The lists of neighbours of all test points, searched as far as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.extension import OutOfReachError
from fairfield.games.neighbors.search import Search

# Test points whose lists are searched and kept together.
BLOCK = 1024
# Entries of all kept lists together: 1 GiB of row numbers and matches.
KEPT = 2**26


class Near(NamedTuple):
    """The nearest rows of some test points and what each is worth there, both (m, tests)."""

    rows: IntArray
    match: FloatArray


class Neighborhoods:
    """The lists of all test points, searched and kept in blocks, as long as needed.

    ``match(rows, tests, distances)`` is what rows, (tests, m), are worth at these test points.
    """

    def __init__(
        self,
        search: Search,
        match: Callable[[IntArray, slice, FloatArray | None], FloatArray],
        rows: int,
        tests: int,
        first: int,
    ) -> None:
        self.search, self.match = search, match
        self.rows = self.players = rows
        self.tests = tests
        self.first = min(first, rows)
        self._kept: dict[int, Near] = {}

    def blocks(self, most: int) -> Iterator[slice]:
        """Slices of at most so many test points, each within one kept block."""
        for start in range(0, self.tests, BLOCK):
            stop = min(start + BLOCK, self.tests)
            for first in range(start, stop, most):
                yield slice(first, min(first + most, stop))

    def nearest(self, tests: slice, count: int) -> Near:
        """The ``count`` nearest rows or more, kept or searched."""
        count = min(count, self.rows)
        start = tests.start - tests.start % BLOCK
        kept = self._kept.get(start)
        if kept is None or len(kept.rows) < count:
            kept = self._longer(start, count)
            if kept is None:
                return self._find(tests, count)
            self._kept[start] = kept
        part = slice(tests.start - start, tests.stop - start)
        return Near(kept.rows[:, part], kept.match[:, part])

    def ranked(self, tests: slice, count: int) -> Near:
        """The ``count`` nearest rows or more, searched and not kept: both (tests, m)."""
        rows, distances = self.search(tests, count)
        return Near(rows, self.match(rows, tests, distances))

    def reached(self) -> Reached | None:
        """The lists so far, of the rows that occur in them; None if these are most rows."""
        if self.first * self.tests > KEPT:
            return None
        for tests in self.blocks(BLOCK):
            self.nearest(tests, self.first)
        found = np.zeros(self.rows, dtype=bool)
        for near in self._kept.values():
            found[near.rows] = True
        chosen = np.flatnonzero(found)
        return Reached(self, chosen, self._kept) if 4 * len(chosen) < 3 * self.rows else None

    def _longer(self, start: int, count: int) -> Near | None:
        """Lists of this length for a whole block, unless they are too long to be kept."""
        if count * self.tests > KEPT:
            return None
        return self._find(slice(start, min(start + BLOCK, self.tests)), count)

    def _find(self, tests: slice, count: int) -> Near:
        rows, match = self.ranked(tests, count)
        # The recursions read one neighbour of all test points at a time.
        return Near(np.ascontiguousarray(rows.T), np.ascontiguousarray(match.T))


class Reached(Neighborhoods):
    """Lists as far as they were searched, their rows numbered anew: ``chosen`` are the old numbers.

    Where a longer list is asked for, it is searched for the whole data set, and
    :class:`OutOfReachError` is raised.
    """

    def __init__(self, whole: Neighborhoods, chosen: IntArray, kept: dict[int, Near]) -> None:
        super().__init__(whole.search, whole.match, whole.rows, whole.tests, whole.first)
        self.whole, self.chosen, self.players = whole, chosen, len(chosen)
        place = np.empty(whole.rows, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        self._kept = {start: Near(place[rows], match) for start, (rows, match) in kept.items()}

    def reached(self) -> None:
        return None

    def _longer(self, start: int, count: int) -> Near | None:
        self.whole.nearest(slice(start, min(start + BLOCK, self.tests)), count)
        raise OutOfReachError
