"""The mean game of a posterior as a surrogate of pairs, and as an answer of its own.

From few pairs nothing that the mean game leaves can be estimated well, and its own errors are
smaller than those of a correction; from many pairs it is the other way round.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.corrections import Answer
from fairfield.estimation.prior.posterior import Posterior
from fairfield.estimation.surrogates.sample import Diagonal, Fit, Sample

NAME = "a prior over games"


def prior_answer(posterior: Posterior, diagonal: Diagonal, gain: FloatArray | None) -> Answer:
    """The values of the mean game; ``gain`` (games,) is their sum, where that is known."""
    values, covariance = posterior.values(diagonal)
    if gain is not None:
        count = values.shape[1]
        values = values + ((gain - values.sum(axis=1)) / count)[:, None]
        apart = np.eye(count) - 1 / count
        covariance = apart @ covariance @ apart
    method = f"{NAME}, given {len(posterior.coalitions):,} coalitions"
    return Answer(values, covariance, method)


def prior_fit(posterior: Posterior, diagonal: Diagonal, sample: Sample) -> Fit:
    """The mean game as a surrogate: ∅ and N come first among its coalitions, then the pairs."""
    fitted = (len(posterior.coalitions) - 2) // 2
    odd = sample.odd.copy()
    inside, outside = odd.copy(), odd.copy()
    alpha = posterior.alpha[:, 2 : 2 + 2 * fitted].reshape(len(odd), fitted, 2)
    scale = posterior.scale[:, None]
    noise = posterior.noise[2 : 2 + 2 * fitted].reshape(fitted, 2)
    inside[:, :fitted] = scale * np.diff(-alpha * noise, axis=2)[..., 0] / 2
    rows = 2 + 2 * np.arange(fitted)
    # What the others predict for both coalitions of a pair, from the inverse of its 2 × 2 block.
    first, second = (posterior.inverse[rows + k, rows + k] for k in (0, 1))
    cross = posterior.inverse[rows, rows + 1]
    area = first * second - cross**2
    left = ((second + cross) * alpha[..., 0] - (first + cross) * alpha[..., 1]) / area
    outside[:, :fitted] = scale * left / 2
    if fitted < sample.odd.shape[1]:
        rest = sample.coalitions[fitted:]
        guess = posterior.predict(np.concatenate([rest, ~rest]))
        ins, outs = guess[:, : len(rest)], guess[:, len(rest) :]
        inside[:, fitted:] = outside[:, fitted:] = odd[:, fitted:] - (ins - outs) / 2
    return Fit(NAME, posterior.values(diagonal)[0], inside, outside)
