"""Laws to start annealing from: products, and mixtures of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.special import expit
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import log_odds

# Logits of a base are cut here: a player that it excludes would make weights unbounded.
WIDEST = 7.0
# Fixed points closer than this are one.
SAME = 1e-2


@dataclass(frozen=True)
class Mixture:
    """Σ_k w_k Π_i Bernoulli(σ(θ_ki)): a base with one component per mode."""

    logits: FloatArray  # (components, n)
    shares: FloatArray  # (components,), summing to 1

    @classmethod
    def product(cls, logits: FloatArray) -> Mixture:
        """A single product law: the prior, or uniform where all logits are 0."""
        return cls(np.asarray(logits, dtype=float)[None], np.ones(1))

    @classmethod
    def around(cls, logits: FloatArray) -> Mixture:
        """The product law whose marginals are the mean chances at these log-odds (m, n)."""
        chances = expit(logits).mean(axis=0)
        return cls.product(np.clip(log_odds(chances), -WIDEST, WIDEST))

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """Coalitions (count, n), stratified over the components."""
        edges = np.cumsum(self.shares)[:-1]
        places = (rng.permutation(count) + rng.random()) / max(count, 1)
        which = np.searchsorted(edges, places, side="right")
        chances = expit(self.logits)[which]
        return np.asarray(rng.random(chances.shape) < chances)

    def evaluate(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        """log q(S), and the log-odds of each player given the others."""
        norms = np.logaddexp(0, self.logits).sum(axis=1)
        log_weights = coalitions @ self.logits.T - norms + np.log(self.shares)
        if len(self.shares) == 1:
            return log_weights[:, 0], np.broadcast_to(self.logits[0], coalitions.shape)
        total = np.logaddexp.reduce(log_weights, axis=1)
        # Flipping a player multiplies each component by e^±θ.
        signs = np.where(coalitions, -1.0, 1.0)[:, None, :]
        flipped = np.logaddexp.reduce(log_weights[:, :, None] + signs * self.logits, axis=1)
        return total, signs[:, 0] * (flipped - total[:, None])


def mean_field_modes(
    extension: Extension,
    temperature: FloatArray,
    prior: FloatArray | None,
    starts: list[FloatArray],
) -> Mixture:
    """The mean-field laws found from several starts, each weighted by exp(ELBO)."""
    found = [mean_field.solve(anderson, extension, start, temperature, prior) for start in starts]
    modes: list[FloatArray] = []
    elbos: list[float] = []
    for each in sorted(found, key=lambda one: -float(one.elbo[0])):
        if all(np.max(np.abs(expit(mode) - each.x[0])) > SAME for mode in modes):
            modes.append(each.logits[0])
            elbos.append(float(each.elbo[0]))
    # None weighs so little that it is never drawn: the ELBO may misjudge its mode.
    weights = np.exp(np.maximum(np.array(elbos) - elbos[0], -3.0))
    return Mixture(np.clip(np.array(modes), -WIDEST, WIDEST), weights / weights.sum())
