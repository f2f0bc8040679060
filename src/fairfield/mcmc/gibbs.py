"""Gibbs sampling of p(S), many players of many chains at once.

Each chain redraws a random block of players from their log-odds given the others, and a
Metropolis test keeps the law exact where the block's players depend on each other. Blocks
of one player are Gibbs sampling, always accepted; blocks grow where players hardly interact.
Since a look tells the log-odds of all players, every visited coalition gives
p(i | the others) for all i: averages of these are Rao–Blackwell estimates of the marginals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.mcmc.landscape import Landscape
from fairfield.mean_field.elbo import sigmoid

# The share of blocks accepted at which the number of accepted changes is about largest.
ACCEPTED = 0.6


class Base(Protocol):
    """A law of coalitions that is easy to draw from: where annealing starts."""

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """Independent coalitions."""
        ...

    def look(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        """log q(S) and the log-odds of each player given the others."""
        ...


@dataclass(frozen=True)
class Chains:
    """Coalitions (m, n), and what the landscape and the base say of each."""

    inside: BoolArray
    heights: FloatArray
    slopes: FloatArray
    base_heights: FloatArray
    base_slopes: FloatArray

    @property
    def gains(self) -> FloatArray:
        """log weight - log q: what the path from the base to the law adds."""
        return self.heights - self.base_heights

    def take(self, chosen: object) -> Chains:
        """Some of the chains, or all of them in another order."""
        return Chains(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def where(self, chosen: BoolArray, other: Chains) -> Chains:
        """These chains where chosen, the other elsewhere."""
        parts = []
        for name in self.__dataclass_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            parts.append(np.where(chosen.reshape(-1, *[1] * (mine.ndim - 1)), mine, theirs))
        return Chains(*parts)


@dataclass(frozen=True)
class Path:
    """The laws log p_β = (1-β) log q + β log exp(F/T)·prior, from a base to the law."""

    landscape: Landscape
    base: Base

    def at(self, inside: BoolArray) -> Chains:
        """Chains that stand at these coalitions."""
        return Chains(inside, *self.landscape.look(inside), *self.base.look(inside))

    def draw(self, count: int, rng: np.random.Generator) -> Chains:
        """Independent chains from the base."""
        return self.at(self.base.draw(count, rng))

    def step(
        self, chains: Chains, beta: FloatArray, rate: FloatArray, rng: np.random.Generator
    ) -> tuple[Chains, BoolArray]:
        """The chains after redrawing each player with probability ``rate``, and who moved.

        ``beta`` and ``rate`` have an entry per chain. One look.
        """
        odds = _between(beta, chains.base_slopes, chains.slopes)
        block = rng.random(odds.shape) < rate[:, None]
        fresh = rng.random(odds.shape) < sigmoid(odds)
        there = self.at(np.where(block, fresh, chains.inside))
        back = _between(beta, there.base_slopes, there.slopes)
        rise = (1 - beta) * (there.base_heights - chains.base_heights)
        rise += beta * (there.heights - chains.heights)
        # Heights may be far apart, and only the smaller of 0 and their balance counts.
        balance = rise + _chance(chains.inside, back, block) - _chance(there.inside, odds, block)
        accepted = rng.exponential(size=len(balance)) > -balance
        return there.where(accepted, chains), accepted


def adapted(rate: FloatArray, accepted: FloatArray, players: int, gain: float) -> FloatArray:
    """Rates after seeing these shares of accepted blocks: larger where more than enough."""
    moved = rate * np.exp(gain * (accepted - ACCEPTED))
    return np.clip(moved, 1.0 / players, 1.0)


def _between(beta: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    weight = beta[:, None]
    return (1 - weight) * first + weight * second


def _chance(inside: BoolArray, odds: FloatArray, block: BoolArray) -> FloatArray:
    """log Π over the block of the chance that each player is as he is, at these log-odds."""
    against = np.where(inside, -odds, odds)
    surprise = np.maximum(against, 0.0) + np.log1p(np.exp(-np.abs(against)))
    return np.asarray(-np.sum(np.where(block, surprise, 0.0), axis=1))
