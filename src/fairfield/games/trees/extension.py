"""The multilinear extension of tree games."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.evaluation.blocks import over_rows
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.dependent import walk
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.pairs import square
from fairfield.games.trees.tables.diagonal import Diagonal
from fairfield.games.trees.worths import add_dependent_worths, add_outputs, add_worths

# Tables divide by points of the diagonal, and lose digits where these are small.
LEAST = 1e-3


@dataclass(frozen=True)
class Forest:
    """The trees and the background, which the games of all explained rows share.

    ``background`` has shape (columns, rows), with no rows in the path-dependent game;
    ``intercept`` is that of each output of the model; ``depth`` and ``degree`` are the most splits
    and the most players on a path of each tree.
    """

    nodes: Nodes
    intercept: FloatArray
    players: int
    background: FloatArray
    depth: Int64s
    degree: Int64s

    def __getstate__(self) -> dict[str, Any]:
        # What is kept for the next call is not sent to other processes.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def dependent(self) -> bool:
        """Whether the game is path-dependent."""
        return bool(self.background.shape[1] == 0)

    @cached_property
    def diagonal(self) -> Diagonal:
        """What is read along the diagonal, with the tables that are kept for it."""
        return Diagonal(self.nodes, self.degree, self.background)

    def only(self, trees: Int64s) -> Forest:
        """Some of the trees."""
        nodes = self.nodes
        own = {name: getattr(nodes, name)[trees] for name in ("roots", "ends", "output")}
        return replace(
            self, nodes=nodes._replace(**own), depth=self.depth[trees], degree=self.degree[trees]
        )

    def of(self, output: int) -> Forest:
        """The trees of one output, which is then the only one."""
        if len(self.intercept) == 1:
            return self
        nodes = self.nodes
        if nodes.value.shape[1] > 1:
            # Every tree has values for all outputs.
            kept, value = self, np.ascontiguousarray(nodes.value[:, output : output + 1])
        else:
            kept, value = self.only(np.flatnonzero(nodes.output == output)), nodes.value
        alone = kept.nodes._replace(value=value, output=np.zeros_like(kept.nodes.output))
        return replace(kept, nodes=alone, intercept=self.intercept[output : output + 1])

    def outputs(self, rows: FloatArray) -> FloatArray:
        """The model's outputs as they were read: (rows, outputs)."""
        found = np.tile(self.intercept, (rows.shape[1], 1))
        add_outputs(self.nodes, rows, found)
        return found

    @cached_property
    def empty(self) -> FloatArray:
        """F(∅) of each output, which is that of all rows."""
        if not self.dependent:
            mean, left = self.diagonal.mean(len(self.intercept))
            if len(left):
                return np.asarray(mean + self.only(left).outputs(self.background).mean(axis=0))
            return mean + self.intercept
        nodes, total = self.nodes, self.intercept.copy()
        at, tree, reach = nodes.roots, np.arange(len(nodes.roots)), np.ones(len(nodes.roots))
        while len(at):  # one level after another, the shares of the cover multiplied
            into = nodes.output[tree][:, None] + np.arange(nodes.value.shape[1])
            np.add.at(total, into, nodes.value[at] * reach[:, None])
            inner = nodes.left[at] >= 0
            at = np.concatenate([nodes.left[at[inner]], nodes.right[at[inner]]])
            tree, reach = np.tile(tree[inner], 2), np.tile(reach[inner], 2) * nodes.share[at]
        return total

    def worths(self, rows: FloatArray, coalitions: BoolArray) -> FloatArray:
        """By definition, (rows, outputs, coalitions): O(their product · background · trees · depth)."""
        inside = np.ascontiguousarray(coalitions)
        worths = np.empty((len(self.intercept), rows.shape[1], len(inside)))
        for output, worth in enumerate(worths):
            alone = self.of(output)
            worth[:] = alone.intercept
            if self.dependent:
                add_dependent_worths(alone.nodes, rows, inside, worth)
            else:
                add_worths(alone.nodes, rows, self.background, inside, worth)
        return worths.swapaxes(0, 1)


