"""Glove games: a market of left and right gloves, which are worth something in pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import names, whole
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players
from fairfield.games.features.linear import LinearExtension
from fairfield.games.textbook.weighted_sums import WeightedSumExtension, WeightedSums


class GlovesGame(Game):
    """The pairs of gloves in a coalition: players own one left or one right glove each.

        F(S) = min(|S ∩ left|, |S ∩ right|)

    The first ``left`` players own left gloves, the other ``right`` ones right gloves. A
    gradient costs O((left + right)²).

    >>> GlovesGame(left=1, right=2).extension().shapley().round(12).tolist()
    [0.666666666667, 0.166666666667, 0.166666666667]
    """

    def __init__(self, left: int, right: int, *, players: Players | None = None) -> None:
        self.left, self.right = whole("left", left), whole("right", right)
        self.players = names(players, self.left + self.right)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        left, right = coalitions[:, : self.left], coalitions[:, self.left :]
        return np.asarray(np.minimum(left.sum(axis=1), right.sum(axis=1)), dtype=float)

    def extension(self) -> Extension:
        return GlovesExtension(self.left, self.right)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "left": self.left, "right": self.right}


class GlovesExtension(CombinedExtension):
    """E min(L, R) = ½ E(L + R) - ½ E|L - R|, with L and R the numbers of gloves in.

    L - R + right is the number of members with a left glove and, of the players with a right
    one, of those who are absent.
    """

    def __init__(self, left: int, right: int) -> None:
        self.left, self.right = left, right
        ones, sums = np.ones(left + right, dtype=np.int64), np.arange(left + right + 1)
        absent, apart = np.arange(left + right) >= left, np.abs(sums - right)
        number = LinearExtension(np.ones(left + right), 0.0)
        difference = WeightedSumExtension([WeightedSums(ones, absent[None], apart[None])], "")
        super().__init__([(-0.5, difference), (0.5, number)])
        self.method = "closed form: gloves"

    def shapley(self) -> FloatArray:
        """P(more gloves of the other side among the players before), in a random order."""
        from scipy.stats import hypergeom

        before = np.arange(self.players)
        # Of s players before, fewer than s/2 are of the player's own side.
        left, right = (
            np.mean(hypergeom.cdf((before - 1) // 2, self.players - 1, own - 1, before))
            for own in (self.left, self.right)
        )
        return np.repeat([left, right], [self.left, self.right])
