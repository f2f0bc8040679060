"""A game among some of its players, while the others stay away."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from fairfield.core.arrays import BoolArray
from fairfield.core.game import Game
from fairfield.games.given.conditioned import HeldGame
from fairfield.games.given.table import TableGame


class Subgame(HeldGame):
    """F(S) for the coalitions S of those who stay; its extension is f with x = 0 elsewhere.

    >>> whole = TableGame([0, 1, 2, 3, 4, 5, 6, 7], players=["ann", "bob", "eve"])
    >>> Subgame(whole, np.array([True, False, True])).worths(np.ones((1, 2), dtype=bool))
    array([5.])
    """

    def __init__(self, game: Game, staying: BoolArray) -> None:
        super().__init__(game, np.zeros_like(staying), ~staying)

    def table(self, progress: bool | None = None) -> Any:
        if not isinstance(self.whole, TableGame) or self.traits.noisy:
            return None  # variances come with the worths, coalition by coalition
        table = self.whole.worth_table
        xp = array_api_compat.array_namespace(table)
        # One axis of length 2 for each player, the last player first.
        cube = xp.reshape(table, (*self.batch, *(2 for _ in self.fixed)))
        inside = tuple(0 if away else slice(None) for away in self.fixed[::-1])
        return xp.reshape(cube[(..., *inside)], (*self.batch, -1))
