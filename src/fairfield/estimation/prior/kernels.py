"""Kernels of a prior over games: how much the worths of two coalitions have in common.

With s = ±1 for players in and out, u the share of players in, and S' a coalition:

    size       exp(-(u - u')²/2ℓ²)                     games of the size of a coalition alone
    slopes     s·s'/n · e^(-a(u + u'))                 linear games, larger among few players,
               or · exp(-(u - u')²/2ℓ²)                with slopes that vary with the size
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

# Products have ρ below this, so that no factor is 0.
STEEPEST = 0.95
# From so many coalitions per player on slopes may vary with the size.
MANY = 10


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


@dataclass(frozen=True)
class Slopes:
    """s·s'/n · e^(-a(u + u')), with ``fading`` a, or · exp(-(u - u')²/2ℓ²), with ``length`` ℓ."""

    players: int
    fading: float = 0.0
    length: float = np.inf
    large: float = 3.0

    def by_size(self) -> FloatArray:
        """What slopes at sizes 0 … n have in common, (n + 1, n + 1)."""
        share = np.arange(self.players + 1) / self.players
        both, apart = share[:, None] + share, share[:, None] - share
        return np.asarray(np.exp(-self.fading * both - apart**2 / (2 * self.length**2)))

    def gram(self, alike: Alike) -> FloatArray:
        heights = self.by_size()[alike.sizes][:, alike.others]
        return np.asarray(alike.agreement / self.players * heights)


@dataclass(frozen=True)
class Pairs:
    """Σ_{i≠j} s_i s_j s'_i s'_j/n²."""

    players: int
    large: float = 3.0

    def gram(self, alike: Alike) -> FloatArray:
        return np.asarray((alike.agreement**2 - self.players) / self.players**2)


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


def kernels(players: int, coalitions: int) -> Sequence[Kernel]:
    """The kernels of the prior; the worths decide how much of each there is.

    Few coalitions per player cannot tell slopes that vary with the size from others (measured).
    """
    few = 5.0  # games of data, say, differ most among few players
    varying = [Slopes(players, length=0.5 / players**0.5)] if coalitions >= MANY * players else []
    return (
        Size(players, 1.0),
        Size(players, 0.3),
        Size(players, 0.08),
        Slopes(players),
        Slopes(players, few),
        *varying,
        Pairs(players),
        *(Products(players, degrees) for degrees in (0.5, 1.5, 4.0, 10.0)),
        *(Products(players, degrees, few) for degrees in (1.5, 6.0)),
    )
