"""A game among some of its players, while the others stay away."""

from __future__ import annotations

from copy import copy
from math import inf
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.coalitions import BoolArray
from fairfield.game import Game
from fairfield.given_games import TableGame
from fairfield.multilinear import Extension, FloatArray


class Subgame(Game):
    """F(S) for the coalitions S of those who stay; its extension is f with x = 0 elsewhere.

    >>> whole = TableGame([0, 1, 2, 3, 4, 5, 6, 7], players=["ann", "bob", "eve"])
    >>> Subgame(whole, np.array([True, False, True])).worths(np.ones((1, 2), dtype=bool))
    array([5.])
    """

    def __init__(self, game: Game, staying: BoolArray) -> None:
        self.game, self.staying = game, staying
        self.players = tuple(p for p, here in zip(game.players, staying, strict=True) if here)
        self.batch, self.block, self.opaque = game.batch, game.block, game.opaque
        self.instead, self.noisy = game.instead, game.noisy
        self.labels, self.plays_for = game.labels, game.plays_for
        self.data = None if game.data is None else np.asarray(game.data)[..., staying]
        self.nulls = None if game.nulls is None else game.nulls[..., staying]

    def __copy__(self) -> Subgame:
        # Workers side by side count the failures of copies, each of its own.
        return Subgame(copy(self.game), self.staying)

    @property
    def failures(self) -> int:
        """How many worths the game could not find and filled in."""
        return self.game.failures

    @failures.setter
    def failures(self, count: int) -> None:
        self.game.failures = count

    @property
    def first_failure(self) -> str:
        """Why the first of these worths was not found."""
        return self.game.first_failure

    @first_failure.setter
    def first_failure(self, reason: str) -> None:
        self.game.first_failure = reason

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.game.worths(self._among_all(coalitions))

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        return self.game.worths_and_variances(self._among_all(coalitions))

    def _among_all(self, coalitions: BoolArray) -> BoolArray:
        whole = np.zeros((len(coalitions), len(self.staying)), dtype=bool)
        whole[:, self.staying] = coalitions
        return whole

    def table(self, progress: bool | None = None) -> Any:
        if not isinstance(self.game, TableGame) or self.noisy:
            return None  # variances come with the worths, coalition by coalition
        table = self.game.worth_table
        xp = array_api_compat.array_namespace(table)
        # One axis of length 2 for each player, the last player first.
        cube = xp.reshape(table, (*self.batch, *(2 for _ in self.staying)))
        inside = tuple(slice(None) if here else 0 for here in self.staying[::-1])
        return xp.reshape(cube[(..., *inside)], (*self.batch, -1))

    def extension(self) -> Extension | None:
        closed = self.game.extension()
        return None if closed is None else _SubExtension(closed, self.staying)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "among": self.game.describe()}


class _SubExtension(Extension):
    def __init__(self, whole: Extension, staying: BoolArray) -> None:
        self.whole, self.staying = whole, staying
        self.players, self.batch = int(staying.sum()), whole.batch
        self.degree, self.method = min(whole.degree, self.players), whole.method
        self.together = whole.together
        # A bound at ½ is none where some coordinates are 0.
        self.coarseness = inf if whole.coarseness else 0.0

    @property
    def offset(self) -> FloatArray:
        return self.whole.offset

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        given = np.asarray(x, dtype=float)
        among_all = np.zeros((*given.shape[:-1], len(self.staying)))
        among_all[..., self.staying] = given
        value, gradient = self.whole.centred(among_all)
        return value, gradient[..., self.staying]

    def rows(self, chosen: slice | NDArray[np.int64]) -> Extension:
        return _SubExtension(self.whole.rows(chosen), self.staying)
