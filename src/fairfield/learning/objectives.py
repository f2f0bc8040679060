"""What a fit minimises: losses of observed coalitions under p(S) ∝ exp(F_θ(S)), T = 1.

Each loss is the mean over the observations, with its slope in θ. With Δ_i = F(S+i) - F(S-i)
and z the coalition as 0 and 1:

    pseudo-likelihood   Σ_i -log σ((2z_i - 1) Δ_i)
    ratio matching      Σ_i σ(-(2z_i - 1) Δ_i)²
    noise contrast      -log σ(G(S)) - Σ_{ν noise S'} log σ(-G(S')),  G = F + c - log(ν p_noise)
    likelihood          log Z - F(S)

The constant c of the noise contrast, the last entry of its θ, estimates -log Z.

Sources: Besag, The Statistician 1975; Hyvärinen, Computational Statistics & Data Analysis
2007, and Lyu, UAI 2009 (ratio matching); Gutmann, Hyvärinen, AISTATS 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.members import Listed, Members
from fairfield.learning.models import Model
from fairfield.learning.observed import Observed
from fairfield.mean_field.elbo import log_odds, sigmoid

# Numbers worked on at once: they stay in the cache between the passes over them.
BLOCK = 2**17
# All coalitions are listed up to so many players.
MOST_LISTED = 20


class Loss(Protocol):
    """A mean loss over observations and its slope, as a function of θ."""

    @property
    def total(self) -> float:
        """The number of observations."""

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]: ...

    def start(self, theta: FloatArray) -> FloatArray:
        """The parameters of a model, with those that the loss adds."""


def logistic_loss(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """-log σ(t) and its slope -σ(-t)."""
    small = np.exp(-np.abs(t))
    whole = 1 + small
    # log1p would keep digits that the sum of losses does not feel, at three times the cost.
    losses = np.log(whole)
    losses -= np.minimum(t, 0)
    slopes = np.where(t > 0, small, 1.0)
    slopes /= -whole
    return losses, slopes


def squared_chance(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """σ(-t)² and its slope -2 σ(-t)² σ(t)."""
    wrong = sigmoid(-t)
    return wrong**2, -2 * wrong**2 * (1 - wrong)


@dataclass(frozen=True, eq=False)
class Flips:
    """Losses of single players, given all others: pseudo-likelihood and ratio matching."""

    model: Model
    seen: Observed
    squared: bool = False

    @property
    def total(self) -> float:
        return self.seen.total

    def start(self, theta: FloatArray) -> FloatArray:
        return theta

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        cost = squared_chance if self.squared else logistic_loss
        total, slope = 0.0, np.zeros_like(theta)
        for inside, counts in blocks(self.seen):
            gains, pullback = self.model.gains(theta, inside)
            sign = 2 * inside - 1
            losses, slopes = cost(sign * gains)
            total += float(counts @ losses.sum(axis=1))
            slope += pullback(counts[:, None] * sign * slopes)
        return total / self.total, slope / self.total


@dataclass(frozen=True, eq=False)
class Contrast:
    """Observed coalitions told from noise: draws of independent players, as often in."""

    model: Model
    seen: Listed
    noise: Listed
    chances: FloatArray

    @property
    def total(self) -> float:
        return self.seen.total

    @classmethod
    def of(cls, model: Model, seen: Observed, rate: int, rng: np.random.Generator) -> Contrast:
        """With ``rate`` ν noise coalitions for each observation."""
        chances = seen.shrunk_frequencies()
        noise = Listed.drawn(chances, rate * int(seen.total), rng)
        return cls(model, Listed.of(seen), noise, chances)

    def start(self, theta: FloatArray) -> FloatArray:
        return np.append(theta, self._log_noise_of_nobody)

    @property
    def _log_noise_of_nobody(self) -> float:
        return float(np.log1p(-self.chances).sum())

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        odds = log_odds(self.chances)
        # log(ν p_noise(S)) = Σ_{i∈S} odds_i + shift
        shift = self._log_noise_of_nobody + np.log(self.noise.total / self.total)
        total, slope = 0.0, np.zeros_like(theta)
        for rows, sign in ((self.seen, 1.0), (self.noise, -1.0)):
            for some, counts in rows.blocks():
                worths, pullback = self.model.worths(theta[:-1], some)
                losses, slopes = logistic_loss(
                    sign * (worths + theta[-1] - some.sums(odds) - shift)
                )
                weighted = sign * counts * slopes
                total += float(counts @ losses)
                slope[:-1] += pullback(weighted)
                slope[-1] += weighted.sum()
        return total / self.total, slope / self.total


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Exact maximum likelihood: log Z over all 2^n coalitions."""

    model: Model
    seen: Observed

    @property
    def total(self) -> float:
        return self.seen.total

    def __post_init__(self) -> None:
        if self.model.players > MOST_LISTED:
            raise ValueError(
                f"the likelihood sums over all 2^{self.model.players} coalitions of the players "
                f"who vary; it is offered up to {MOST_LISTED}; use objective='pseudolikelihood' "
                "or 'nce'"
            )

    def start(self, theta: FloatArray) -> FloatArray:
        return theta

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        # Per block of coalitions: its sum of exp(F), and the slope of that, about its maximum.
        tops, sums, slopes = [], [], []
        for inside in _all_coalitions(self.model):
            worths, pullback = self.model.worths(theta, Members.of(inside))
            tops.append(worths.max())
            weights = np.exp(worths - tops[-1])
            sums.append(weights.sum())
            slopes.append(pullback(weights))
        scale = np.exp(np.array(tops) - max(tops))
        mass = float(scale @ sums)
        total, slope = max(tops) + np.log(mass), scale @ np.array(slopes) / mass
        for inside, counts in blocks(self.seen):
            worths, pullback = self.model.worths(theta, Members.of(inside))
            total -= float(counts @ worths) / self.total
            slope -= pullback(counts) / self.total
        return float(total), slope


def blocks(rows: Observed) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Coalitions as 0 and 1 with their counts, so many at once as stay in the cache."""
    step = max(1, BLOCK // rows.coalitions.shape[1])
    for start in range(0, len(rows.counts), step):
        some = slice(start, start + step)
        yield rows.coalitions[some].astype(float), rows.counts[some]


def _all_coalitions(model: Model) -> Iterator[FloatArray]:
    step = max(1, BLOCK // model.players)
    for start in range(0, 2**model.players, step):
        stop = min(start + step, 2**model.players)
        yield enumerate_coalitions(model.players, start, stop).astype(float)
