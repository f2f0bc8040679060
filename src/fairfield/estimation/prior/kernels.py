"""Kernels of a prior over games: how much the worths of two coalitions have in common.

With s = ±1 for players in and out, u the share of players in, and S' a coalition:

    size       exp(-(u - u')²/2ℓ²)                     games of the size of a coalition alone
    slopes     s·s'/n · e^(-a(u + u'))                 linear games, larger among few players
    pairs      Σ_{i≠j} s_i s_j s'_i s'_j/n²            interactions of two players
    products   c^|SΔS'| · e^(-a(u + u'))               all interactions, of degree d by ρ^d,
               c = (1 - ρ)/(1 + ρ), ρ = τ/n            larger among few players

None of them tells players apart. So what a section k(·, S') adds to the value of a player along
the diagonal depends on |S'| and on whether S' holds the player, and a table by these two is all that
a semivalue needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.surrogates.sample import Diagonal

# Products have ρ below this, so that no factor is 0.
STEEPEST = 0.95


@dataclass(frozen=True)
class Alike:
    """What kernels need of coalitions S (m) and S' (k): s·s' (m, k) and their sizes."""

    agreement: FloatArray
    sizes: IntArray
    others: IntArray

    @classmethod
    def of(cls, coalitions: BoolArray, others: BoolArray) -> Alike:
        """Of coalitions (m, n) and others (k, n)."""
        agreement = signs_of(coalitions) @ signs_of(others).T
        return cls(agreement, coalitions.sum(axis=1), others.sum(axis=1))


class Kernel(Protocol):
    """k(S, S') of one kind."""

    @property
    def large(self) -> float:
        """How large its share of the prior may well be."""
        ...

    def gram(self, alike: Alike) -> FloatArray:
        """k(S, S'), (m, k)."""
        ...

    def slopes(self, diagonal: Diagonal) -> FloatArray:
        """The value of a player in k(·, S') by |S'| = 0 … n, out of S' and in it: (2, n + 1)."""
        ...


def signs_of(coalitions: BoolArray) -> FloatArray:
    """1 for players in, -1 for players out."""
    return np.where(coalitions, 1.0, -1.0)


@dataclass(frozen=True)
class Size:
    """exp(-(u - u')²/2ℓ²): games of the size alone, as smooth as ``length`` ℓ says."""

    players: int
    length: float
    large: float = 10.0

    def by_size(self) -> FloatArray:
        """The kernel of sizes 0 … n, (n + 1, n + 1)."""
        share = np.arange(self.players + 1) / self.players
        return np.asarray(np.exp(-((share[:, None] - share) ** 2) / (2 * self.length**2)))

    def gram(self, alike: Alike) -> FloatArray:
        return self.by_size()[alike.sizes][:, alike.others]

    def slopes(self, diagonal: Diagonal) -> FloatArray:
        steps = diagonal.shares @ np.diff(self.by_size(), axis=0)
        return np.stack([steps, steps])


@dataclass(frozen=True)
class Slopes:
    """s·s'/n · e^(-a(u + u')), with ``fading`` a."""

    players: int
    fading: float = 0.0
    large: float = 3.0

    @property
    def ratio(self) -> float:
        """e^(-a/n), by which one more player lessens a section."""
        return float(np.exp(-self.fading / self.players))

    def by_size(self) -> FloatArray:
        """e^(-au) of sizes 0 … n."""
        return np.asarray(self.ratio ** np.arange(self.players + 1))

    def gram(self, alike: Alike) -> FloatArray:
        height = self.by_size()
        rows, columns = height[alike.sizes], height[alike.others]
        return np.asarray(alike.agreement / self.players * rows[:, None] * columns)

    def slopes(self, diagonal: Diagonal) -> FloatArray:
        height, n = self.by_size(), self.players
        size = np.arange(n)
        # s_i e^(-au) adds the sum of two heights for player i, and s_i times their difference for others.
        own = diagonal.shares @ (height[1:] + height[:-1])
        other = diagonal.shares * (2 * size / max(n - 1, 1) - 1) @ np.diff(height)
        surplus = other * (2 * np.arange(n + 1) - n)
        return np.stack([surplus - (own - other), surplus + (own - other)]) * height / n


@dataclass(frozen=True)
class Pairs:
    """Σ_{i≠j} s_i s_j s'_i s'_j/n²."""

    players: int
    large: float = 3.0

    def gram(self, alike: Alike) -> FloatArray:
        return np.asarray((alike.agreement**2 - self.players) / self.players**2)

    def slopes(self, diagonal: Diagonal) -> FloatArray:
        n, mean = self.players, float((2 * diagonal.nodes - 1) @ diagonal.weights)
        surplus = 2 * np.arange(n + 1) - n
        return np.asarray(4 * mean / n**2 * np.stack([-(surplus + 1), surplus - 1]))


@dataclass(frozen=True)
class Products:
    """c^|SΔS'| · e^(-a(u + u')), with ``degrees`` τ and ``fading`` a."""

    players: int
    degrees: float
    fading: float = 0.0
    large: float = 3.0

    def factors(self) -> tuple[float, float]:
        """Factors of players in one coalition, and in both; it is 1 for those in none."""
        rate, ratio = min(self.degrees / self.players, STEEPEST), -self.fading / self.players
        return float((1 - rate) / (1 + rate) * np.exp(ratio)), float(np.exp(2 * ratio))

    def gram(self, alike: Alike) -> FloatArray:
        one, both = map(np.log, self.factors())
        apart = (self.players - alike.agreement) / 2
        shared = (alike.sizes[:, None] + alike.others - apart) / 2
        return np.asarray(np.exp(apart * one + shared * both))

    def slopes(self, diagonal: Diagonal) -> FloatArray:
        (one, both), at = self.factors(), diagonal.nodes
        outside, inside = 1 + (one - 1) * at, one + (both - one) * at
        size = np.arange(self.players + 1)[:, None]
        logs = size * np.log(inside) + (self.players - size) * np.log(outside)
        return np.stack(
            [
                np.exp(logs - np.log(outside)) @ (diagonal.weights * (one - 1)),
                np.exp(logs - np.log(inside)) @ (diagonal.weights * (both - one)),
            ]
        )


def kernels(players: int) -> Sequence[Kernel]:
    """The kernels of the prior; the worths decide how much of each there is."""
    few = 5.0  # games of data, say, differ most among few players
    return (
        Size(players, 1.0),
        Size(players, 0.3),
        Size(players, 0.08),
        Slopes(players),
        Slopes(players, few),
        Pairs(players),
        *(Products(players, degrees) for degrees in (0.5, 1.5, 4.0, 10.0)),
        *(Products(players, degrees, few) for degrees in (1.5, 6.0)),
    )
