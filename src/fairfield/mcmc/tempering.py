"""Parallel tempering: chains at every rung of a ladder, which swap places.

The hottest rung draws afresh from the base, the coldest follows p; swaps carry coalitions
between them, so modes that no chain at β = 1 could leave are left on the way up. Many
independent ladders run side by side: what they differ by is the error of their mean.

Source: Geyer, Markov chain Monte Carlo maximum likelihood, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.mcmc.annealed import Tick
from fairfield.mcmc.gibbs import Chains, Path, adapted
from fairfield.mcmc.ladder import Ladder
from fairfield.mean_field.elbo import sigmoid

# Iterations that come before those that count, as a share of them.
SETTLING = 0.2


@dataclass(frozen=True)
class Tempered:
    """What the coldest rung of each ladder saw, iteration by iteration."""

    coalitions: BoolArray  # (iterations, ladders, players)
    heights: FloatArray  # (iterations, ladders): log weights
    chances: FloatArray  # (2, ladders, players): p(i | others), means of both halves
    log_sums: FloatArray  # (ladders, 2, players): log Σ p(i | others), log Σ p(not i | others)
    swaps: FloatArray  # (rungs - 1,): the share of accepted swaps
    rate: float  # of the blocks at the coldest rung

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
            heights=self.heights[:, chosen],
            chances=self.chances[:, chosen],
            log_sums=self.log_sums[chosen],
        )


def temper(
    path: Path,
    chains: Chains,
    ladder: Ladder,
    iterations: int,
    rng: np.random.Generator,
    tick: Tick,
) -> Tempered:
    """Run ladders whose rungs stand one after the other in ``chains`` (rungs · ladders).

    A fifth as many iterations come first, to settle and to size the blocks.
    """
    rungs = len(ladder.betas)
    ladders = len(chains.inside) // rungs
    betas = np.repeat(ladder.betas, ladders)
    rates, free = ladder.rates, path.landscape.players
    settle = int(SETTLING * iterations)
    seen = np.empty((iterations, ladders, free), dtype=bool)
    heights = np.empty((iterations, ladders))
    chances = np.zeros((2, ladders, free))
    log_sums = np.full((ladders, 2, free), -np.inf)
    swapped, tried = np.zeros(rungs - 1), np.zeros(rungs - 1)
    for k in range(-settle, iterations):
        chains, accepted = path.step(chains, betas, np.repeat(rates, ladders), rng)
        chains, pairs, swaps = _swap(chains, ladder.betas, ladders, k % 2, rng)
        tick()
        if k < 0:
            rates = adapted(rates, accepted.reshape(rungs, ladders).mean(axis=1), free, 0.3)
            continue
        swapped[pairs] += swaps
        tried[pairs] += 1
        cold = chains.take(slice(-ladders, None))
        seen[k], heights[k] = cold.inside, cold.heights
        half = k * 2 // iterations
        size = iterations - iterations // 2 if half == 0 else iterations // 2
        chances[half] += sigmoid(cold.slopes) / size
        both = np.stack([-cold.slopes, cold.slopes], axis=1)
        log_sums = np.logaddexp(log_sums, -np.logaddexp(0, both))
    shares = swapped / np.maximum(tried, 1)
    return Tempered(seen, heights, chances, log_sums, shares, float(rates[-1]))


def _swap(
    chains: Chains, betas: FloatArray, ladders: int, parity: int, rng: np.random.Generator
) -> tuple[Chains, slice, FloatArray]:
    """Neighbours exchanged where chance allows: even pairs of rungs, then odd ones."""
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
    return chains.take(order.ravel()), pairs, swaps.mean(axis=1)
