"""The extensions of many games whose tables are found fast, but do not fit into memory together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.checks import points_of_games
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.progress import bar
from fairfield.games.given.table import TableGame
from fairfield.multilinear.table import TableExtension

# So many worths are in memory at once.
WORKED_ON = 2**22


class BlockedTables(Extension):
    """f, ∇f, ∇²f of a batch of tables, found some games at a time and not kept.

    Every reading finds them again, save the solvers', which take a block by ``rows`` and keep it.
    """

    method = "exact tables, block by block"

    def __init__(self, game: Game, chosen: IntArray | None = None) -> None:
        self.game, self.players = game, len(game.players)
        self.chosen = np.arange(game.batch[0]) if chosen is None else chosen
        self.batch, self.degree = (len(self.chosen),), self.players
        self.together = max(1, WORKED_ON >> self.players)

    def rows(self, chosen: slice | NDArray[np.int64]) -> Extension:
        some = self.chosen[chosen]
        if len(some) > self.together:
            return BlockedTables(self.game, some).working_as(self)
        return TableExtension.of(TableGame(self.game.tables(some)))

    def _read(self, reading: Callable[[Extension, slice], Any], axis: int = 0) -> Any:
        """What is read of each block, one after another along an axis."""
        count, found = self.batch[0], []
        with bar(count, "games", self.progress, "game") as shown:
            for start in range(0, count, self.together):
                some = slice(start, min(start + self.together, count))
                found.append(reading(self.rows(some), some))
                shown.update(some.stop - start)
        if isinstance(found[0], tuple):
            return tuple(np.concatenate(each, axis=axis) for each in zip(*found, strict=True))
        return np.concatenate(found, axis=axis)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        both = np.arange(2)[:, None].repeat(self.players, axis=1).astype(bool)
        empty, grand = self.game.worths(both)[self.chosen].T
        return empty, grand

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = points_of_games(x, self.players, self.batch)

        def reading(block: Extension, some: slice) -> tuple[FloatArray, FloatArray]:
            # A block subtracts an offset of its own, where its worths lie far from 0.
            value, slopes = block.centred(points[:, some])
            return value + block.offset, slopes

        value, slopes = self._read(reading, axis=1)
        return value.reshape((*lead, *self.batch)), slopes.reshape((*lead, *self.batch, -1))

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = points_of_games(x, self.players, self.batch)
        found = self._read(lambda block, some: block.hessian(points[:, some]), axis=1)
        return np.asarray(found.reshape((*lead, *self.batch, self.players, self.players)))

    def shapley(self) -> FloatArray:
        return np.asarray(self._read(lambda block, some: block.shapley()))

    def derivatives_along_diagonal(
        self, at: FloatArray, shares: FloatArray, size: int
    ) -> FloatArray:
        def reading(block: Extension, some: slice) -> FloatArray:
            return block.derivatives_along_diagonal(at, shares, size)

        return np.asarray(self._read(reading))

    def along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        return self.derivatives_along_diagonal(at, shares, 1)
