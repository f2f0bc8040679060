"""The extension of tree games with a background: sums of products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.games.trees import terms as tree_terms
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.extension import Forest, TreeExtension
from fairfield.games.trees.kernels import collect
from fairfield.games.trees.leaves import start_walk
from fairfield.games.trees.terms import Terms

# Entries of the arrays that hold the terms computed at once, and bytes of terms that are kept
# for the next evaluation.
CAPACITY = 2**24
KEPT = 2**30
# Explained rows that go down the trees together.
TOGETHER = 1024


class InterventionalExtension(TreeExtension):
    """Of games with a background, as sums of products.

    The terms are computed once, block by block, and kept up to a bound; those beyond it are
    computed for every evaluation, which costs O(literals of a row's terms) per row.
    """

    def __init__(self, forest: Forest, rows: FloatArray, batch: tuple[int, ...]) -> None:
        super().__init__(forest, rows, batch)
        count = rows.shape[1]
        self._kept: list[tuple[Int64s, Terms]] = []
        self._room = KEPT
        # Blocks still to be computed: rows from, to, and the first tree.
        self._ahead = [(a, min(a + TOGETHER, count), 0) for a in range(0, count, TOGETHER)]

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = self._both(x)
        n = self.players
        values, slopes = np.zeros(points.shape[:-1]), np.zeros(points.shape)
        for where, terms in self._blocks():
            for k, point in enumerate(points):
                value, slope = np.zeros(len(where)), np.zeros((len(where), 2 * n))
                tree_terms.add_gradient(terms, point[where], value, slope)
                values[k, where] += value
                slopes[k, where] += slope
        return values.reshape(lead), (slopes[..., :n] - slopes[..., n:]).reshape((*lead, n))

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = self._both(x)
        n = self.players
        pairs = np.zeros((*points.shape[:-1], n, n))
        for where, terms in self._blocks():
            for k, point in enumerate(points):
                once = np.zeros((len(where), n, n))
                tree_terms.add_hessian(terms, point[where], once)
                pairs[k, where] += once + once.swapaxes(1, 2)
        return pairs.reshape((*lead, n, n))

    def add_paid(self, at: FloatArray, shares: FloatArray, order: int, values: FloatArray) -> None:
        if order == 2:
            n, count = self.players, self.explained.shape[1]
            matrix = Extension.hessian_along_diagonal(self, at, shares).reshape(count, n, n)
            second, first = np.tril_indices(n, -1)
            values += matrix[:, second, first].T
            return
        sizes = np.arange(self.degree + 1)
        powers = at[:, None] ** sizes, (1 - at[:, None]) ** sizes
        joint = np.einsum("q,qa,qb->ab", shares, *powers)

        def work(block: slice) -> None:
            some = np.ascontiguousarray(self.explained[:, block])
            part = InterventionalExtension(self.forest, some, some.shape[1:])
            paid = np.zeros((self.players, some.shape[1]))
            # Terms that are used once need not be kept.
            for where, terms in part._blocks(keep=False):
                own = np.zeros((self.players, len(where)))
                tree_terms.add_along_diagonal(terms, joint, own)
                paid[:, where] += own
            values[:, block] += paid

        self.over(work)

    def rows(self, chosen: slice | Int64s) -> InterventionalExtension:
        """The extensions of some rows; they share the terms, where all of them are kept."""
        picked = np.arange(self.explained.shape[1])[chosen]
        some = np.ascontiguousarray(self.explained[:, picked])
        part = InterventionalExtension(self.forest, some, (len(picked),)).working_as(self)
        if self._ahead and self._room:
            for _ in self._blocks():
                if not self._room:
                    break
        if not self._ahead and len(np.unique(picked)) == len(picked):
            part._ahead = []
            for where, terms in self._kept:
                inside = np.flatnonzero(np.isin(picked, where))
                if len(inside):
                    place = np.full(len(where), -1)
                    place[np.searchsorted(where, picked[inside])] = np.arange(len(inside))
                    part._kept.append((inside, tree_terms.restrict(terms, place)))
        return part

    def _blocks(self, keep: bool = True) -> Iterator[tuple[Int64s, Terms]]:
        """The terms of some trees for some rows, and which rows these are, one block at a time."""
        yield from self._kept
        if not self._ahead:
            return
        forest, ahead = self.forest, list(self._ahead)
        most = 64 * len(forest.nodes.left) * self.explained.shape[1]
        room = tree_terms.blank(min(CAPACITY, most))
        while ahead:
            low, high, tree = ahead.pop()
            some = self.explained[:, low:high]
            walk = start_walk(
                int(forest.depth.max(initial=0)), forest.players, some, forest.background
            )
            end, used = collect(forest.nodes, tree, walk, room)
            if end < len(forest.nodes.roots):
                ahead.append((low, high, end))
            if end == tree:
                # Not even one tree fits: fewer rows, or more room where there is but one.
                middle = (low + high) // 2
                if middle > low:
                    ahead[-1:] = [(middle, high, tree), (low, middle, tree)]
                else:
                    room = tree_terms.blank(2 * len(room.coefficient))
                continue
            where, terms = np.arange(low, high), tree_terms.filled(room, used)
            if keep:
                self._room = max(0, self._room - sum(array.nbytes for array in terms))
            if keep and self._room:
                terms = Terms._make(array.copy() for array in terms)
                self._kept.append((where, terms))
                self._ahead = list(ahead)
            yield where, terms

    def _both(self, x: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        """Points as (x, 1 - x), (k, rows, 2n), and the leading axes of the answer."""
        points, lead = points_of_games(x, self.players, self.batch)
        return np.concatenate([points, 1 - points], axis=-1), (*lead, *self.batch)
