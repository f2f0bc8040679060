"""Bankruptcy games: claimants divide an estate that does not cover all claims."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import names, nonnegative, number
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Players
from fairfield.games.textbook.weighted_sums import (
    RESOLUTION,
    WeightedSumExtension,
    WeightedSums,
    contributions_of_sums,
    in_units,
)


class BankruptcyGame(Game):
    """What an estate leaves to a coalition after all other claims are paid.

        F(S) = max(0, estate - Σ_{i∉S} claim_i)

    Whole claims are exact: a gradient costs O(n · estate). Real ones are rounded to
    multiples of a ``unit``, their total over ``resolution``; the extension is then that of
    the game ``rounded``, and ``error_bound`` says how far it may be off.

    Source: O'Neill, A problem of rights arbitration from the Talmud, Mathematical Social
    Sciences 2 (1982).

    >>> BankruptcyGame([100, 200, 300], estate=200).extension().shapley().round(9).tolist()
    [33.333333333, 83.333333333, 83.333333333]
    """

    def __init__(
        self,
        claims: ArrayLike,
        estate: float,
        *,
        resolution: int = RESOLUTION,
        players: Players | None = None,
    ) -> None:
        self.claims = nonnegative(claims, "claims")
        self.estate = number(estate, "the estate")
        if self.estate < 0:
            raise ValueError(f"the estate is {self.estate}; it cannot be negative")
        self.players = names(players, len(self.claims))
        rounded, unit, remainders = in_units(self.claims[None], resolution)
        self.unit = float(unit[0])
        self._rounded, self._remainders = rounded[0], remainders[0]

    @property
    def rounded(self) -> BankruptcyGame:
        """The game of the rounded claims, whose extension is used."""
        return BankruptcyGame(self._rounded * self.unit, self.estate, players=self.players)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self._left_over(~coalitions @ self.claims)

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        # Players out of the coalition are those who count.
        worths, steps = contributions_of_sums(~coalitions, self.claims, self._left_over)
        return worths, -steps

    def _left_over(self, paid: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(0.0, self.estate - paid))

    def extension(self) -> Extension:
        # The claims of absent players add up, until they use up the estate.
        top = min(int(np.ceil(self.estate / self.unit)), int(self._rounded.sum()))
        left_over = np.maximum(0.0, self.estate - self.unit * np.arange(top + 1))
        absent = np.ones((1, len(self.claims)), dtype=bool)
        sums = WeightedSums(self._rounded, absent, left_over[None])
        closed = WeightedSumExtension([sums], "closed form: bankruptcy")
        # A slope is off by the bounds with the player in and out, whose mean is that at ½.
        closed.coarseness = 2 * float(self.error_bound(np.full(len(self.claims), 0.5)))
        return closed

    def error_bound(self, x: ArrayLike) -> FloatArray:
        """How far f(x) of the rounded claims can be from that of the given ones.

        Σ_i (1 - x_i) |rounding of claim i| ≤ n · unit / 2, since max(0, ·) changes no faster
        than its argument; 0 for whole claims.
        """
        return np.asarray((1 - np.asarray(x, dtype=float)) @ np.abs(self._remainders))

    def describe(self) -> dict[str, Any]:
        # The extension depends on the unit.
        own = {"estate": self.estate, "unit": self.unit, "claims": digest(self.claims)}
        return {**super().describe(), **own}
