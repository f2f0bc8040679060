"""The mean game of a posterior as a surrogate of pairs, and as an answer of its own.

From few pairs nothing that the mean game leaves can be estimated well, and its own errors are
smaller than those of a correction; from many pairs it is the other way round.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.corrections import Answer, sharing_out
from fairfield.estimation.prior.posterior import Posterior
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

NAME = "a prior over games"


def prior_answer(posterior: Posterior, diagonal: Diagonal, gain: FloatArray | None) -> Answer:
    """The values of the mean game; ``gain`` (games,) is their sum, where that is known."""
    found = posterior.values(diagonal)
    values, covariance = found.values, found.covariance
    if gain is not None:
        # Equal shares are often near the truth; for other values their mean is not (measured).
        values = found.shrunk()
        count = values.shape[1]
        values = values + ((gain - values.sum(axis=1)) / count)[:, None]
        apart = np.eye(count) - 1 / count
        covariance = apart @ covariance @ apart
        # Rounding may leave less than nothing.
        place = np.arange(count)
        covariance[:, place, place] = np.maximum(covariance[:, place, place], 0.0)
    method = f"{NAME}, given {len(posterior.coalitions):,} coalitions"
    weights = partial(prior_weights, posterior, diagonal, gain is not None)
    return Answer(values, covariance, method, weights)


def prior_weights(posterior: Posterior, diagonal: Diagonal, efficient: bool) -> FloatArray:
    """What each worth weighs in the values of the mean game before they are shrunk, (m, n)."""
    found = posterior.values(diagonal).weights
    return sharing_out(found) if efficient else found


def prior_fit(posterior: Posterior, diagonal: Diagonal, sample: Sample) -> Fit:
    """The mean game as a surrogate; it was fitted to the first worths that were received."""
    first, second = sample.places[sample.places[:, 1] < len(posterior.coalitions)].T
    guess = posterior.predict(np.concatenate([sample.coalitions, ~sample.coalitions]))
    inside = (
        sample.odd - (guess[:, : len(sample.coalitions)] - guess[:, len(sample.coalitions) :]) / 2
    )
    outside = inside.copy()
    # What the others predict for both coalitions of a pair, from the inverse of its 2 × 2 block.
    inverse, one, other = posterior.inverse, posterior.alpha[:, first], posterior.alpha[:, second]
    own, others, cross = inverse[first, first], inverse[second, second], inverse[first, second]
    odd = ((others + cross) * one - (own + cross) * other) / (own * others - cross**2) / 2
    outside[:, : len(first)] = posterior.scale[:, None] * odd
    return Fit(NAME, posterior.values(diagonal).values, inside, outside)
