"""Losses of observed coalitions under p(S) ∝ exp(F_θ(S)), T = 1.

Each loss is the mean over the observations, with its gradient in θ. With Δ_i = F(S+i) - F(S-i)
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

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray, slabs
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.special import expit
from fairfield.learning.members import Members
from fairfield.learning.models import Model
from fairfield.learning.observed import Observed
from fairfield.mean_field.elbo import log_odds

# Numbers worked on at once: they stay in the cache between the passes over them.
BLOCK = 2**17
# The most players for which the likelihood sums over all coalitions.
MOST_LISTED = 20


@dataclass(frozen=True, eq=False)
class Loss:
    """A mean loss over the observations of a model, and its gradient, as a function of θ."""

    model: Model
    seen: Observed | Members

    @property
    def total(self) -> float:
        """The number of observations."""
        return self.seen.total

    def start(self, theta: FloatArray) -> FloatArray:
        """The parameters of the model, with those that the loss adds."""
        return theta

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The mean loss and its gradient."""
        raise NotImplementedError


def logistic_loss(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """-log σ(t) and its derivative -σ(-t)."""
    small = np.exp(-np.abs(t))
    whole = 1 + small
    # log1p would keep digits that are lost in the sum of losses, at three times the cost.
    losses = np.log(whole)
    losses -= np.minimum(t, 0)
    derivatives = np.where(t > 0, small, 1.0)
    derivatives /= -whole
    return losses, derivatives


def squared_loss(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """σ(-t)² and its derivative -2 σ(-t)² σ(t)."""
    wrong = expit(-t)
    return wrong**2, -2 * wrong**2 * (1 - wrong)


@dataclass(frozen=True, eq=False)
class Flips(Loss):
    """Losses of single players, given all others: pseudo-likelihood and ratio matching."""

    seen: Observed
    squared: bool = False

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        loss = squared_loss if self.squared else logistic_loss
        total, gradient = 0.0, np.zeros_like(theta)
        for some in slabs(len(self.seen.counts), self.model.players, BLOCK):
            inside, counts = self.seen.coalitions[some].astype(float), self.seen.counts[some]
            gains, pullback = self.model.gains(theta, inside)
            sign = 2 * inside - 1
            losses, derivatives = loss(sign * gains)
            total += float(counts @ losses.sum(axis=1))
            gradient += pullback(counts[:, None] * sign * derivatives)
        return total / self.total, gradient / self.total


@dataclass(frozen=True, eq=False)
class Contrast(Loss):
    """Classifying coalitions as observed or noise: draws of independent players, as frequent."""

    seen: Members
    noise: Members
    frequencies: FloatArray

    @classmethod
    def of(cls, model: Model, seen: Observed, rate: int, rng: np.random.Generator) -> Contrast:
        """With ``rate`` ν noise coalitions for each observation."""
        frequencies = seen.shrunk_frequencies()
        noise = Members.drawn(frequencies, rate * int(seen.total), rng)
        return cls(model, Members.of(seen.coalitions, seen.counts), noise, frequencies)

    def start(self, theta: FloatArray) -> FloatArray:
        return np.append(theta, self._log_noise_of_none)

    @property
    def _log_noise_of_none(self) -> float:
        """The log-probability of the empty coalition under the noise."""
        return float(np.log1p(-self.frequencies).sum())

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        odds = log_odds(self.frequencies)
        # log(ν p_noise(S)) = Σ_{i∈S} odds_i + shift
        shift = self._log_noise_of_none + np.log(self.noise.total / self.total)
        total, gradient = 0.0, np.zeros_like(theta)
        for rows, sign in ((self.seen, 1.0), (self.noise, -1.0)):
            for some in rows.blocks():
                worths, pullback = self.model.worths(theta[:-1], some)
                margins = sign * (worths + theta[-1] - some.sums(odds) - shift)
                losses, derivatives = logistic_loss(margins)
                weighted = sign * some.counts * derivatives
                total += float(some.counts @ losses)
                gradient[:-1] += pullback(weighted)
                gradient[-1] += weighted.sum()
        return total / self.total, gradient / self.total


@dataclass(frozen=True, eq=False)
class Likelihood(Loss):
    """Exact maximum likelihood: log Z over all 2^n coalitions."""

    seen: Observed

    def __post_init__(self) -> None:
        if self.model.players > MOST_LISTED:
            raise ValueError(
                f"the likelihood sums over all 2^{self.model.players} coalitions of the players "
                f"that vary; it is offered up to {MOST_LISTED}; use objective='pseudolikelihood' "
                "or 'nce'"
            )

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        # Per block of coalitions: its sum of exp(F - top), and the gradient of that.
        tops, sums, gradients = [], [], []
        n = self.model.players
        for block in slabs(2**n, n, BLOCK):
            every = enumerate_coalitions(n, block.start, block.stop)
            worths, pullback = self.model.worths(theta, Members.of(every))
            tops.append(worths.max())
            weights = np.exp(worths - tops[-1])
            sums.append(weights.sum())
            gradients.append(pullback(weights))
        scale = np.exp(np.array(tops) - max(tops))
        mass = float(scale @ sums)
        total, gradient = max(tops) + np.log(mass), scale @ np.array(gradients) / mass
        for some in slabs(len(self.seen.counts), n, BLOCK):
            counts = self.seen.counts[some]
            worths, pullback = self.model.worths(theta, Members.of(self.seen.coalitions[some]))
            total -= float(counts @ worths) / self.total
            gradient -= pullback(counts) / self.total
        return float(total), gradient
