"""From what a surrogate leaves of the sampled pairs to values and their errors.

Either by weighted least squares of the residuals on z - ½, or by their weighted mean times
z - ½ over the second moments that the whole population is known to have. The first fits what
is linear without error; the second is the better one where little is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.surrogates.sample import Fit, Sample


@dataclass(frozen=True)
class Answer:
    """Values (games, n), their covariance (games, n, n), and how they were found.

    ``weights`` gives what each worth that was received weighs in them, (m, n) or (games, m, n), both
    ends first; None where a fit chose by the worths what it would look at.
    """

    values: FloatArray
    covariance: FloatArray
    method: str
    weights: Callable[[], FloatArray] | None = None

    @property
    def spread(self) -> FloatArray:
        """The sum of the variances of the values, (games,)."""
        return np.asarray(np.trace(self.covariance, axis1=1, axis2=2))


def smallest(answers: Sequence[Answer]) -> Answer:
    """The answer with the smallest spread, game by game."""
    which = np.argmin([answer.spread for answer in answers], axis=0)
    chosen = [(answers[i], game) for game, i in enumerate(which)]
    weights = [answer.weights for answer, _ in chosen if answer.weights is not None]
    return Answer(
        np.stack([answer.values[game] for answer, game in chosen]),
        np.stack([answer.covariance[game] for answer, game in chosen]),
        "; ".join(dict.fromkeys(answer.method for answer, _ in chosen)),
        (lambda: _side_by_side(weights)) if len(weights) == len(chosen) else None,
    )


def _side_by_side(weights: Sequence[Callable[[], FloatArray]]) -> FloatArray:
    """Those of each game, (games, m, n): of some the last worths weigh nothing."""
    found = [each() for each in weights]
    longest = max(map(len, found))
    return np.stack([np.pad(each, ((0, longest - len(each)), (0, 0))) for each in found])


def sharing_out(weights: FloatArray) -> FloatArray:
    """The weights (m, n) of values that are moved evenly to sum to F(N) - F(∅)."""
    found: FloatArray = weights - weights.mean(axis=1, keepdims=True)
    found[:2] += np.array([[-1.0], [1.0]]) / weights.shape[1]
    return found


@dataclass(frozen=True)
class Correction:
    """Slopes of residuals: ``residuals @ influence``.

    ``leverage`` (p,) is the share of its own residual that a pair fits; None where nothing is
    fitted. ``efficient`` values sum to F(N) - F(∅).
    """

    sample: Sample
    influence: FloatArray
    leverage: FloatArray | None
    efficient: bool
    name: str

    def of(self, fit: Fit, ends: FloatArray) -> Answer:
        """The surrogate's values, corrected by what it leaves."""
        known = self.sample.fraction
        slopes = (known * fit.inside + (1 - known) * fit.outside) @ self.influence
        values, effect = fit.values + slopes, self.influence
        if self.efficient:
            # Values of a surrogate sum to G(N) - G(∅), so this is right for F - G as well.
            whole = ends[:, 1] - ends[:, 0]
            values = values + ((whole - values.sum(axis=1)) / values.shape[1])[:, None]
            effect = effect - effect.mean(axis=1, keepdims=True)
        # Less the share of its stratum that is known.
        left = self.residuals(fit.outside, slopes) * np.sqrt(1 - known)
        method = f"{self.name} of {len(known):,} pairs of coalitions"
        errors = left[:, :, None] * effect
        return Answer(
            values,
            errors.swapaxes(1, 2) @ errors,
            f"{method} after a surrogate, {fit.name}" if fit.name else method,
            None if fit.name else self.weights,
        )

    def weights(self) -> FloatArray:
        """What each worth weighs in the slopes of what was received, (m, n)."""
        places = self.sample.places
        found = np.zeros((int(places.max()) + 1, self.influence.shape[1]))
        found[places[:, 0]], found[places[:, 1]] = self.influence / 2, -self.influence / 2
        return sharing_out(found) if self.efficient else found

    def residuals(self, odd: FloatArray, slopes: FloatArray | None = None) -> FloatArray:
        """Residuals (games, p) as if each pair had been left out (HC3)."""
        if self.leverage is None:
            return odd
        fitted = odd @ self.influence if slopes is None else slopes
        left = odd - fitted @ self.sample.signs.T
        return np.asarray(left / np.maximum(1 - self.leverage, 1e-6))


def least_squares(sample: Sample, efficient: bool) -> Correction:
    """Weighted least squares, the moments being those of the sample."""
    weighted = sample.weights[:, None] * sample.signs
    influence = weighted @ np.linalg.pinv(sample.signs.T @ weighted, hermitian=True)
    leverage = np.sum(influence * sample.signs, axis=1)
    return Correction(sample, influence, leverage, efficient, "regression")


def known_moments(sample: Sample, efficient: bool) -> Correction:
    """Weighted means, the moments being those of all coalitions: a multiple of 1.

    For efficient values that is so for the part of z - ½ that sums to 0, of mean square
    Σ_s w_s s (n-s)/n over n - 1 directions; for the others it is ¼.
    """
    signs, moment = sample.signs, 0.25
    if efficient:
        signs = signs - signs.mean(axis=1, keepdims=True)
        moment = float(sample.weights @ np.sum(signs**2, axis=1)) / (signs.shape[1] - 1)
    influence = sample.weights[:, None] * signs / moment
    return Correction(sample, influence, None, efficient, "weighted means")
