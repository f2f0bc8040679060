"""Parallel tempering: chains at every rung of a ladder, which swap places.

The hottest rung draws from the base, the coldest follows p; swaps carry coalitions
between them, so modes that no chain at β = 1 could leave are left on the way up. Many
independent ladders run side by side: their spread is the error of their mean.

Source: Geyer, Markov chain Monte Carlo maximum likelihood, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.special import expit
from fairfield.mcmc.gibbs import Chains, Path, adapted
from fairfield.mcmc.ladder import Ladder

# Iterations before those that count, to settle and to size the blocks, as a share of them.
SETTLING = 0.2
# Log-odds are kept of at most this many iterations.
KEPT = 100


@dataclass(frozen=True)
class Tempered:
    """The coldest rung of each ladder, iteration by iteration."""

    coalitions: BoolArray  # (iterations, ladders, players)
    log_weights: FloatArray  # (iterations, ladders)
    chances: FloatArray  # (2, ladders, players): p(i | others), means of both halves
    log_sums: FloatArray  # (ladders, 2, players): log Σ p(i | others), log Σ p(not i | others)
    log_odds: FloatArray  # (at most KEPT iterations, ladders, players): of i given the others
    rate: float  # of the blocks

    @property
    def marginals(self) -> FloatArray:
        """The mean chance of each player, per ladder."""
        return np.asarray(self.chances.mean(axis=0))

    @property
    def memory(self) -> float:
        """The correlation of the two halves of the run over ladders, pooled over players."""
        halves = self.chances - self.chances.mean(axis=1, keepdims=True)
        both, each = np.sum(halves[0] * halves[1]), np.sum(halves**2) / 2
        return float(max(0.0, both / each)) if each > 0 else 0.0

    def among(self, chosen: slice) -> Tempered:
        """Some of the ladders."""
        return replace(
            self,
            coalitions=self.coalitions[:, chosen],
            log_weights=self.log_weights[:, chosen],
            chances=self.chances[:, chosen],
            log_sums=self.log_sums[chosen],
            log_odds=self.log_odds[:, chosen],
        )


def steps_of(iterations: int) -> int:
    """How often each chain visits a coalition: at its start, to settle, and as it counts."""
    return 1 + int(SETTLING * iterations) + iterations


def temper(
    path: Path, chains: Chains, ladder: Ladder, iterations: int, rng: np.random.Generator
) -> Tempered:
    """Run ladders whose rungs stand one after the other in ``chains`` (rungs · ladders)."""
    rungs = len(ladder.betas)
    ladders = len(chains.inside) // rungs
    betas = np.repeat(ladder.betas, ladders)
    rates, free = ladder.rates, len(path.landscape.free)
    settle, every = int(SETTLING * iterations), -(-iterations // KEPT)
    coalitions = np.empty((iterations, ladders, free), dtype=bool)
    log_weights = np.empty((iterations, ladders))
    chances = np.zeros((2, ladders, free))
    log_sums = np.full((ladders, 2, free), -np.inf)
    log_odds = np.empty((-(-iterations // every), ladders, free))
    for k in range(-settle, iterations):
        chains, accepted = path.step(chains, betas, np.repeat(rates, ladders), rng)
        chains = _swapped(chains, ladder.betas, ladders, k % 2, rng)
        if k < 0:
            rates = adapted(rates, accepted.reshape(rungs, ladders).mean(axis=1), free, 0.3)
            continue
        cold = chains.take(slice(-ladders, None))
        coalitions[k], log_weights[k] = cold.inside, cold.log_weights
        half = k * 2 // iterations
        size = iterations - iterations // 2 if half == 0 else iterations // 2
        chances[half] += expit(cold.log_odds) / size
        both = np.stack([-cold.log_odds, cold.log_odds], axis=1)
        log_sums = np.logaddexp(log_sums, -np.logaddexp(0, both))
        if k % every == 0:
            log_odds[k // every] = cold.log_odds
    return Tempered(coalitions, log_weights, chances, log_sums, log_odds, float(rates[-1]))


def _swapped(
    chains: Chains, betas: FloatArray, ladders: int, parity: int, rng: np.random.Generator
) -> Chains:
    """Neighbouring rungs exchanged where chance allows, the pairs of one parity."""
    rungs = len(betas)
    pairs = slice(parity, rungs - 1, 2)
    gains = chains.gains.reshape(rungs, ladders)
    steep = np.diff(betas)[pairs, None] * (gains[:-1] - gains[1:])[pairs]
    swaps = rng.exponential(size=steep.shape) > -steep
    place = np.arange(rungs * ladders).reshape(rungs, ladders)
    lower, upper = place[:-1][pairs], place[1:][pairs]
    order = place.copy()
    order[:-1][pairs] = np.where(swaps, upper, lower)
    order[1:][pairs] = np.where(swaps, lower, upper)
    return chains.take(order.ravel())