class AlongDiagonal(Extension):
    """Games whose readings along the diagonal are found for all rows and points at once."""

    forest: Forest
    explained: Any

    @abstractmethod
    def paid(self, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
        """What is paid to players or pairs along the diagonal: (games, players or pairs).

        The points are between LEAST and 1, which is not one of them.
        """

    @abstractmethod
    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]: ...

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """F(∅) and F(N), which need no terms."""
        grand = self.forest.outputs(self.explained)
        empty = np.tile(self.forest.empty, (len(grand), 1))
        return empty.reshape(self.batch), grand.reshape(self.batch)

    def gradient(self, x: ArrayLike) -> FloatArray:
        point = np.asarray(x, dtype=float)
        alike = point.shape == (self.players,) and (point == point[0]).all()
        if alike and _inside(point).all():
            return self.along_diagonal(point[:1], np.ones(1))
        return self.centred(x)[1]

    def along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        inside = _inside(at)
        ends = super().along_diagonal(at[~inside], shares[~inside])
        if not inside.any():
            return ends
        paid = self.paid(at[inside], shares[inside], order=1)
        return np.asarray(ends + paid.reshape((*self.batch, self.players)))

    def hessian_along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        inside, n = _inside(at), self.players
        ends = super().hessian_along_diagonal(at[~inside], shares[~inside])
        if not inside.any():
            return ends
        paid = self.paid(at[inside], shares[inside], order=2)
        return np.asarray(ends + square(paid, n).reshape((*self.batch, n, n)))


class TreeExtension(AlongDiagonal):
    """f, ∇f, ∇²f of the games of some rows, (columns, rows), for the only output of a forest."""

    method = "closed form: trees"
    # Rows that go down the trees together share most of the way.
    together = 1024

    def __init__(self, forest: Forest, rows: FloatArray, batch: tuple[int, ...]) -> None:
        self.forest, self.explained, self.batch = forest, rows, batch
        self.players, self.degree = forest.players, max(1, int(forest.degree.max(initial=0)))

    @property
    def offset(self) -> FloatArray:
        return np.full(self.batch, self.forest.intercept[0])

    def paid(self, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
        values = self.nothing(order)
        left = self.forest.diagonal.add(self.explained, at, shares, order, values[None], self.over)
        if len(left) == len(self.forest.degree):
            self.add_paid(at, shares, order, values)
        elif len(left):
            rest = type(self)(self.forest.only(left), self.explained, self.batch)
            rest.working_as(self).add_paid(at, shares, order, values)
        return values.T

    @abstractmethod
    def add_paid(self, at: FloatArray, shares: FloatArray, order: int, values: FloatArray) -> None:
        """Add what is paid to players or pairs along the diagonal, without tables."""

    def over(self, work: Callable[[slice], None]) -> None:
        """Call the work for blocks of rows, in as many threads as there may be."""
        over_rows(work, self.explained.shape[1], self)

    def nothing(self, order: int) -> FloatArray:
        """Nothing paid yet to players or pairs."""
        n = self.players
        return np.zeros((n if order == 1 else n * (n - 1) // 2, self.explained.shape[1]))


class DependentExtension(TreeExtension):
    """Of path-dependent games: one walk down each tree for each point, O(nodes) per row."""

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        worths, slopes, lead = self._walked(x, order=1)
        return worths.reshape(lead), slopes.reshape((*lead, self.players))

    def hessian(self, x: ArrayLike) -> FloatArray:
        _, pairs, lead = self._walked(x, order=2)
        n = self.players
        return square(pairs, n).reshape((*lead, n, n))

    def rows(self, chosen: slice | Int64s) -> DependentExtension:
        some = np.ascontiguousarray(self.explained[:, chosen])
        return DependentExtension(self.forest, some, (some.shape[1],)).working_as(self)

    def _walked(self, x: ArrayLike, order: int) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
        """The worths, (k, rows), and derivatives, (k, rows, …), at k points per row."""
        points, lead = points_of_games(x, self.players, self.batch)
        worths, values = np.zeros(points.shape[:2]), [self.nothing(order) for _ in points]
        for point, worth, value in zip(points, worths, values, strict=True):
            self._walk(np.ascontiguousarray(point.T)[None], np.ones(1), order, worth, value)
        return worths, np.array(values).swapaxes(1, 2), (*lead, *self.batch)

    def add_paid(self, at: FloatArray, shares: FloatArray, order: int, values: FloatArray) -> None:
        count = self.explained.shape[1]
        points = np.repeat(at, count).reshape(len(at), 1, count)
        self._walk(points, shares, order, np.zeros(count), values)

    def _walk(
        self,
        points: FloatArray,
        weights: FloatArray,
        order: int,
        worths: FloatArray,
        values: FloatArray,
    ) -> None:
        depth = int(self.forest.depth.max(initial=0))

        def work(block: slice) -> None:
            some, at = (np.ascontiguousarray(each[..., block]) for each in (self.explained, points))
            worth, value = np.zeros(some.shape[1]), np.zeros((len(values), some.shape[1]))
            walk(self.forest.nodes, depth, at, weights, order, some, worth, value)
            worths[block] += worth
            values[:, block] += value

        self.over(work)


def _inside(at: FloatArray) -> BoolArray:
    """At which points of the diagonal tables may be read."""
    return np.asarray((at >= LEAST) & (at < 1))
