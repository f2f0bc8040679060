"""Laws to start annealing from: products, and mixtures of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension, legendre
from fairfield.core.special import expit
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import elbo, log_odds

# Logits of a base are cut here: a player that it excludes would make weights unbounded.
WIDEST = 7.0
# Fixed points closer than this are one; other points that are farther from all of them count, too.
SAME, APART = 1e-2, 0.1
# Points on a line through the prior at which ELBOs are compared.
ALONG = 57


@dataclass(frozen=True)
class Mixture:
    """Σ_k w_k Π_i Bernoulli(σ(θ_ki)): a base with one component per mode."""

    logits: FloatArray  # (components, n)
    shares: FloatArray  # (components,), summing to 1
    least: float = -np.inf  # a lower bound of log Z: the best ELBO of its components

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
    """The mean-field laws found from several starts, each weighted by exp(ELBO).

    On a plateau, as most coalitions of a vote are, ∇f is 0 and mean fields stay where they start.
    So the best points along lines through the prior are starts too, and components of their own
    where the mean field that they lead to is another mode.
    """
    on_lines = _best_on_lines(extension, temperature, prior)
    starts = [*starts, *(expit(logits) for logits, _ in on_lines)]
    found = [mean_field.solve(anderson, extension, start, temperature, prior) for start in starts]
    solved = [(each.logits[0], float(each.elbo[0])) for each in found]
    modes: list[FloatArray] = []
    elbos: list[float] = []
    for points, near in ((solved, SAME), (on_lines, APART)):
        for logits, height in sorted(points, key=lambda one: -one[1]):
            if all(np.max(np.abs(expit(mode) - expit(logits))) > near for mode in modes):
                modes.append(logits)
                elbos.append(height)
    # None weighs so little that it is never drawn: the ELBO may misjudge its mode.
    weights = np.exp(np.maximum(np.array(elbos) - max(elbos), -3.0))
    logits = np.clip(np.array(modes), -WIDEST, WIDEST)
    return Mixture(logits, weights / weights.sum(), max(elbos))


def _best_on_lines(
    extension: Extension, temperature: FloatArray, prior: FloatArray | None
) -> list[tuple[FloatArray, float]]:
    """The logits and ELBOs of local maxima along logits λ + s·a, s from -WIDEST to WIDEST.

    a is 1 for all players, or in proportion to their mean contributions along the diagonal.
    """
    bias = np.zeros(extension.players) if prior is None else prior
    contributions = extension.along_diagonal(*legendre(4))
    scale = np.abs(contributions).max()
    directions = [np.ones(extension.players), *([contributions / scale] if scale > 0 else [])]
    found = []
    for direction in directions:
        logits = bias + np.linspace(-WIDEST, WIDEST, ALONG)[:, None] * direction
        value = np.array([extension.centred(expit(each))[0] for each in logits])
        heights = elbo(value, logits, temperature, prior)
        beside = np.pad(heights, 1, constant_values=-np.inf)
        best = (heights >= beside[:-2]) & (heights > beside[2:])
        found += [(logits[k], float(heights[k])) for k in np.flatnonzero(best)]
    return found
