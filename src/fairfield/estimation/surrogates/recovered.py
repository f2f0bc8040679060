"""Games of few interactions, as trees and programs have them, recovered from some of their worths.

A product Π_{i∈A} s_i with s = ±1 for players in and out has the slope 2 (2t - 1)^(|A|-1) for each of
its players at (t, …, t).
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.corrections import Answer
from fairfield.estimation.surrogates.sample import Diagonal
from fairfield.estimation.surrogates.sparse import ROUNDING, Polynomial, sparse_fit

# From fewer coalitions, or different worths (those of votes), what is left out says too little; the
# first so many are looked at, and the others foretold.
FEWEST, FEW_WORTHS, LOOKED_AT = 40, 4, 2000


def recovered(
    coalitions: BoolArray, worths: FloatArray, diagonal: Diagonal, seed: int
) -> Answer | None:
    """The values of games (games, m) whose worths some interactions predict up to rounding.

    The coalitions come in pairs, which are left out together. Games that are not recovered have no
    finite spread; None if no game is.
    """
    if len(coalitions) < FEWEST:
        return None
    games, players = len(worths), coalitions.shape[1]
    values, covariance = np.zeros((games, players)), np.zeros((games, players, players))
    pairs, found = np.arange(len(coalitions)) // 2, 0
    for game, own in enumerate(worths):
        # No rival is as good as what predicts up to rounding, so the first fold decides.
        fit = sparse_fit(coalitions[:LOOKED_AT], own[:LOOKED_AT], seed, 0.0, pairs[:LOOKED_AT])
        if fit is None or not fit.exact or not _foretold(fit.polynomial, coalitions, own):
            covariance[game] = np.diag(np.full(players, np.inf))
        else:
            values[game], found = _values(fit.polynomial, diagonal), found + 1
    return Answer(values, covariance, "a polynomial in few interactions") if found else None


def _foretold(polynomial: Polynomial, coalitions: BoolArray, worths: FloatArray) -> bool:
    """Whether all worths are those of the polynomial, and differ enough to tell."""
    left = np.abs(worths - polynomial.predict(coalitions)).max()
    return bool(left <= ROUNDING * np.std(worths)) and len(np.unique(worths)) > FEW_WORTHS


def _values(polynomial: Polynomial, diagonal: Diagonal) -> FloatArray:
    slopes = [
        2 * float(diagonal.weights @ (2 * diagonal.nodes - 1) ** size)
        for size in range(polynomial.degree)
    ]
    values = np.zeros(polynomial.players)
    for member, coefficient in zip(polynomial.support, polynomial.coefficients, strict=True):
        values[list(member)] += coefficient * slopes[len(member) - 1] if member else 0.0
    return values
