"""log Z from draws of a pool, alone or beside a surrogate.

    Z = Σ_S exp(E(S)) = E[exp(E(S))/q(S)],   S drawn from q

E is F/T plus the log prior, q the law of all draws. Where q is far from p a few draws decide, Z comes out
too small and its error too; their effective number says so. A mode that q never draws is missed unseen. Of a
surrogate G any number of draws is free, so that only the difference to exp(G/T) is left to the draws of F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.special import expit
from fairfield.estimation.at_points.draws import effective_size, log_law
from fairfield.estimation.at_points.guides import Guide
from fairfield.estimation.at_points.pool import Pool

# Draws of a surrogate.
FREE = 4096


@dataclass(frozen=True)
class LogZ:
    """log Z, the share (m,) that each draw adds to its error, and the variance of what else is drawn."""

    log_z: float
    shifts: FloatArray
    counts: FloatArray
    beside: float
    effective: float
    drawn: int

    @property
    def variance(self) -> float:
        """The variance of log Z."""
        return self.less(0.0, self.counts)

    def less(self, other: FloatArray | float, counts: FloatArray) -> float:
        """The variance of log Z less what has these shares in the same draws."""
        return float(counts @ (self.shifts - other) ** 2) + self.beside


def _energies(
    worths: FloatArray, inside: BoolArray | FloatArray, temperature: float, prior: FloatArray | None
) -> FloatArray:
    return worths / temperature + (0.0 if prior is None else log_law(inside, expit(prior)))


def weighed(pool: Pool, game: int, temperature: float, prior: FloatArray | None) -> LogZ:
    """By the draws of the pool alone."""
    counts, total = pool.counts, float(pool.counts.sum())
    energies = _energies(pool.worths[game], pool.inside, temperature, prior)
    logs = np.where(counts > 0, energies - pool.log_mixture(), -np.inf)
    top = float(logs.max())
    weights = np.exp(logs - top)
    mean = float(counts @ weights) / total
    effective = effective_size(weights, counts)
    shifts = np.where(counts > 0, weights / mean - 1, 0.0) / total
    return LogZ(top + float(np.log(mean)), shifts, counts, 0.0, effective, pool.drawn)


def weighed_beside(
    guide: Guide,
    pool: Pool,
    game: int,
    temperature: float,
    prior: FloatArray | None,
    rng: np.random.Generator,
) -> LogZ:
    """By free draws of a surrogate, made where those of the pool were, and what these say of the rest."""
    counts, total = pool.counts, float(pool.counts.sum())
    free, law = pool.more_draws(FREE, rng)
    own = _energies(guide.predict(free), free, temperature, prior) - law
    drawn = counts > 0
    both = [
        np.where(
            drawn,
            _energies(worths, pool.inside, temperature, prior) - pool.log_mixture(),
            -np.inf,
        )
        for worths in (pool.worths[game], pool.worths[game] - guide.control.left)
    ]
    top = float(max(own.max(), both[0].max(), both[1].max()))
    weights, (true, known) = np.exp(own - top), (np.exp(each - top) for each in both)
    rest = true - known
    mean, more = float(weights.mean()), float(counts @ rest) / total
    if mean + more <= 0:
        return weighed(pool, game, temperature, prior)
    shifts = np.where(drawn, rest - more, 0.0) / total / (mean + more)
    beside = float(weights.var()) / len(free) / (mean + more) ** 2
    # What is left of a game that was recovered needs no draws.
    exact = guide.rest is None
    effective = (
        effective_size(weights, np.ones(len(free))) if exact else effective_size(true, counts)
    )
    return LogZ(
        top + float(np.log(mean + more)),
        shifts,
        counts,
        beside,
        effective,
        len(free) if exact else pool.drawn,
    )
