"""Weighted voting: a coalition wins when its weights reach the quota."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BLOCK, BoolArray, FloatArray, IntArray
from fairfield.core.checks import names, number, numbers
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

# Relative error of sums of real weights, by which they may fall short of the quota.
ROUNDING = 1e-12


class VotingGame(Game):
    """1 if the weights of a coalition's members reach the quota, else 0.

        F(S) = 1[Σ_{i∈S} w_i ≥ quota]

    Whole weights (of either sign) are exact: a gradient costs O(n · q), with q the lesser
    of quota and what the total exceeds it by. Real weights are rounded to multiples of a
    ``unit``, the total weight over ``resolution``; the extension is then that of the game
    ``rounded``, and ``error_bound`` says how far it may be off.

    Source: Owen, Multilinear extensions of games, Management Science 18 (1972); the two
    recursions are those of :mod:`fairfield.games.textbook.weighted_sums`.

    >>> game = VotingGame([2, 1, 1], quota=3)
    >>> game.extension().gradient([0.5, 0.5, 0.5]).tolist()
    [0.75, 0.25, 0.25]
    >>> game.extension().shapley().round(12).tolist()
    [0.666666666667, 0.166666666667, 0.166666666667]
    """

    def __init__(
        self,
        weights: ArrayLike,
        quota: float,
        *,
        resolution: int = RESOLUTION,
        players: Players | None = None,
    ) -> None:
        self.weights = numbers(weights, "weights")
        self.quota = number(quota, "the quota")
        self.players = names(players, len(self.weights))
        self._whole = whole_votes(self.weights[None], self.quota, resolution)

    @property
    def unit(self) -> float:
        """What the weights are multiples of, after rounding."""
        return float(self._whole.unit[0])

    @property
    def rounded(self) -> VotingGame:
        """The game of the rounded weights, in units, whose extension is used."""
        votes = self._whole
        return VotingGame(votes.weights[0], float(votes.quota[0]), players=self.players)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self._won(coalitions @ self.weights)

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        return contributions_of_sums(coalitions, self.weights, self._won)

    def _won(self, sums: FloatArray) -> FloatArray:
        return (sums >= reached(self.weights, self.quota)).astype(float)

    def extension(self) -> Extension:
        return self._whole.extension("closed form: voting")

    def error_bound(self, x: ArrayLike) -> FloatArray:
        """How far f(x) of the rounded weights can be from that of the given ones.

        P(sum within the joint rounding of the quota), which is at most
        P(|sum - quota| ≤ n · unit / 2); 0 for whole weights. A slope ∂_i f is off by at
        most the bound with player i in plus the bound with player i out.
        """
        return self._whole.error_bound(x)

    def describe(self) -> dict[str, Any]:
        # The extension depends on the unit.
        own = {"quota": self.quota, "unit": self.unit, "weights": digest(self.weights)}
        return {**super().describe(), **own}


@dataclass(frozen=True)
class WholeVotes:
    """Voting games in whole weights, with the sums whose outcome rounding may have changed."""

    weights: IntArray  # (games, n)
    quota: IntArray  # (games,)
    unit: FloatArray  # (games,)
    low: IntArray  # sums below it lose before and after rounding
    high: IntArray  # sums from it on win before and after rounding

    def extension(self, method: str, share: FloatArray | float = 1.0) -> WeightedSumExtension:
        """Σ_g share_g P(game g is won)."""
        closed = WeightedSumExtension(_blocks(self.weights, self.quota, share), method)
        if (self.low < self.high).any():
            # A slope is off by the bounds with the player in and out, whose mean is that at ½.
            half = np.full(self.weights.shape[1], 0.5)
            closed.coarseness = 2 * float(self.error_bound(half, share))
        return closed

    def error_bound(self, x: ArrayLike, share: FloatArray | float = 1.0) -> FloatArray:
        """Σ_g share_g P(low_g ≤ sum < high_g)."""
        some, none = (
            WeightedSumExtension(_blocks(self.weights, quota, share), "").value(x)
            for quota in (self.low, self.high)
        )
        return np.maximum(some - none, 0.0)


def whole_votes(weights: FloatArray, quota: ArrayLike, resolution: int) -> WholeVotes:
    """Voting games (games, n) with weights and quotas in whole multiples of a unit.

    A sum is off by the remainders of its members, so rounding can change the outcome only
    where the sum lies within all positive or all negative remainders of the quota.
    """
    rounded, unit, remainder = in_units(weights, resolution)
    needed = reached(weights, quota)
    above, below = (np.maximum(sign * remainder, 0).sum(axis=1) for sign in (1, -1))
    # Quotas beyond all sums are alike.
    far = np.abs(rounded).sum(axis=1) + 1
    exact, low, high = (
        np.clip(np.ceil(least / unit), -far, far).astype(np.int64)
        for least in (needed, needed - above, needed + below)
    )
    return WholeVotes(rounded, exact, unit, low, high)


def reached(weights: FloatArray, quota: ArrayLike) -> FloatArray:
    """The least sum that counts as the quota, less the rounding error of real weights."""
    whole = (weights == np.rint(weights)).all(axis=-1)
    slack = np.where(whole, 0.0, ROUNDING * np.abs(weights).sum(axis=-1))
    return np.asarray(quota - slack)


def _blocks(weights: IntArray, quota: IntArray, share: FloatArray | float) -> list[WeightedSums]:
    """Σ_g share_g 1[Σ w_gi z_i ≥ quota_g] with positive weights and as few sums as possible.

    Σ w z = Σ |w| y - Σ_{w<0} |w|, where y is 1 - z for negative weights; and a coalition
    reaches the quota exactly when those who do not count sum to less than
    total - quota + 1. The lesser of the two quotas decides how many sums are distinguished.
    Games with similar quotas share a block, so that no recursion is longer than needed.
    """
    absent, weights = weights < 0, np.abs(weights)
    total = weights.sum(axis=1)
    quota = quota + np.where(absent, weights, 0).sum(axis=1)
    against = quota > total + 1 - quota
    absent = absent ^ against[:, None]
    caps = np.maximum(np.where(against, total + 1 - quota, quota), 0)
    share = np.broadcast_to(share, len(caps))
    shared = (weights == weights[0]).all()
    blocks = []
    order = np.argsort(caps, kind="stable")
    while len(order):
        # Take games until the block is full; those with greater quotas would widen it.
        room = (caps[order] + 1) * np.arange(1, len(order) + 1) * weights.shape[1] <= BLOCK
        some, order = np.split(order, [max(1, int(room.sum()))])
        sums = np.arange(caps[some[-1]] + 1)
        won = (sums >= caps[some, None]) ^ against[some, None]
        own = weights[0] if shared else weights[some]
        blocks.append(WeightedSums(own, absent[some], share[some, None] * won))
    return blocks
