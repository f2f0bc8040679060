"""The textbook games of cooperative game theory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import flat_points, names, nonnegative, number, numbers
from fairfield.core.coalitions import coalition_of
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Player, Players, name_players
from fairfield.games.set_functions.facility_location import FacilityLocationGame
from fairfield.games.set_functions.products import ProductsExtension
from fairfield.games.textbook.sums import (
    RESOLUTION,
    SumExtension,
    Sums,
    backward,
    forward,
    forward_pairs,
    in_units,
    law,
)


class CardinalityGame(Game):
    """A worth that depends on how many players come together, not on who they are.

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

    def extension(self) -> Extension:
        return CardinalityExtension(self.worth_by_size)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "worth_by_size": digest(self.worth_by_size)}


class CardinalityExtension(SumExtension):
    """E φ(|S|), |S| a sum of independent players: the Poisson-binomial law."""

    def __init__(self, worth_by_size: FloatArray) -> None:
        ones = np.ones(len(worth_by_size) - 1, dtype=np.int64)
        super().__init__([Sums.one(ones, worth_by_size)], "closed form: cardinality")
        self.worth_by_size = worth_by_size

    def shapley(self) -> FloatArray:
        """Equal shares of φ(n) - φ(0)."""
        gain = self.worth_by_size[-1] - self.worth_by_size[0]
        return np.full(self.players, gain / self.players)


class AirportGame(FacilityLocationGame):
    """The cost of the runway that the most demanding member of a coalition needs.

        F(S) = max_{i∈S} cost_i,    F(∅) = 0

    In Shapley's division every player pays an equal share of each piece of runway that he
    uses. Source: Littlechild, Owen, Management Science 20 (1973).

    >>> AirportGame([1, 2, 4]).extension().shapley().round(12).tolist()
    [0.333333333333, 0.833333333333, 2.833333333333]
    """

    def __init__(self, costs: ArrayLike, *, players: Players | None = None) -> None:
        super().__init__(nonnegative(costs, "costs")[:, None], players=players)


class GlovesGame(Game):
    """The pairs of gloves in a coalition: players own one left or one right glove each.

        F(S) = min(|S ∩ left|, |S ∩ right|)

    The first ``left`` players own left gloves, the other ``right`` ones right gloves. A
    gradient costs O(left² + right²).

    >>> GlovesGame(left=1, right=2).extension().shapley().round(12).tolist()
    [0.666666666667, 0.166666666667, 0.166666666667]
    """

    def __init__(self, left: int, right: int, *, players: Players | None = None) -> None:
        for side, count in (("left", left), ("right", right)):
            if not isinstance(count, (int, np.integer)) or count < 1:
                raise ValueError(
                    f"{side}={count!r} was given; each side needs a whole number ≥ 1 of gloves"
                )
        self.left, self.right = int(left), int(right)
        self.players = names(players, self.left + self.right)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        left, right = coalitions[:, : self.left], coalitions[:, self.left :]
        return np.asarray(np.minimum(left.sum(axis=1), right.sum(axis=1)), dtype=float)

    def extension(self) -> Extension:
        return GlovesExtension(self.left, self.right)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "left": self.left, "right": self.right}


