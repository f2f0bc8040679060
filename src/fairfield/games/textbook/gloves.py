"""Glove games: a market of left and right gloves, which are worth something in pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import flat_points, names, whole
from fairfield.core.extension import Extension
from fairfield.core.game import Game, Players
from fairfield.games.textbook.weighted_sums import (
    backward,
    forward,
    forward_pairs,
    size_distribution,
)


class GlovesGame(Game):
    """The pairs of gloves in a coalition: players own one left or one right glove each.

        F(S) = min(|S ∩ left|, |S ∩ right|)

    The first ``left`` players own left gloves, the other ``right`` ones right gloves. A
    gradient costs O(left² + right²).

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


class GlovesExtension(Extension):
    """E min(L, R), with L and R the numbers of left and of right gloves.

    Given the distribution of the other side, each side plays a cardinality game with worths
    E min(k, other side); a pair of players across sides adds 1[L = R] among the others.
    """

    method = "closed form: gloves"

    def __init__(self, left: int, right: int) -> None:
        self.left, self.right = left, right
        self.players = self.degree = left + right

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
        without = [_without_one(own, min(self.left, self.right)) for own, _ in self._sides(at)]
        across = without[0] @ without[1].swapaxes(-1, -2)
        hessian[:, here, there], hessian[:, there, here] = across, across.swapaxes(-1, -2)
        return hessian.reshape(*lead, self.players, self.players)

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

    def _sides(self, at: FloatArray) -> tuple[tuple[FloatArray, FloatArray], ...]:
        left, right = at[:, : self.left], at[:, self.left :]
        return (left, right), (right, left)


def _mean_pairs(own: FloatArray, other: FloatArray) -> FloatArray:
    """E min(k, size of the other side) = Σ_{j<k} P(size > j), for k = 0 … own players."""
    more = np.cumsum(size_distribution(other)[:, :0:-1], axis=-1)[:, ::-1]
    worths = np.zeros((len(own), own.shape[-1] + 1))
    reached = min(own.shape[-1], other.shape[-1])
    np.cumsum(more[:, :reached], axis=-1, out=worths[:, 1 : reached + 1])
    worths[:, reached + 1 :] = worths[:, reached, None]
    return worths


def _without_one(x: FloatArray, sizes: int) -> FloatArray:
    """P(k of the players other than i join), for k = 0 … sizes - 1: (points, n, sizes)."""
    others = np.tile(x[:, None, :], (1, x.shape[-1], 1))
    others[:, np.arange(x.shape[-1]), np.arange(x.shape[-1])] = 0.0
    return size_distribution(others)[..., :sizes]
