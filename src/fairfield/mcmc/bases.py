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
# Points on a line through the prior at which ELBOs are compared, and how far below the best of them
# those of a part of the law may be that matters.
ALONG, FAR_BELOW = 57, 8.0


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
    So the best points along lines through the prior are starts too; and components of their own
    where the mean field that they lead to is another mode, beside points of larger worths that a
    product law may miss.
    """
    best, on_lines = _on_lines(extension, temperature, prior)
    starts = [*starts, *(expit(logits) for logits in best)]
    found = [mean_field.solve(anderson, extension, start, temperature, prior) for start in starts]
    # Solvers take no prior for one of ½, which moves their ELBO.
    solved = [
        (logits, float(elbo(extension.centred(expit(logits))[0], logits, temperature, prior)))
        for logits in (each.logits[0] for each in found)
    ]
    modes: list[FloatArray] = []
    elbos: list[float] = []
    for points, near in ((solved, SAME), (on_lines, APART)):
        for logits, height in sorted(points, key=lambda one: -one[1]):
            if all(np.max(np.abs(expit(mode) - expit(logits))) > near for mode in modes):
                modes.append(logits)
                elbos.append(height)
    # None weighs so little that it is never drawn: the ELBO may misjudge its mode.
    weights = np.exp(np.maximum(np.array(elbos) - max(elbos), -2.0))
    logits = np.clip(np.array(modes), -WIDEST, WIDEST)
    return Mixture(logits, weights / weights.sum(), max(elbos))


def _on_lines(
    extension: Extension, temperature: FloatArray, prior: FloatArray | None
) -> tuple[list[FloatArray], list[tuple[FloatArray, float]]]:
    """Where ELBOs are highest along logits λ + s·a, and these and other points with their ELBOs.

    a is 1 for all players, or in proportion to their mean contributions along the diagonal. The
    others have larger worths than the best point, and ELBOs that are not out of the question.
    """
    bias = np.zeros(extension.players) if prior is None else prior
    contributions = extension.along_diagonal(*legendre(4))
    scale = np.abs(contributions).max()
    directions = [np.ones(extension.players), *([contributions / scale] if scale > 0 else [])]
    starts, found = [], []
    for direction in directions:
        logits = bias + np.linspace(-WIDEST, WIDEST, ALONG)[:, None] * direction
        value = np.array([extension.centred(expit(each))[0] for each in logits])
        heights = elbo(value, logits, temperature, prior)
        beside, top = np.pad(heights, 1, constant_values=-np.inf), int(heights.argmax())
        best = (heights >= beside[:-2]) & (heights > beside[2:])
        larger = (value - value[top] > temperature) & (heights > heights[top] - FAR_BELOW)
        larger[1::2] = False  # half as many points are near enough to each other
        starts += list(logits[best])
        found += [(logits[k], float(heights[k])) for k in np.flatnonzero(best | larger)]
    return starts, found
