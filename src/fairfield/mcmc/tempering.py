"""Parallel tempering: chains at every rung of a ladder, which swap places.

The hottest rung draws from the base, the coldest follows p; swaps carry coalitions
between them, so modes that no chain at β = 1 could leave are left on the way up. Many
independent ladders run side by side: their spread is the error of their mean.

Source: Geyer, Markov chain Monte Carlo maximum likelihood, 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        iterations = len(self.coalitions)
        # Halves of an odd number of iterations are not of one size.
        halves = np.array([iterations - iterations // 2, iterations // 2]) / iterations
        return np.asarray(np.tensordot(halves, self.chances, axes=1))

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
    paths: Sequence[Path],
    starts: Sequence[Chains],
    ladders: Sequence[Ladder],
    iterations: int,
    rng: np.random.Generator,
) -> Tempered:
    """Run ladders that lead from one or more bases to p, all to the same coldest rung.

    The rungs of a base stand one after the other in its ``starts`` (rungs · ladders), p with those
    of the first base alone.
    """
    sides = [_Side(*each) for each in zip(paths, starts, ladders, strict=False)]
    first, others = sides[0], sides[1:]
    count = len(first.chains.inside) // len(first.betas)
    free = len(first.path.landscape.free)
    settle, every = int(SETTLING * iterations), -(-iterations // KEPT)
    coalitions = np.empty((iterations, count, free), dtype=bool)
    log_weights = np.empty((iterations, count))
    chances = np.zeros((2, count, free))
    log_sums = np.full((count, 2, free), -np.inf)
    log_odds = np.empty((-(-iterations // every), count, free))
    for k in range(-settle, iterations):
        for side in sides:
            side.step(count, rng, settling=k < 0)
        first.chains = _swapped(first.chains, first.betas, count, k % 2, rng)
        for side in others:
            rest, cold = _without_coldest(first.chains, count)
            both = Chains.joined([side.chains, side.path.rebased(cold)])
            both = _swapped(both, side.betas, count, k % 2, rng)
            side.chains, cold = _without_coldest(both, count)
            first.chains = Chains.joined([rest, first.path.rebased(cold)])
        if k < 0:
            continue
        cold = first.chains.take(slice(-count, None))
        coalitions[k], log_weights[k] = cold.inside, cold.log_weights
        half = k * 2 // iterations
        size = iterations - iterations // 2 if half == 0 else iterations // 2
        chances[half] += expit(cold.log_odds) / size
        both_odds = np.stack([-cold.log_odds, cold.log_odds], axis=1)
        log_sums = np.logaddexp(log_sums, -np.logaddexp(0, both_odds))
        if k % every == 0:
            log_odds[k // every] = cold.log_odds
    return Tempered(coalitions, log_weights, chances, log_sums, log_odds, float(first.rates[-1]))


class _Side:
    """The chains on the rungs of one base, and their block rates."""

    def __init__(self, path: Path, chains: Chains, ladder: Ladder) -> None:
        self.path, self.chains = path, chains
        self.betas, self.rates = ladder.betas, ladder.rates

    def step(self, ladders: int, rng: np.random.Generator, settling: bool) -> None:
        """One Gibbs step of every chain; block rates change while the run settles."""
        rungs = len(self.chains.inside) // ladders
        betas, rates = (np.repeat(each[:rungs], ladders) for each in (self.betas, self.rates))
        self.chains, accepted = self.path.step(self.chains, betas, rates, rng)
        if settling:
            moved = accepted.reshape(rungs, ladders).mean(axis=1)
            free = len(self.path.landscape.free)
            self.rates = adapted(self.rates[:rungs], moved, free, 0.3)


def _without_coldest(chains: Chains, ladders: int) -> tuple[Chains, Chains]:
    return chains.take(slice(None, -ladders)), chains.take(slice(-ladders, None))


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
