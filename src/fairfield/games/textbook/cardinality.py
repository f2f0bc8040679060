"""Games in which only the number of players in a coalition matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import names, numbers
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Players
from fairfield.games.textbook.weighted_sums import (
    WeightedSumExtension,
    WeightedSums,
    contributions_of_sums,
)


class CardinalityGame(Game):
    """A worth that depends on the size of a coalition alone.

        F(S) = φ(|S|)

    with ``worth_by_size`` φ(0) … φ(n). A gradient costs O(n²).

    >>> CardinalityGame([0, 0, 1, 3]).extension().gradient([0.5, 0.5, 0.5]).tolist()
    [1.0, 1.0, 1.0]
    """

    def __init__(self, worth_by_size: ArrayLike, *, players: Players | None = None) -> None:
        self.worth_by_size = numbers(worth_by_size, "worth_by_size")
        self.players = names(players, len(self.worth_by_size) - 1)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray(self.worth_by_size[coalitions.sum(axis=1)])

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        ones = np.ones(len(self.players), dtype=np.int64)
        return contributions_of_sums(coalitions, ones, self.worth_by_size.__getitem__)

    def extension(self) -> Extension:
        return CardinalityExtension(self.worth_by_size)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "worth_by_size": digest(self.worth_by_size)}


class CardinalityExtension(WeightedSumExtension):
    """E φ(|S|), where |S| has a Poisson-binomial distribution."""

    def __init__(self, worth_by_size: FloatArray) -> None:
        ones = np.ones(len(worth_by_size) - 1, dtype=np.int64)
        # An offset would cost the recursions its digits.
        self.middle = (worth_by_size.min() + worth_by_size.max()) / 2
        sums = WeightedSums(ones, ones[None] < 1, worth_by_size[None] - self.middle)
        super().__init__([sums], "closed form: cardinality")
        self.worth_by_size = worth_by_size

    @property
    def offset(self) -> FloatArray:
        return np.asarray(self.middle)

    def shapley(self) -> FloatArray:
        """Equal shares of φ(n) - φ(0)."""
        gain = self.worth_by_size[-1] - self.worth_by_size[0]
        return np.full(self.players, gain / self.players)
