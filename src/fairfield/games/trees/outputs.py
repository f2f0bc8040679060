"""The extension of tree games of several outputs at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.evaluation.blocks import over_rows
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.extension import AlongDiagonal, Forest, TreeExtension

# The games of a batch that a part has, and their extension.
Piece = tuple[Int64s, Extension]


class SideBySide(Extension):
    """The games of several extensions as one batch."""

    method, together = TreeExtension.method, TreeExtension.together

    def __init__(self, parts: Sequence[Piece], batch: tuple[int, ...]) -> None:
        self.parts, self.batch = parts, batch
        self.players = parts[0][1].players
        self.degree = max(part.degree for _, part in parts)

    @property
    def offset(self) -> FloatArray:
        return self._joined([part.offset for _, part in self.parts], (), 0)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        both = [part.ends() for _, part in self.parts]
        empty, grand = (self._joined(list(each), (), 0) for each in zip(*both, strict=True))
        return empty, grand

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = points_of_games(x, self.players, self.batch)
        both = [part.working_as(self).centred(points[:, where]) for where, part in self.parts]
        worths, slopes = zip(*both, strict=True)
        return self._joined(list(worths), lead, 0), self._joined(list(slopes), lead, 1)

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = points_of_games(x, self.players, self.batch)
        found = [part.working_as(self).hessian(points[:, where]) for where, part in self.parts]
        return self._joined(found, lead, 2)

    def rows(self, chosen: slice | Int64s) -> SideBySide:
        count = int(np.prod(self.batch))
        picked = np.arange(count)[chosen]
        parts: list[Piece] = []
        for where, part in self.parts:
            place = np.full(count, -1)
            place[where] = np.arange(len(where))
            inside = np.flatnonzero(place[picked] >= 0)
            if len(inside):
                parts.append((inside, part.rows(place[picked[inside]])))
        return SideBySide(parts, (len(picked),)).working_as(self)

    def _joined(self, found: Sequence[FloatArray], lead: tuple[int, ...], axes: int) -> FloatArray:
        """What the parts answer, (…, games of the part, n …), in the order of the batch."""
        own = (self.players,) * axes
        count = int(np.prod(lead, dtype=int))
        joined = np.empty((count, int(np.prod(self.batch)), *own))
        for (where, _), each in zip(self.parts, found, strict=True):
            joined[:, where] = each.reshape(count, len(where), *own)
        return joined.reshape((*lead, *self.batch, *own))


class OutputsExtension(SideBySide, AlongDiagonal):
    """All outputs of a forest for some rows; what is read along the diagonal is read at once."""

    def __init__(
        self,
        kind: type[TreeExtension],
        forest: Forest,
        rows: FloatArray,
        batch: tuple[int, ...],
    ) -> None:
        outputs, count = len(forest.intercept), rows.shape[1]
        self.kind, self.forest, self.explained = kind, forest, rows
        parts = [
            (np.arange(count) * outputs + output, kind(forest.of(output), rows, (count,)))
            for output in range(outputs)
        ]
        super().__init__(parts, batch)

    ends = AlongDiagonal.ends

    def paid(self, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
        rows, n = self.explained, self.players
        count = n if order == 1 else n * (n - 1) // 2
        values = np.zeros((len(self.parts), count, rows.shape[1]))
        left = self.forest.diagonal.add(rows, at, shares, order, values, self._over)
        if len(left):
            rest = self.forest.only(left)
            for output, value in enumerate(values):
                part = self.kind(rest.of(output), rows, rows.shape[1:]).working_as(self)
                part.add_paid(at, shares, order, value)
        return values.transpose(2, 0, 1).reshape(len(values) * rows.shape[1], count)

    def _over(self, work: Callable[[slice], None]) -> None:
        over_rows(work, self.explained.shape[1], self)
