"""Coefficients of worths in values, by which errors over test rows reach them.

A value is Σ_S c_i(S) F(S); ``RowScores.covariance`` takes the coefficients of some coalitions at a time.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.evaluation.by_row import Coefficients


def gradient_coefficients(x: FloatArray) -> Coefficients:
    """Those of ∇f(x), for one point (n,) or one for each game (games, n).

    ±Π_{j≠i} of x_j or 1 - x_j, as S has j or not; without dividing, so that x may be 0 or 1.

    >>> gradient_coefficients(np.array([0.5, 0.25]))(np.array([[True, False]])).tolist()
    [[[0.75, -0.5]]]
    """
    points = x.reshape(-1, 1, x.shape[-1])

    def of(coalitions: BoolArray) -> FloatArray:
        factors = np.where(coalitions, points, 1 - points)
        ones = np.ones((*factors.shape[:-1], 1))
        before = np.cumprod(np.concatenate([ones, factors[..., :-1]], axis=-1), axis=-1)
        after = np.cumprod(np.concatenate([ones, factors[..., :0:-1]], axis=-1), axis=-1)
        return np.asarray(np.where(coalitions, 1.0, -1.0) * before * after[..., ::-1])

    return of


def semivalue_coefficients(weights: FloatArray) -> Coefficients:
    """Those of Σ_{S∌i} weights[|S|] (F(S+i) - F(S)).

    >>> semivalue_coefficients(np.array([0.5, 0.25]))(np.array([[True, False]])).tolist()
    [[0.5, -0.25]]
    """
    held, left = np.concatenate([[0.0], weights]), np.concatenate([weights, [0.0]])

    def of(coalitions: BoolArray) -> FloatArray:
        size = coalitions.sum(axis=1)
        return np.asarray(np.where(coalitions, held[size][:, None], -left[size][:, None]))

    return of
