"""Gibbs sampling of p(S), many players of many chains at once.

Each chain redraws a random block of players from their log-odds given the others, and a
Metropolis test keeps p exact where the block's players depend on each other. Blocks of one
player are Gibbs sampling, always accepted; blocks grow where players hardly interact.
Since every visited coalition has the log-odds of all players, averages of p(i | the others)
are Rao–Blackwell estimates of the marginals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.special import expit
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.landscape import Landscape
from fairfield.mean_field.rows import Rows

# The share of blocks accepted at which the number of accepted changes is about largest.
ACCEPTED = 0.6


@dataclass(frozen=True)
class Chains(Rows):
    """Coalitions (m, free), with log weights (m,) and log-odds (m, free) under p and the base."""

    inside: BoolArray
    log_weights: FloatArray
    log_odds: FloatArray
    base_log_weights: FloatArray
    base_log_odds: FloatArray

    @property
    def gains(self) -> FloatArray:
        """log weight - log q: what the path from the base to p adds."""
        return self.log_weights - self.base_log_weights


@dataclass(frozen=True)
class Path:
    """The distributions log p_β = (1-β) log q + β log exp(F/T)·prior, from a base q to p."""

    landscape: Landscape
    base: Mixture

    def at(self, inside: BoolArray) -> Chains:
        """Chains that stand at these coalitions."""
        return Chains(inside, *self.landscape.evaluate(inside), *self.base.evaluate(inside))

    def rebased(self, chains: Chains) -> Chains:
        """The same chains beside the base of this path."""
        log_weights, log_odds = self.base.evaluate(chains.inside)
        return replace(chains, base_log_weights=log_weights, base_log_odds=log_odds)

    def draw(self, count: int, rng: np.random.Generator) -> Chains:
        """Independent chains from the base."""
        return self.at(self.base.draw(count, rng))

    def step(
        self,
        chains: Chains,
        beta: FloatArray | float,
        rate: FloatArray | float,
        rng: np.random.Generator,
    ) -> tuple[Chains, BoolArray]:
        """The chains after redrawing each player with probability ``rate``, and which moved.

        ``beta`` and ``rate`` are one number, or one per chain. Visits one coalition per chain.
        """
        beta = np.broadcast_to(beta, len(chains.inside))
        odds = _between(beta, chains.base_log_odds, chains.log_odds)
        block = rng.random(odds.shape) < np.asarray(rate)[..., None]
        fresh = rng.random(odds.shape) < expit(odds)
        there = self.at(np.where(block, fresh, chains.inside))
        back = _between(beta, there.base_log_odds, there.log_odds)
        rise = (1 - beta) * (there.base_log_weights - chains.base_log_weights)
        rise += beta * (there.log_weights - chains.log_weights)
        # Log weights may be far apart, and only the smaller of 0 and their balance counts.
        balance = rise + _log_chance(chains.inside, back, block)
        balance = balance - _log_chance(there.inside, odds, block)
        accepted = rng.exponential(size=len(balance)) > -balance
        return there.where(accepted, chains), accepted


def adapted(rate: FloatArray, accepted: FloatArray, players: int, gain: float) -> FloatArray:
    """Block rates, larger where more than enough blocks were accepted and smaller elsewhere."""
    moved = rate * np.exp(gain * (accepted - ACCEPTED))
    return np.clip(moved, 1.0 / players, 1.0)


def _between(beta: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    weight = beta[:, None]
    return (1 - weight) * first + weight * second


def _log_chance(inside: BoolArray, odds: FloatArray, block: BoolArray) -> FloatArray:
    """log Π over the block of the chance that each player is in or out as here."""
    against = np.where(inside, -odds, odds)
    surprise = np.maximum(against, 0.0) + np.log1p(np.exp(-np.abs(against)))
    return np.asarray(-np.sum(np.where(block, surprise, 0.0), axis=1))
