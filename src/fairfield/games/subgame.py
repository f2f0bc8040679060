"""A game among some of its players, while the others stay away."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.coalitions import BoolArray
from fairfield.game import Game, TableGame
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
        self.instead = game.instead

    def worths(self, coalitions: BoolArray) -> FloatArray:
        whole = np.zeros((len(coalitions), len(self.staying)), dtype=bool)
        whole[:, self.staying] = coalitions
        return self.game.worths(whole)

    def table(self, progress: bool | None = None) -> Any:
        if not isinstance(self.game, TableGame):
            return None
        # One axis of length 2 for each player, the last player first.
        cube = self.game.worth_table.reshape((*self.batch, *(2 for _ in self.staying)))
        inside = tuple(slice(None) if here else 0 for here in self.staying[::-1])
        return cube[(..., *inside)].reshape((*self.batch, -1))

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

    @property
    def offset(self) -> FloatArray:
        return self.whole.offset

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        given = np.asarray(x, dtype=float)
        among_all = np.zeros((*given.shape[:-1], len(self.staying)))
        among_all[..., self.staying] = given
        value, gradient = self.whole.centred(among_all)
        return value, gradient[..., self.staying]
