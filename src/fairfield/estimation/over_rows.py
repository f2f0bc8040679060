"""Errors over test rows of estimates, where worths are means over these.

An estimate Σ_j w_j F(S_j) is a mean over test rows as exact values are, of what each row says of the
coalitions drawn; so its covariance over the rows is known from the same fits. It adds to that of the
draws: another test set would have moved the worths, other draws the weights. Where the values
come from a surrogate that is not linear in the worths, the weights are those of the best estimate that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.corrections import Answer, smallest, stacked
from fairfield.evaluation.by_row import Coefficients, RowScores
from fairfield.evaluation.kept import KeptWorths, pack


def weighing(coalitions: BoolArray, weights: FloatArray) -> Coefficients:
    """The coefficients of these coalitions (m, n), by ``weights`` (m, n) or (games, m, n); others have none.

    >>> found = weighing(np.array([[True, False], [True, False]]), np.ones((2, 2)))
    >>> found(np.array([[True, False], [True, True]])).tolist()
    [[[2.0, 2.0], [0.0, 0.0]]]
    """
    keys, at = np.unique(pack(coalitions), return_inverse=True)
    each = weights.reshape(-1, *weights.shape[-2:]).swapaxes(0, 1)
    total = np.zeros((len(keys), *each.shape[1:]))
    np.add.at(total, at.ravel(), each)
    kept = KeptWorths(coalitions.shape[1], 0)
    kept.keys = keys

    def of(some: BoolArray) -> FloatArray:
        rows, there = kept.find(pack(some))
        return np.where(there[:, None], total[rows].swapaxes(0, 1), 0.0)

    return of


def read_linearly(
    coalitions: BoolArray, answers: Sequence[Sequence[Answer]]
) -> Callable[[], Coefficients] | None:
    """How the best answers that are linear in the worths weigh coalitions, if there is one for each game.

    The answers are those for some games, then those for others.
    """
    best = [smallest(some) for each in answers if (some := [a for a in each if a.weights])]
    weights = stacked(best).weights if len(best) == len(answers) else None
    if weights is None:
        return None

    def made() -> Coefficients:
        each = weights()
        return weighing(coalitions[: each.shape[-2]], each)

    return made


def with_test_rows(
    covariance: FloatArray,
    method: str,
    linear: Callable[[], Coefficients] | None,
    by_row: RowScores | None,
) -> tuple[FloatArray, str]:
    """The covariance (*batch, n, n) of draws and test rows together, and the method with both named."""
    if linear is None:
        return covariance, f"{method}, ± of the draws alone"
    if by_row is None:
        return (
            covariance,
            f"{method}, ± of the draws alone: some worths came without those of test rows",
        )
    over_rows = by_row.covariance(linear(), covariance.shape[-1]).reshape(covariance.shape)
    both = covariance + over_rows
    whole, own = (np.trace(each, axis1=-2, axis2=-1) for each in (both, over_rows))
    # Scores of different units are not averaged.
    shares = 100 * np.divide(own, whole, out=np.zeros_like(whole), where=whole > 0)
    low, high = f"{np.min(shares):.0f}", f"{np.max(shares):.0f}"
    share = low if low == high else f"{low} to {high}"
    said = f"± of draws and of {by_row.rows:,} test rows ({share} % of the variance)"
    return both, f"{method}, {said}"
