"""Ladders: the β between a base and p, and the block rates there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.mcmc.gibbs import Chains, Path, adapted

# The effective share of chains left by one step of the pilot.
KEPT = 0.9
# Gibbs steps of the pilot at each β.
MOVES = 4
MOST_RUNGS = 400


@dataclass(frozen=True)
class Ladder:
    """Rungs β from 0 to 1, equally hard to climb, and the block rates found there."""

    betas: FloatArray
    rates: FloatArray

    @property
    def length(self) -> float:
        """Σ √Var of the log weights gained from rung to rung: the thermodynamic length."""
        return thermodynamic_length(len(self.betas) - 1)

    def rungs(self, count: int) -> Ladder:
        """A ladder of so many rungs, equally spaced in difficulty."""
        last = len(self.betas) - 1
        place = np.linspace(0, last, count) if count > 1 else np.array([last])
        own = np.arange(len(self.betas))
        return Ladder(np.interp(place, own, self.betas), np.interp(place, own, self.rates))


def thermodynamic_length(steps: int) -> float:
    """The length of a ladder whose pilot took so many steps."""
    return float(steps * np.sqrt(-np.log(KEPT)))


def pilot(
    path: Path, chains: int, rng: np.random.Generator, most: int = MOST_RUNGS - 1
) -> tuple[Ladder, Chains]:
    """A ladder found by climbing it with some chains, resampled at every rung, and their end.

    The next β is the one at which the effective share of the chains falls to 0.9, in at
    most ``most`` steps of MOVES visits by each chain. No estimate is made from these chains,
    so the ladder may depend on them.
    """
    here = path.draw(chains, rng)
    betas, rates, rate = [0.0], [1.0], np.ones(1)
    while betas[-1] < 1.0 and len(betas) <= most:
        beta = _next(betas[-1], here.gains)
        here = here.take(resample((beta - betas[-1]) * here.gains, chains, rng))
        for _ in range(MOVES):
            here, accepted = path.step(here, beta, rate, rng)
            rate = adapted(rate, accepted.mean(keepdims=True), len(path.landscape.free), 1.0)
        betas.append(beta)
        rates.append(float(rate[0]))
    # Even if the last step is steep: then annealing up and down will not overlap.
    betas[-1] = 1.0
    return Ladder(np.array(betas), np.array(rates)), here


def resample(logs: FloatArray, count: int, rng: np.random.Generator) -> IntArray:
    """Numbers of chains drawn in proportion to exp(logs), systematically."""
    weights = np.exp(logs - logs.max())
    steps = np.cumsum(weights) / weights.sum()
    picked = np.searchsorted(steps, (np.arange(count) + rng.random()) / count)
    return np.minimum(picked, len(logs) - 1)


def effective_share(logs: FloatArray) -> float:
    """(Σw)²/(m Σw²) of weights exp(logs): 1 where all are equal, 1/m where one has it all."""
    weights = np.exp(logs - logs.max())
    return float(weights.sum() ** 2 / (weights**2).sum() / len(weights))


def _next(beta: float, gains: FloatArray) -> float:
    """The next β, by bisection; SciPy's brentq would move every estimate by rounding."""
    low, high = 0.0, 1.0 - beta
    if effective_share(high * gains) >= KEPT:
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if effective_share(middle * gains) >= KEPT:
            low = middle
        else:
            high = middle
    return beta + max(low, 1e-9)
