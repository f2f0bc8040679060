"""log Z by annealed importance sampling, up from a base and back down to it.

Along log p_β = (1-β) log q + βE, E the log weight, a chain that climbs the rungs
0 = β_0 < … < β_K = 1, moving at each, gathers log w = Σ_k (β_{k+1} - β_k)(E - log q).
Climbing from independent draws of q, E[w] = Z; descending from draws of p, E[1/w] = 1/Z;
and the two distributions of w satisfy P_up(w) w = Z P_down(w), which Bennett's estimate
uses: log Z is the intercept of the logistic regression that separates the two.

Sources: Neal, Annealed importance sampling, Statistics and Computing 2001; Bennett,
Efficient estimation of free energy differences from Monte Carlo data, J. Comp. Phys. 1976;
Grosse, Ghahramani, Adams, Sandwiching the marginal likelihood using bidirectional Monte
Carlo, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.special import expit
from fairfield.mcmc.gibbs import Chains, Path
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mcmc.ladder import Ladder


def climb(
    path: Path, chains: Chains, ladder: Ladder, rng: np.random.Generator
) -> Iterator[tuple[float, FloatArray, Chains]]:
    """β, log w so far and the chains at every rung, from draws of the base at β = 0."""
    logs = np.zeros(len(chains.inside))
    yield 0.0, logs, chains
    for k, step in enumerate(np.diff(ladder.betas)):
        logs = logs + step * chains.gains
        chains, _ = path.step(chains, ladder.betas[k + 1], ladder.rates[k + 1], rng)
        yield float(ladder.betas[k + 1]), logs, chains


def descend(path: Path, chains: Chains, ladder: Ladder, rng: np.random.Generator) -> FloatArray:
    """log w of chains drawn from p, on the way down to the base."""
    logs = np.zeros(len(chains.inside))
    for k, step in reversed(list(enumerate(np.diff(ladder.betas)))):
        chains, _ = path.step(chains, ladder.betas[k + 1], ladder.rates[k + 1], rng)
        logs += step * chains.gains
    return logs


@dataclass(frozen=True)
class Bridge:
    """log Z from log weights gathered on the way up (g, a) and on the way down (g, b).

    Chains come in g groups, those of different groups independently.
    """

    up: FloatArray
    down: FloatArray

    @cached_property
    def log_z(self) -> Jackknifed:
        """Bennett's estimate, jackknifed over groups.

        What no chain has seen may weigh as much as one of them: the least standard error.
        """
        keep = ~np.eye(len(self.up), dtype=bool)
        less_up = np.stack([self.up[rows].ravel() for rows in keep])
        less_down = np.stack([self.down[rows].ravel() for rows in keep])
        whole = _bennett(self.up.reshape(1, -1), self.down.reshape(1, -1))
        return Jackknifed(whole[0], _bennett(less_up, less_down), 1 / self.up.size)

    @cached_property
    def overlap(self) -> float:
        """1 where both ways gather the same weights, 0 where their weights do not overlap."""
        at = self.log_z.estimate + np.log(self.up.size / self.down.size)
        return float(expit(self.up - at).mean() + expit(at - self.down).mean())

    @property
    def ends(self) -> tuple[float, float]:
        """log Z from the way up alone, and from the way down alone."""
        return _log_mean(self.up), -_log_mean(-self.down)

    def among(self, chosen: slice) -> Bridge:
        """With the ways down of some groups only; the ways up are divided among them."""
        down = self.down[chosen]
        return Bridge(self.up.reshape(len(down), -1), down)


def _bennett(up: FloatArray, down: FloatArray) -> FloatArray:
    """L with Σ_up σ(log w - L - c) = Σ_down σ(L + c - log w), c = log(#up/#down), per row."""
    offset = np.log(up.shape[1] / down.shape[1])
    both = np.concatenate([up, down], axis=1)
    low, high = both.min(axis=1) - abs(offset) - 50.0, both.max(axis=1) + abs(offset) + 50.0
    # All rows at once: SciPy's brentq takes one row at a time.
    for _ in range(80):
        middle = (low + high) / 2
        at = (middle + offset)[:, None]
        excess = expit(up - at).sum(axis=1) - expit(at - down).sum(axis=1)
        low, high = np.where(excess > 0, middle, low), np.where(excess > 0, high, middle)
    return np.asarray((low + high) / 2)


def _log_mean(logs: FloatArray) -> float:
    # SciPy's logsumexp takes 60 times as long on the few chains there are.
    top = logs.max()
    return float(top + np.log(np.exp(logs - top).mean()))
