"""Games of few interactions, as trees and programs have them, recovered from some of their worths.

What is fitted to some coalitions is believed where it predicts others to rounding, which nothing was
chosen by. What is rarer than one in so many of these may still be otherwise.

A product Π_{i∈A} s_i with s = ±1 for players in and out has the slope 2 (2t - 1)^(|A|-1) for each of
its players at (t, …, t).
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.corrections import Answer
from fairfield.estimation.surrogates.sample import Diagonal
from fairfield.estimation.surrogates.sparse import Polynomial, sparse_fit

# So many coalitions are held back, of sizes that tell of interactions; the first so many others are
# looked at. Of few different worths (those of votes) they say too little.
HELD_BACK, LOOKED_AT, FEW_WORTHS = 60, 2000, 4
# Digits that a prediction may miss, in units of the largest worth.
ROUNDING = 1e-12
EXACT = f"exact: {HELD_BACK} worths that were held back are predicted to rounding"


def recovered(
    coalitions: BoolArray, worths: FloatArray, diagonal: Diagonal, seed: int
) -> Answer | None:
    """The values of games (games, m) whose worths some interactions predict up to rounding.

    The coalitions come in pairs, which are left out together. Games that are not recovered have no
    finite spread; None if no game is.
    """
    games, players = len(worths), coalitions.shape[1]
    values, covariance = np.zeros((games, players)), np.zeros((games, players, players))
    pairs, found = np.arange(len(coalitions)) // 2, 0
    for game, own in enumerate(worths):
        few = len(np.unique(own)) <= FEW_WORTHS
        polynomial = None if few else believed(coalitions, own, seed, pairs)
        if polynomial is None:
            covariance[game] = np.diag(np.full(players, np.inf))
        else:
            values[game], found = _values(polynomial, diagonal), found + 1
    return Answer(values, covariance, "a polynomial in few interactions") if found else None


def believed(
    coalitions: BoolArray, worths: FloatArray, seed: int, groups: IntArray
) -> Polynomial | None:
    """The polynomial in few interactions that is the game (m,), as far as some worths tell.

    ``groups`` (m,), which rise, are held back and left out together.
    """
    sizes = coalitions.sum(axis=1)
    # All players alone, and all without one, show no interactions of some to have and some to lack.
    telling = np.flatnonzero((sizes > 1) & (sizes < coalitions.shape[1] - 1))
    if len(telling) < HELD_BACK or np.ptp(worths) == 0:
        return None
    some = np.flatnonzero(groups < groups[telling[-HELD_BACK]])[:LOOKED_AT]
    if not len(some):
        return None
    # No rival is as good as what predicts to rounding, so the first fold decides.
    fit = sparse_fit(coalitions[some], worths[some], seed, 0.0, groups[some])
    if fit is None or not fit.exact:
        return None
    left = np.abs(worths - fit.polynomial.predict(coalitions)).max()
    return fit.polynomial if left <= ROUNDING * np.abs(worths).max() else None


def _values(polynomial: Polynomial, diagonal: Diagonal) -> FloatArray:
    slopes = [
        2 * float(diagonal.weights @ (2 * diagonal.nodes - 1) ** size)
        for size in range(polynomial.degree)
    ]
    values = np.zeros(polynomial.players)
    for member, coefficient in zip(polynomial.support, polynomial.coefficients, strict=True):
        values[list(member)] += coefficient * slopes[len(member) - 1] if member else 0.0
    return values
