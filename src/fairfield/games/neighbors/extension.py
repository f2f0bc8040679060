"""The multilinear extension of a nearest-neighbour game.

For one test point let a_1, a_2, … be what the rows are worth as neighbours, nearest
first. Row i counts if fewer than K of the rows before it are in the coalition, so

    f(x) = 1/K Σ_i x_i a_i F_i(K-1),      F_i(k) = P(at most k of the first i - 1 are in).

With k rows before it in, row i adds a_i and displaces the (K-k)-th row after it that is in,
whose mean a is L_{i+1}(k). With L_{i+1}(K) = a_i, both obey the same recursion:

    F_{i+1}(k) = F_i(k) + x_i (F_i(k-1) - F_i(k)),          F_1 = 1,  F_i(-1) = 0,
    L_i(k) = L_{i+1}(k) + x_i (L_{i+1}(k+1) - L_{i+1}(k)),  L_{M+1} = 0,  k < K,
    g_i = 1/K Σ_{k<K} P(k of the first i - 1 are in) (a_i - L_{i+1}(k))
        = 1/K Σ_{k<K} F_i(k) (L_{i+1}(k+1) - L_{i+1}(k)).

The lists end at the M-th neighbour, where almost surely K others are in: O(M K) per test
point, whatever the number of rows, while x stays away from 0. *Others*, because the slope of
a row depends on the row that would take its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension
from fairfield.games.neighbors.search import Neighborhoods

# A list ends where the probability that its end matters falls below this.
NEGLIGIBLE = 1e-16
# Neighbours between two checks of that probability.
STRIDE = 8
# Numbers worked on in one step along the lists: long rows for NumPy that stay in the cache
# and in memory that the allocator reuses between steps; 512 test points at least.
STEP, FEWEST = 6144, 512
# Numbers that a pass over a block of test points may hold: 512 MB.
HELD = 2**26
# Pairs of neighbours differentiated at once: 32 MB.
PAIRS = 2**22
# Bytes of the largest Hessian that is returned.
LARGEST = 2**30


class NeighborExtension(Extension):
    """f, ∇f, ∇²f of a nearest-neighbour game, by recursions along the lists of neighbours.

    ``truncation`` bounds what the ends of the lists left out of any entry of any answer
    so far: 2 max|a| P(the end of the list matters), averaged over test points; rounding
    errors come on top. ``reach`` is the length M of the longest list in the last answer.
    """

    method = "closed form: nearest neighbours"

    def __init__(self, lists: Neighborhoods, k: int, largest: float) -> None:
        self.lists, self.k, self.largest = lists, k, largest
        self.players = self.degree = lists.rows
        # No coalition fills more seats than there are players.
        self.seats = min(k, lists.rows)
        self.truncation = 0.0
        self.reach = 0

    def value(self, x: ArrayLike) -> FloatArray:
        """f(x): O(M K) per test point."""
        points, lead = flat_points(x, self.players)
        values = [sum(near.worth() for near in self._stretches(point, 0)) for point in points]
        return np.array(values).reshape(lead)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """f(x) and ∇f(x): O(M K) per test point."""
        points, lead = flat_points(x, self.players)
        values, slopes = np.zeros(len(points)), np.zeros(points.shape)
        for i, point in enumerate(points):
            for near in self._stretches(point, 1):
                values[i] += near.add_slopes(slopes[i])
        return values.reshape(lead), slopes.reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        """∇²f(x): O(M² K) per test point, and n² numbers."""
        points, lead = flat_points(x, self.players)
        size = 8 * points.size * self.players
        if size > LARGEST:
            raise MemoryError(
                f"the Hessian of {self.players} players takes {size:,} bytes, and at most "
                f"{LARGEST:,} are given to it; take derivatives of the pairs of interest by "
                "derivative((i, j), x)"
            )
        answer = np.zeros((*points.shape, self.players))
        for point, pairs in zip(points, answer, strict=True):
            for near in self._stretches(point, 2):
                near.add_curvatures(pairs)
        return (answer + answer.swapaxes(1, 2)).reshape(*lead, *answer.shape[1:])

    def shapley(self) -> FloatArray:
        """s_N = a_N min(K, N)/(N K), s_i = s_{i+1} + (a_i - a_{i+1}) min(K, i)/(i K).

        Exact, averaged over test points, from the whole order of the rows around each:
        O(N log N) per test point (Jia et al., VLDB 2019).
        """
        n = self.players
        shares = np.minimum(self.k, np.arange(1, n + 1)) / (np.arange(1, n + 1) * self.k)
        total = np.zeros(n)
        for tests in self.lists.blocks(max(1, HELD // (16 * n))):
            rows = self.lists.search(tests, n)
            match = self.lists.match(rows, tests)
            match[:, :-1] -= match[:, 1:]
            match *= shares
            values = np.cumsum(match[:, ::-1], axis=1)[:, ::-1]
            np.add.at(total, rows.ravel(), values.ravel())
        return total / self.lists.tests

    def _stretches(self, x: FloatArray, spare: int) -> Iterator[Stretch]:
        """The forward recursion for all test points, block by block.

        ``spare`` is the order of the derivative: a list may end where K others are in
        almost surely, not counting the players by which f is differentiated.
        """
        self.reach, left = 0, 0.0
        for tests in self.lists.blocks(max(FEWEST, STEP // (self.seats + 1))):
            for stretch in self._walk(tests, x, spare, self.lists.first):
                self.reach = max(self.reach, len(stretch.inside))
                left += stretch.left.sum()
                yield stretch
        self.truncation = max(self.truncation, 2 * self.largest * left / self.lists.tests)

    def _walk(self, tests: slice, x: FloatArray, spare: int, length: int) -> Iterator[Stretch]:
        """The recursion along the lists of a block until they may end.

        Where a list is too short, the recursion starts again on a longer one, for half the
        test points if memory is short: an approximate index may not extend its shorter list.
        """
        count, states = tests.stop - tests.start, self.seats + spare
        room = self.players if count == 1 else HELD // (count * (states + 4))
        if length > room:
            middle = (tests.start + tests.stop) // 2
            yield from self._walk(slice(tests.start, middle), x, spare, length)
            yield from self._walk(slice(middle, tests.stop), x, spare, length)
            return
        near = self.lists.nearest(tests, length)
        rows, match = near.rows[:room], near.match[:room]
        before = np.ones((states + 1, count))
        before[0] = 0.0
        tails, inside = [before], list[FloatArray]()
        # The end of a list does not matter to f itself where no row after it may be in.
        rest = np.ones(count) if spare else np.full(count, x.sum())
        left = np.minimum(rest, 1.0)
        while np.abs(left).max() >= NEGLIGIBLE and len(inside) < len(rows):
            start = len(inside)
            for chances in x[rows[start : start + STRIDE]]:
                after = np.empty_like(before)
                after[0] = 0.0
                change = np.subtract(before[:-1], before[1:], out=after[1:])
                change *= chances
                change += before[1:]
                tails.append(after)
                inside.append(chances)
                before = after
            left = before[-1]
            if not spare:
                rest -= sum(inside[start:])
                left = left * np.clip(rest, 0.0, 1.0)
        if len(inside) == self.players:
            left = np.zeros(count)
        elif np.abs(left).max() >= NEGLIGIBLE:
            yield from self._walk(tests, x, spare, min(2 * len(rows), self.players))
            return
        share = 1 / (self.k * self.lists.tests)
        rows, match = rows[: len(inside)], match[: len(inside)]
        yield Stretch(self.seats, share, rows, match, inside, tails, left)


@dataclass(frozen=True)
class Stretch:
    """The first M neighbours of some test points, with the distribution of how many are in.

    ``k`` neighbours count, each with weight ``share``: 1/K over the number of all test
    points. ``rows``, ``match`` and ``inside`` (who, a, x) have one entry per neighbour and
    test point; ``tails[i][1 + k]`` is P(at most k of the first i are in), ``left`` the
    chance per test point that the end of the list matters.
    """

    k: int
    share: float
    rows: IntArray
    match: FloatArray
    inside: list[FloatArray]
    tails: list[FloatArray]
    left: FloatArray

    def worth(self) -> float:
        """The part of f at these test points."""
        terms = zip(self.inside, self.match, self.tails, strict=False)
        return self.share * float(sum(x @ (a * tail[self.k]) for x, a, tail in terms))

    def steps(self, later: FloatArray) -> Iterator[tuple[int, FloatArray]]:
        """From the last neighbour to the first, i and L_{i+1}(k+1) - L_{i+1}(k) for k < K.

        ``later`` (K + 1, tests) is 0 at first, and L_1(k), k < K, at the end.
        """
        for i in reversed(range(len(self.inside))):
            later[-1] = self.match[i]
            step = later[1:] - later[:-1]
            yield i, step
            step *= self.inside[i]
            later[:-1] += step

    def add_slopes(self, answer: FloatArray) -> float:
        """Add the part of ∇f at these test points; returns that of f, 1/K Σ_{k<K} L_1(k)."""
        slopes, later = np.empty(self.match.shape), np.zeros((self.k + 1, len(self.left)))
        for i, step in self.steps(later):
            np.add.reduce(self.tails[i][1 : self.k + 1] * step, out=slopes[i])
        slopes *= self.share
        np.add.at(answer, self.rows.ravel(), slopes.ravel())
        return self.share * float(later[:-1].sum())

    def add_curvatures(self, answer: FloatArray) -> None:
        """Add the part of ∂²f at these test points, for each neighbour i before each j.

        -1/K Σ_{k<K} P(k of the first j - 1 but i are in) (L_{j+1}(k+1) - L_{j+1}(k)):
        one distribution per i is carried on to all j.
        """
        length, count = self.match.shape
        steps = np.empty((length, self.k, count))
        for i, step in self.steps(np.zeros((self.k + 1, count))):
            steps[i] = step
        together = max(1, PAIRS // length**2)
        for first in range(0, count, together):
            part = slice(first, first + together)
            rows = self.rows[:, part]
            counts = np.zeros((length, self.k + 1, rows.shape[1]))
            pairs = np.zeros((length, length, rows.shape[1]))
            for j, (step, chances) in enumerate(zip(steps[..., part], self.inside, strict=True)):
                now = counts[:j]
                pairs[:j, j] = np.einsum("ikt,kt->it", now[:, 1:], step)
                now[:, 1:] += chances[part] * (now[:, :-1] - now[:, 1:])
                counts[j, 1:] = np.diff(self.tails[j][: self.k + 1, part], axis=0)
            for row, pair in zip(rows.T, np.moveaxis(pairs, 2, 0), strict=True):
                answer[np.ix_(row, row)] -= self.share * pair
