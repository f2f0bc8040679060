"""The paper's logistic regression, fitted on many coalitions at once.

Its data experiments have up to 20 players, 2^20 fits; one by one they take hours, by Newton's
method on blocks of coalitions minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.fingerprint import digest
from fairfield.core.game import Traits
from fairfield.core.special import expit
from fairfield.games.data.game import PAPERS_WORTH

# After a step of Newton's method from a decrement (squared) below this, the next would be below
# rounding; and so many steps have always sufficed.
SETTLED, MOST_STEPS = 1e-10, 200
# Fits that go on together: enough for matrix products to be fast, few enough for the cache.
TOGETHER = 256


@dataclass(frozen=True)
class Fits:
    """Models that are fitted together: weights (m, d), the rows of each (m, rows), their class."""

    weights: FloatArray
    inside: FloatArray
    truth: BoolArray

    def some(self, which: BoolArray) -> Fits:
        return Fits(self.weights[which], self.inside[which], self.truth[which])


class LogisticGame(ff.Game):
    """Training rows, or groups of them, under logistic regression; a worth is accuracy.

    A coalition S is worth the accuracy on the test set of, for each class that S holds,

        argmin_w ½‖w‖² + Σ_{rows of S} log(1 + exp(∓ w·(x, 1)))

    which is what liblinear (C = 1) minimises to a tolerance, here to rounding; the class with the
    largest w·(x, 1) is predicted, and of two classes one fit tells both. By the paper's rule it is
    .5 where S is empty, a single group, or holds one class. Cost: some 8 Newton steps of
    O(rows · features²) for each fit, as matrix products over a block of them.
    """

    traits = Traits(opaque=False)  # its description holds all its data

    def __init__(self, X: Any, y: Any, X_test: Any, y_test: Any, groups: Any = None) -> None:
        rows = np.asarray(X, dtype=float)
        self.rows, self.tests = _with_ones(rows), _with_ones(np.asarray(X_test, dtype=float))
        self.labels, self.classes = np.unique(y, return_inverse=True)
        self.truth = np.asarray(y_test)
        owners = np.arange(len(rows)) if groups is None else np.asarray(groups)
        names, self.owner = np.unique(owners, return_inverse=True)
        self.players = tuple(names.tolist())
        # Rows of each class, one line a class.
        self._is = self.classes == np.arange(len(self.labels))[:, None]
        # Every pair of features once, as a curvature is symmetric, and where each stands in it.
        first, second = np.tril_indices(self.rows.shape[1])
        self._products = self.rows[:, first] * self.rows[:, second]
        self._place = np.empty((self.rows.shape[1],) * 2, dtype=int)
        self._place[first, second] = self._place[second, first] = np.arange(len(first))
        # Near the weights of most coalitions.
        self._start = np.zeros((len(self.labels), self.rows.shape[1]))
        every = np.ones((len(self.labels), len(rows)))
        self._start = self._fit(every, np.arange(len(self.labels)))

    def worths(self, coalitions: BoolArray) -> FloatArray:
        found = np.full(len(coalitions), PAPERS_WORTH)
        inside = coalitions[:, self.owner]
        held = inside.astype(float) @ self._is.T > 0
        fitted = np.flatnonzero((coalitions.sum(axis=1) > 1) & (held.sum(axis=1) > 1))
        two = len(self.labels) == 2
        together = TOGETHER if two else -(-TOGETHER // len(self.labels))
        for start in range(0, len(fitted), together):
            block = fitted[start : start + together]
            which, classes = np.nonzero(held[block, :1] if two else held[block])
            weights = self._fit(inside[block[which]].astype(float), classes)
            heights = np.full((len(block), len(self.labels), len(self.tests)), -np.inf)
            heights[which, classes] = weights @ self.tests.T
            if two:
                heights[:, 1] = -heights[:, 0]
            found[block] = (self.labels[heights.argmax(axis=1)] == self.truth).mean(axis=1)
        return found

    def describe(self) -> dict[str, Any]:
        held = digest(self.rows, self.classes, self.tests, self.truth, self.owner)
        return {**super().describe(), "data": held}

    def _fit(self, inside: FloatArray, classes: IntArray) -> FloatArray:
        """The weights (m, d) for each choice of rows (m, rows) and the class told from the others."""
        weights, going = self._start[classes], np.arange(len(classes))
        for _ in range(MOST_STEPS):
            fits = Fits(weights[going], inside[going], self._is[classes[going]])
            step, decrement = self._step(fits)
            # A curvature changes by at most e^u where no height w·(x, 1) moves by more than u. Up
            # to 1 the loss falls with a whole step; further ones are halved until it does.
            far = np.abs(fits.inside * (step @ self.rows.T)).max(axis=1) > 1
            step[far] *= self._length(fits.some(far), step[far], decrement[far])[:, None]
            weights[going] -= step
            going = going[decrement >= SETTLED]
            if not len(going):
                return weights
        raise ValueError("Newton's method did not settle on these rows; scale the features")

    def _step(self, fits: Fits) -> tuple[FloatArray, FloatArray]:
        """Newton's steps (m, d) and their decrements, squared (m)."""
        chance = expit(fits.weights @ self.rows.T)
        slope = fits.weights + (fits.inside * (chance - fits.truth)) @ self.rows
        sums = (fits.inside * chance * (1 - chance)) @ self._products
        curvature = sums.take(self._place, axis=1) + np.eye(slope.shape[1])
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        return step, np.sum(step * slope, axis=1)

    def _length(self, fits: Fits, step: FloatArray, decrement: FloatArray) -> FloatArray:
        """What part of each step is gone (m), halved until the loss falls as it should."""
        length, short = np.ones(len(step)), np.ones(len(step), dtype=bool)
        before = self._loss(fits, fits.weights)
        while short.any():
            after = self._loss(fits, fits.weights - length[:, None] * step)
            short = after > before - 0.25 * length * decrement
            length[short] /= 2
        return length

    def _loss(self, fits: Fits, weights: FloatArray) -> FloatArray:
        signed = np.where(fits.truth, -1.0, 1.0) * (weights @ self.rows.T)
        losses = np.maximum(signed, 0) + np.log1p(np.exp(-np.abs(signed)))
        return np.asarray((fits.inside * losses).sum(axis=1) + (weights**2).sum(axis=1) / 2)


def _with_ones(X: FloatArray) -> FloatArray:
    """The features and a constant, which liblinear shrinks like the others."""
    return np.column_stack([X, np.ones(len(X))])