class GlovesExtension(Extension):
    """E min(L, R), with L and R the numbers of left and of right gloves.

    Seen from one side it is a cardinality game with worths E min(k, other side); a pair
    of players across sides adds 1[L = R] among the others.
    """

    method = "closed form: gloves"

    def __init__(self, left: int, right: int) -> None:
        self.left, self.right = left, right
        self.players = left + right
        self.degree = self.players

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        sides = []
        for own, other in self._sides(at):
            ones = np.ones(own.shape[-1], dtype=np.int64)
            value, steps = backward(own, ones, _mean_pairs(own, other))
            sides.append(forward(own, ones, steps))
        gradient = np.concatenate(sides, axis=-1)
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        hessian = np.empty((*at.shape, self.players))
        here, there = slice(None, self.left), slice(self.left, None)
        for side, (own, other) in zip((here, there), self._sides(at), strict=True):
            ones = np.ones(own.shape[-1], dtype=np.int64)
            _, steps = backward(own, ones, _mean_pairs(own, other))
            hessian[:, side, side] = forward_pairs(own, ones, steps)
        # P(as many on both sides, without one player of each), by leaving each one out.
        without = [_law_without_one(own, min(self.left, self.right)) for own, _ in self._sides(at)]
        across = without[0] @ without[1].swapaxes(-1, -2)
        hessian[:, here, there], hessian[:, there, here] = across, across.swapaxes(-1, -2)
        return hessian.reshape(*lead, self.players, self.players)

    def shapley(self) -> FloatArray:
        """P(more gloves of the other side among the players before), in a random order."""
        from scipy.stats import hypergeom

        before = np.arange(self.players)
        # Of s players before, fewer than s/2 of his own side.
        left, right = (
            np.mean(hypergeom.cdf((before - 1) // 2, self.players - 1, own - 1, before))
            for own in (self.left, self.right)
        )
        return np.repeat([left, right], [self.left, self.right])

    def _sides(self, at: FloatArray) -> tuple[tuple[FloatArray, FloatArray], ...]:
        left, right = at[:, : self.left], at[:, self.left :]
        return (left, right), (right, left)


def _mean_pairs(own: FloatArray, other: FloatArray) -> FloatArray:
    """E min(k, number of the others) = Σ_{j<k} P(number > j), for k = 0 … own players."""
    more = np.cumsum(law(other)[:, :0:-1], axis=-1)[:, ::-1]
    worths = np.zeros((len(own), own.shape[-1] + 1))
    reached = min(own.shape[-1], other.shape[-1])
    np.cumsum(more[:, :reached], axis=-1, out=worths[:, 1 : reached + 1])
    worths[:, reached + 1 :] = worths[:, reached, None]
    return worths


def _law_without_one(x: FloatArray, sizes: int) -> FloatArray:
    """P(k of the players other than i join), for k = 0 … sizes - 1: (points, n, sizes)."""
    others = np.tile(x[:, None, :], (1, x.shape[-1], 1))
    others[:, np.arange(x.shape[-1]), np.arange(x.shape[-1])] = 0.0
    return law(others)[..., :sizes]


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
        """The game of the rounded claims: the one whose extension is used."""
        return BankruptcyGame(self._rounded * self.unit, self.estate, players=self.players)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray(np.maximum(0.0, self.estate - ~coalitions @ self.claims))

    def extension(self) -> Extension:
        return self._extension

    @cached_property
    def _extension(self) -> SumExtension:
        # Only those who are out count, up to the sum of claims that uses up the estate.
        top = min(int(np.ceil(self.estate / self.unit)), int(self._rounded.sum()))
        left_over = np.maximum(0.0, self.estate - self.unit * np.arange(top + 1))
        sums = Sums.one(self._rounded, left_over, absent=True)
        return SumExtension([sums], "closed form: bankruptcy")

    def error_bound(self, x: ArrayLike) -> FloatArray:
        """How far f(x) of the rounded claims can be from that of the given ones.

        Σ_i (1 - x_i) |rounding of claim i| ≤ n · unit / 2, since max(0, ·) moves no faster
        than its argument; 0 for whole claims.
        """
        return np.asarray((1 - np.asarray(x, dtype=float)) @ np.abs(self._remainders))

    def describe(self) -> dict[str, Any]:
        # The unit is part of it: it decides what the extension answers.
        own = {"estate": self.estate, "unit": self.unit, "claims": digest(self.claims)}
        return {**super().describe(), **own}


class UnanimityGame(Game):
    """1 if a coalition holds the whole carrier, else 0.

        F(S) = 1[carrier ⊆ S]

    ``players`` are all players, by name or number, and ``carrier`` those whose agreement
    is needed. A gradient costs O(carrier).

    >>> UnanimityGame(["ann", "bob"], players=["ann", "bob", "cy"]).extension().shapley().tolist()
    [0.5, 0.5, 0.0]
    """

    def __init__(self, carrier: Iterable[Player], players: Players) -> None:
        self.players = name_players(players)
        self.carrier = coalition_of(carrier, self.players)
        if not self.carrier.any():
            raise ValueError("the carrier is empty; name at least one player who must agree")

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return coalitions[:, self.carrier].all(axis=1).astype(float)

    def extension(self) -> Extension:
        return UnanimityExtension(self.carrier)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "carrier": digest(self.carrier)}


class UnanimityExtension(ProductsExtension):
    """Π_{i ∈ carrier} x_i."""

    def __init__(self, carrier: BoolArray) -> None:
        from scipy.sparse import csr_array

        needed = np.ones(int(carrier.sum()))
        super().__init__(
            csr_array(carrier[None], dtype=float),
            0 * needed,
            needed,
            np.ones(1),
            method="closed form: unanimity",
        )
        self.carrier = carrier

    def shapley(self) -> FloatArray:
        """Equal shares among the carrier."""
        return self.carrier / np.float64(self.carrier.sum())
