"""The mean game of a posterior as a surrogate of pairs, and as an answer of its own.

From few pairs nothing that the mean game leaves can be estimated well, and its own errors are
smaller than those of a correction; from many pairs it is the other way round.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.corrections import Answer, sharing_out
from fairfield.estimation.prior.posterior import Posterior
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

NAME = "a prior over games"


def prior_answer(posterior: Posterior, diagonal: Diagonal, gain: FloatArray | None) -> Answer:
    """The values of the mean game; ``gain`` (games,) is their sum, where that is known."""
    found = posterior.values(diagonal)
    values, covariance = found.shrunk(), found.covariance
    if gain is not None:
        count = values.shape[1]
        values = values + ((gain - values.sum(axis=1)) / count)[:, None]
        apart = np.eye(count) - 1 / count
        covariance = apart @ covariance @ apart
        # Rounding may leave less than nothing.
        place = np.arange(count)
        covariance[:, place, place] = np.maximum(covariance[:, place, place], 0.0)
    method = f"{NAME}, given {len(posterior.coalitions):,} coalitions"

    def weights() -> FloatArray:
        return found.weights if gain is None else sharing_out(found.weights)

    return Answer(values, covariance, method, weights)


def prior_fit(posterior: Posterior, diagonal: Diagonal, sample: Sample) -> Fit:
    """The mean game as a surrogate: ∅ and N come first among its coalitions, then the pairs."""
    fitted = (len(posterior.coalitions) - 2) // 2
    guess = posterior.predict(np.concatenate([sample.coalitions, ~sample.coalitions]))
    inside = (
        sample.odd - (guess[:, : len(sample.coalitions)] - guess[:, len(sample.coalitions) :]) / 2
    )
    outside = inside.copy()
    # What the others predict for both coalitions of a pair, from the inverse of its 2 × 2 block.
    rows = 2 + 2 * np.arange(fitted)
    first, second = (posterior.inverse[rows + k, rows + k] for k in (0, 1))
    cross, (one, other) = (
        posterior.inverse[rows, rows + 1],
        (posterior.alpha[:, rows + k] for k in (0, 1)),
    )
    odd = ((second + cross) * one - (first + cross) * other) / (first * second - cross**2) / 2
    outside[:, :fitted] = posterior.scale[:, None] * odd
    return Fit(NAME, posterior.values(diagonal).values, inside, outside)
