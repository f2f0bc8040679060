"""The extension of tree games with a background: sums of products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.extension import Forest, TreeExtension
from fairfield.games.trees.pairs import square
from fairfield.games.trees.products import terms as tree_terms
from fairfield.games.trees.products.cells import collect_groups
from fairfield.games.trees.products.leaves import start_walk
from fairfield.games.trees.products.pairing import add_along_diagonal
from fairfield.games.trees.products.terms import Terms
from fairfield.games.trees.products.walk import collect

# Entries of the arrays that hold the terms computed at once, and bytes of terms that are kept
# for the next evaluation.
CAPACITY = 2**24
KEPT = 2**30
# Explained rows that go down the trees together.
TOGETHER = 1024
# Trees with paths of at most so many players have their terms from codes, for at least so many rows.
SHORT, MANY = 8, 64


class Block(NamedTuple):
    """Terms of some rows: row ``where[i]`` of the extension has the number ``place[i]`` of ``size``."""

    where: Int64s
    place: Int64s
    size: int
    terms: Terms


class InterventionalExtension(TreeExtension):
    """Of games with a background, as sums of products.

    Along the diagonal rows and background walk together. At other points, and for pairs of players, there
    are terms, computed once, block by block, and kept up to a bound; those beyond it are
    computed for every evaluation, which costs O(products of a row's cells) per row. Trees with paths of
    at most SHORT players have them from codes, in O(rows + background). Those of longer paths have a
    product for each pair of patterns, of rows and of the background, that reach a leaf together: on
    paths so long that patterns hardly repeat these grow as rows · background.
    """

    def __init__(self, forest: Forest, rows: FloatArray, batch: tuple[int, ...]) -> None:
        super().__init__(forest, rows, batch)
        count = rows.shape[1]
        self._kept: list[Block] = []
        self._room = KEPT
        # Blocks still to be computed: rows from, to, whether by codes, and the first group or tree.
        self._ahead = [
            (a, min(a + TOGETHER, count), short, 0)
            for a in range(0, count, TOGETHER)
            for short in (False, True)
        ]

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        values, slopes, lead = self._derivatives(x, order=1)
        return values.reshape(lead), slopes.reshape((*lead, self.players))

    def hessian(self, x: ArrayLike) -> FloatArray:
        _, pairs, lead = self._derivatives(x, order=2)
        n = self.players
        return square(pairs, n).reshape((*lead, n, n))

    def _derivatives(
        self, x: ArrayLike, order: int
    ) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
        """The values, (k, rows), and derivatives, (k, rows, …), at k points per row."""
        points, lead = points_of_games(x, self.players, self.batch)
        values, paid = np.zeros(points.shape[:2]), [self.nothing(order) for _ in points]
        for where, place, size, terms in self._blocks():
            for point, value, pay in zip(points, values, paid, strict=True):
                at = np.full((self.players, size), 0.5)
                at[:, place] = point[where].T
                own, each = np.zeros(size), np.zeros((len(pay), size))
                tree_terms.add_derivatives(terms, at, order, own, each)
                value[where] += own[place]
                pay[:, where] += each[:, place]
        return values, np.array(paid).swapaxes(1, 2), (*lead, *self.batch)

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

        forest, depth = self.forest, int(self.forest.depth.max(initial=0))

        def work(block: slice) -> None:
            some = np.ascontiguousarray(self.explained[:, block])
            paid = np.zeros((some.shape[1], self.players))
            add_along_diagonal(forest.nodes, depth, some, forest.background, joint, paid)
            values[:, block] += paid.T

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
            number = np.full(self.explained.shape[1], -1)
            number[picked] = np.arange(len(picked))
            for where, place, size, terms in self._kept:
                inside = number[where] >= 0
                where, place = number[where[inside]], place[inside]
                # Rows left over cost less than to sort them out, as long as they are few.
                if 4 * len(where) <= 3 * size:
                    kept = np.full(size, -1)
                    kept[place], size = np.arange(len(place)), len(place)
                    terms, place = tree_terms.restrict(terms, kept), np.arange(size)
                if size:
                    part._kept.append(Block(where, place, size, terms))
        return part

    def _blocks(self) -> Iterator[Block]:
        """The terms of some trees for some rows, one block at a time."""
        yield from self._kept
        if not self._ahead:
            return
        forest, ahead = self.forest, list(self._ahead)
        most = 64 * len(forest.nodes.left) * self.explained.shape[1]
        room = tree_terms.blank(min(CAPACITY, most))
        ends = forest.diagonal.short_ends(SHORT if self.explained.shape[1] >= MANY else 0)
        others = forest.only(np.setdiff1d(np.arange(len(forest.degree)), ends.groups.tree))
        depth = int(others.depth.max(initial=0))
        while ahead:
            low, high, short, at = ahead.pop()
            some, count = (
                self.explained[:, low:high],
                len((ends.groups if short else others.nodes)[0]),
            )
            if not count:
                continue
            if short:
                some = np.ascontiguousarray(some)
                end, used = collect_groups(
                    forest.nodes, ends.groups, ends.start, ends.counts, at, some, room
                )
            else:
                walk = start_walk(depth, some, forest.background)
                end, used = collect(others.nodes, at, walk, room)
            if end < count:
                ahead.append((low, high, short, end))
            if end == at:
                # Not even one tree fits: fewer rows, or more room where there is but one.
                middle = (low + high) // 2
                if middle > low:
                    ahead[-1:] = [(middle, high, short, at), (low, middle, short, at)]
                else:
                    room = tree_terms.blank(2 * len(room.coefficient))
                continue
            if not used[0]:
                continue
            terms = tree_terms.filled(room, used)
            self._room = max(0, self._room - sum(array.nbytes for array in terms))
            block = Block(np.arange(low, high), np.arange(high - low), high - low, terms)
            if self._room:
                copies = Terms._make(array.copy() for array in terms)
                self._kept.append(block._replace(terms=copies))
                self._ahead = list(ahead)
            yield block
        if self._room:
            self._ahead = []
