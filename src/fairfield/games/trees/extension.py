"""The multilinear extension of tree games."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension, legendre
from fairfield.games.trees import terms as tree_terms
from fairfield.games.trees.diagonal import Diagonal
from fairfield.games.trees.kernels import collect
from fairfield.games.trees.leaves import start_walk
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.terms import Int64s, Terms
from fairfield.games.trees.worths import add_dependent_worths, add_worths

# Entries of the arrays that hold the terms computed at once, and bytes of terms that are kept
# for the next evaluation.
CAPACITY = 2**24
KEPT = 2**30
# Explained rows that go down the trees together.
TOGETHER = 1024


@dataclass(frozen=True)
class Forest:
    """The trees and the background, which the games of all explained rows share.

    ``background`` has shape (columns, rows), with no rows in the path-dependent game;
    ``depth`` and ``degree`` are the most splits and the most players on a path of each tree.
    """

    nodes: Nodes
    intercept: float
    players: int
    background: FloatArray
    depth: Int64s
    degree: Int64s

    @property
    def dependent(self) -> bool:
        """Whether the game is path-dependent."""
        return bool(self.background.shape[1] == 0)

    @cached_property
    def diagonal(self) -> Diagonal:
        """What is read along the diagonal, with the tables that are kept for it."""
        return Diagonal(self.nodes, int(self.depth.max()), self.degree, self.background)

    def only(self, trees: Int64s) -> Forest:
        """Some of the trees."""
        nodes = self.nodes._replace(roots=self.nodes.roots[trees])
        return replace(self, nodes=nodes, depth=self.depth[trees], degree=self.degree[trees])

    def worths(self, rows: FloatArray, coalitions: BoolArray) -> FloatArray:
        """By definition, (rows, coalitions): O(rows · coalitions · background · trees · depth)."""
        inside = np.ascontiguousarray(coalitions)
        worths = np.full((rows.shape[1], len(inside)), self.intercept)
        if self.dependent:
            add_dependent_worths(self.nodes, rows, inside, worths)
        else:
            add_worths(self.nodes, rows, self.background, inside, worths)
        return worths


class TreeExtension(Extension):
    """f, ∇f, ∇²f of the games of some rows, (columns, rows), as sums of products.

    The terms are computed once, block by block, and kept up to a bound; those beyond it are
    computed for every evaluation, which costs O(literals of a row's terms) per row.
    """

    method = "closed form: trees"

    def __init__(self, forest: Forest, rows: FloatArray, batch: tuple[int, ...]) -> None:
        self.forest, self.explained, self.batch = forest, rows, batch
        self.players, self.degree = forest.players, max(1, int(forest.degree.max(initial=0)))
        count = rows.shape[1]
        self._kept: list[tuple[Int64s, Terms]] = []
        self._room = KEPT
        # Blocks still to be computed: rows from, to, and the first tree.
        self._ahead = [(a, min(a + TOGETHER, count), 0) for a in range(0, count, TOGETHER)]

    @property
    def offset(self) -> FloatArray:
        return np.full(self.batch, self.forest.intercept)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """F(∅) and F(N), which need no terms."""
        both = np.arange(2)[:, None] == np.ones(self.players)
        empty, grand = self.forest.worths(self.explained, both).T
        return empty.reshape(self.batch), grand.reshape(self.batch)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = self._points(x)
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
        points, lead = self._points(x)
        n = self.players
        pairs = np.zeros((*points.shape[:-1], n, n))
        for where, terms in self._blocks():
            for k, point in enumerate(points):
                once = np.zeros((len(where), n, n))
                tree_terms.add_hessian(terms, point[where], once)
                pairs[k, where] += once + once.swapaxes(1, 2)
        return pairs.reshape((*lead, n, n))

    def gradient(self, x: ArrayLike) -> FloatArray:
        point = np.asarray(x, dtype=float)
        if point.ndim == 1 and 0 < point[0] < 1 and (point == point[0]).all():
            return self.along_diagonal(point[:1], np.ones(1))
        return self.centred(x)[1]

    def shapley(self) -> FloatArray:
        values, left = self._along_diagonal(*legendre(self.degree - 1), order=1)
        if left is not None:
            values += left._shapley_of_terms()
        return values.reshape((*self.batch, self.players))

    def along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        if not ((at > 0) & (at < 1)).all():
            return super().along_diagonal(at, shares)
        values, left = self._along_diagonal(at, shares, order=1)
        if left is not None:
            for t, share in zip(at, shares, strict=True):
                values += share * left.centred(np.full(self.players, t))[1].reshape(values.shape)
        return values.reshape((*self.batch, self.players))

    def hessian_along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        pairs, left = self._along_diagonal(at, shares, order=2)
        n, matrix = self.players, np.zeros((len(pairs), self.players, self.players))
        second, first = np.tril_indices(n, -1)
        matrix[:, first, second] = matrix[:, second, first] = pairs
        if left is not None:
            rest = Extension.hessian_along_diagonal(left, at, shares)
            matrix += rest.reshape(matrix.shape)
        return matrix.reshape((*self.batch, n, n))

    def _along_diagonal(
        self, at: FloatArray, shares: FloatArray, order: int
    ) -> tuple[FloatArray, TreeExtension | None]:
        """What is paid to players or pairs, (rows, …), and the extension of the trees left out."""
        rows, n = self.explained, self.players
        values = np.zeros((n if order == 1 else n * (n - 1) // 2, rows.shape[1]))
        left = self.forest.diagonal.add(rows, at, shares, order, values)
        if len(left) == len(self.forest.degree):
            return values.T, self
        rest = TreeExtension(self.forest.only(left), rows, self.batch) if len(left) else None
        return values.T, rest

    def _shapley_of_terms(self) -> FloatArray:
        """Σ over terms of what each pays to its players, in O(1) per literal: (rows, players)."""
        sizes = range(self.degree + 1)
        binomial = np.array([[float(comb(a + b, a)) for b in sizes] for a in sizes])
        values = np.zeros((self.explained.shape[1], self.players))
        # Terms that are used once need not be kept.
        for where, terms in self._blocks(keep=False):
            part = np.zeros((len(where), self.players))
            tree_terms.add_shapley(terms, binomial, part)
            values[where] += part
        return values

    def rows(self, chosen: slice | Int64s) -> TreeExtension:
        """The extensions of some rows; they share the terms, where all of them are kept."""
        picked = np.arange(self.explained.shape[1])[chosen]
        some = np.ascontiguousarray(self.explained[:, picked])
        part = TreeExtension(self.forest, some, (len(picked),))
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
        room = tree_terms.blank(min(CAPACITY, most), forest.dependent)
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
                    room = tree_terms.blank(2 * len(room.coefficient), forest.dependent)
                continue
            where, terms = np.arange(low, high), tree_terms.filled(room, used)
            if keep:
                self._room = max(0, self._room - sum(array.nbytes for array in terms))
            if keep and self._room:
                terms = Terms._make(array.copy() for array in terms)
                self._kept.append((where, terms))
                self._ahead = list(ahead)
            yield where, terms

    def _points(self, x: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        """Points as (x, 1 - x), shaped (k, rows, 2n), and the leading axes of the answer."""
        flat, lead = flat_points(x, self.players)
        if not lead:
            flat, lead = np.tile(flat, (self.explained.shape[1], 1)), self.batch
        if self.batch and lead[-1:] != self.batch:
            raise ValueError(
                f"points of shape {np.shape(x)} do not match a batch of {self.batch} games; "
                f"give one point, or an array shaped (..., {self.batch[0]}, n)"
            )
        flat = flat.reshape(-1, self.explained.shape[1], self.players)
        return np.concatenate([flat, 1 - flat], axis=-1), lead
