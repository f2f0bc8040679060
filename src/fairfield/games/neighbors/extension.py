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
from fairfield.games.neighbors.lists import Neighborhoods
from fairfield.games.neighbors.worth import Worth

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


@dataclass(frozen=True)
class Stretch:
    """The first M neighbours of some test points, with the distribution of how many are in.

    ``k`` neighbours count, a sum of what they bring with weight ``share``: 1/K (1 where they
    answer jointly) over the number of all test points. ``rows``, ``match`` and ``inside`` (who, a, x) have one entry per neighbour and
    test point. ``laws`` come in strides: ``law[i, 1 + k]`` is P(at most k are in) of those
    before the stride and the first i in it; ``left`` is the chance per test point that the
    end of the list matters. ``base`` is what the worth of a test point starts from.
    """

    k: int
    share: float
    rows: IntArray
    match: FloatArray
    inside: FloatArray
    laws: list[FloatArray]
    left: FloatArray
    base: FloatArray

    @property
    def tails(self) -> Iterator[FloatArray]:
        """P(at most k - 1 of those before are in), k = 0 … K and more, neighbour by neighbour."""
        return (tail for law in self.laws for tail in law[:-1])

    def worth(self) -> float:
        """The part of f at these test points."""
        terms = zip(self.inside, self.match, self.tails, strict=True)
        return self.share * float(sum(x @ (a * tail[self.k]) for x, a, tail in terms))

    def steps(self, later: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """From the last stride to the first, L_{i+1}(k+1) - L_{i+1}(k) for its neighbours i, k < K.

        ``later`` (K + 1, tests) is 0 at first, and L_1(k), k < K, at the end.
        """
        low, high, top = later[:-1], later[1:], later[-1]
        moved, stop = np.empty_like(low), len(self.inside)
        for law in reversed(self.laws):
            part = slice(stop - len(law) + 1, stop)
            steps = np.empty((len(law) - 1, *low.shape))
            each = zip(steps[::-1], self.match[part][::-1], self.inside[part][::-1], strict=True)
            for step, match, chance in each:
                top[:] = match
                np.multiply(np.subtract(high, low, out=step), chance, out=moved)
                low += moved
            yield part, steps
            stop = part.start

    def add_slopes(self, answer: FloatArray) -> float:
        """Add the part of ∇f at these test points; returns that of f, 1/K Σ_{k<K} L_1(k)."""
        slopes, later = np.empty(self.match.shape), np.zeros((self.k + 1, len(self.left)))
        for law, (part, steps) in zip(reversed(self.laws), self.steps(later), strict=True):
            np.einsum("mkt,mkt->mt", law[:-1, 1 : self.k + 1], steps, out=slopes[part])
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
        for some, step in self.steps(np.zeros((self.k + 1, count))):
            steps[some] = step
        tails = list(self.tails)
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
                counts[j, 1:] = np.diff(tails[j][: self.k + 1, part], axis=0)
            for row, pair in zip(rows.T, np.moveaxis(pairs, 2, 0), strict=True):
                answer[np.ix_(row, row)] -= self.share * pair


class NeighborExtension(Extension):
    """f, ∇f, ∇²f of a nearest-neighbour game, by recursions along the lists of neighbours.

    ``truncation`` bounds what the ends of the lists left out of any entry of any answer
    so far: 2 max|a| P(the end of the list matters), averaged over test points; rounding
    errors come on top. ``reach`` is the length M of the longest list in the last answer.
    """

    method = "closed form: nearest neighbours"
    stretch: type[Stretch] = Stretch

    def __init__(self, lists: Neighborhoods, worth: Worth) -> None:
        self.lists, self.worth, self.k = lists, worth, worth.k
        self.players = self.degree = lists.players
        # No coalition fills more seats than there are rows.
        self.seats = min(self.k, lists.rows)
        # Numbers that a law holds for one neighbour of one test point.
        self.width = self.seats + 1
        # Test points of one stretch.
        self.at_once = max(FEWEST, STEP // self.width)
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

    def reachable(self) -> tuple[IntArray, NeighborExtension] | None:
        """The players in the lists so far, on whom alone f depends while no list grows."""
        lists = self.lists.reached()
        if lists is None:
            return None
        return lists.chosen, type(self)(lists, self.worth)

    def hessian(self, x: ArrayLike) -> FloatArray:
        """∇²f(x): O(M² K) per test point, and n² numbers."""
        points, lead = flat_points(x, self.players)
        check_hessian(points)
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
            rows, match = self.lists.ranked(tests, n)
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
        for tests in self.lists.blocks(self.at_once):
            for stretch in self._walk(tests, x, spare, self.lists.first):
                self.reach = max(self.reach, len(stretch.rows))
                left += stretch.left.sum()
                yield stretch
        self.truncation = max(self.truncation, 2 * self.worth.largest * left / self.lists.tests)

    def _walk(self, tests: slice, x: FloatArray, spare: int, length: int) -> Iterator[Stretch]:
        """The recursion along the lists of a block until they may end.

        Where a list is too short, the recursion starts again on a longer one, for half the
        test points if memory is short: an approximate index may not extend its shorter list.
        """
        count, states, every = tests.stop - tests.start, self.seats + spare, self.lists.rows
        room = every if count == 1 else HELD // (count * (self.width + spare + 3))
        if length > room:
            middle = (tests.start + tests.stop) // 2
            yield from self._walk(slice(tests.start, middle), x, spare, length)
            yield from self._walk(slice(middle, tests.stop), x, spare, length)
            return
        near = self.lists.nearest(tests, length)
        rows, match = near.rows[:room], near.match[:room]
        before = np.ones((states + 1, count))
        before[0] = 0.0
        inside = np.empty((len(rows), count))
        laws, length = list[FloatArray](), 0
        # The end of a list does not matter to f itself where no row after it may be in.
        rest = np.ones(count) if spare else np.full(count, x.sum())
        left = np.minimum(rest, 1.0)
        while np.abs(left).max() >= NEGLIGIBLE and length < len(rows):
            chances = inside[length : length + STRIDE]
            np.take(x, rows[length : length + STRIDE], out=chances, mode="clip")
            law = np.empty((len(chances) + 1, states + 1, count))
            law[0], law[1:, 0] = before, 0.0
            for now, after, chance in zip(law[:-1], law[1:], chances, strict=True):
                change = np.subtract(now[:-1], now[1:], out=after[1:])
                change *= chance
                change += now[1:]
            laws.append(law)
            length, before = length + len(chances), law[-1]
            left = before[-1]
            if not spare:
                rest -= chances.sum(axis=0)
                left = left * np.clip(rest, 0.0, 1.0)
        if length == every:
            left = np.zeros(count)
        elif np.abs(left).max() >= NEGLIGIBLE:
            yield from self._walk(tests, x, spare, min(2 * len(rows), every))
            return
        share = self.worth.scale / self.lists.tests
        read = rows[:length], match[:length], inside[:length]
        yield self.stretch(self.seats, share, *read, laws, left, self.worth.base[tests])


def check_hessian(points: FloatArray) -> None:
    """Refuse Hessians that do not fit into memory."""
    size = 8 * points.size * points.shape[1]
    if size > LARGEST:
        raise MemoryError(
            f"the Hessian of {points.shape[1]} players takes {size:,} bytes, and at most "
            f"{LARGEST:,} are given to it; take derivatives of the pairs of interest by "
            "derivative((i, j), x)"
        )
