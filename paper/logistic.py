"""The paper's logistic regression, fitted on many coalitions at once.

Its synthetic experiments have 20 players, 2^20 fits; one by one they take an hour, by Newton's
method on blocks of coalitions a minute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.fingerprint import digest
from fairfield.core.game import Traits
from fairfield.core.special import expit
from fairfield.games.data.game import PAPERS_WORTH

# After a step of Newton's method from a decrement (squared) below this, the next would be below
# rounding; and so many steps have always sufficed.
SETTLED, MOST_STEPS = 1e-10, 200
# Whole steps nearly always settle within these; where they swing, shorter ones do not.
WHOLE_STEPS = 15


class LogisticGame(ff.Game):
    """Training rows, or groups of them, under two-class logistic regression; a worth is accuracy.

    A coalition S is worth the accuracy on the test set of

        argmin_w ½‖w‖² + Σ_{rows of S} log(1 + exp(∓ w·(x, 1)))

    which is what liblinear (C = 1) minimises to a tolerance, here to rounding. By the paper's
    rule it is .5 where S is empty, a single group, or holds one class. Cost: some 8 Newton
    steps of O(rows · features²) for each coalition, as matrix products over a block of them.
    """

    traits = Traits(opaque=False)  # its description holds all its data

    def __init__(self, X: Any, y: Any, X_test: Any, y_test: Any, groups: Any = None) -> None:
        rows = np.asarray(X, dtype=float)
        self.rows, self.tests = _with_ones(rows), _with_ones(np.asarray(X_test, dtype=float))
        self.classes, self.truth = np.asarray(y, dtype=bool), np.asarray(y_test, dtype=bool)
        owners = np.arange(len(rows)) if groups is None else np.asarray(groups)
        names, self.owner = np.unique(owners, return_inverse=True)
        self.players = tuple(names.tolist())
        # Every pair of features once: a curvature is symmetric.
        self._pairs = np.tril_indices(self.rows.shape[1])
        self._products = self.rows[:, self._pairs[0]] * self.rows[:, self._pairs[1]]
        # Near the weights of most coalitions.
        self._start = np.zeros(self.rows.shape[1])
        self._start = self._fit(np.ones((1, len(rows))))[0]

    def worths(self, coalitions: BoolArray) -> FloatArray:
        inside = coalitions[:, self.owner]
        positives = inside @ self.classes.astype(int)
        fitted = (coalitions.sum(axis=1) > 1) & (positives > 0) & (positives < inside.sum(axis=1))
        found = np.full(len(coalitions), PAPERS_WORTH)
        weights = self._fit(inside[fitted].astype(float))
        found[fitted] = ((weights @ self.tests.T > 0) == self.truth).mean(axis=1)
        return found

    def describe(self) -> dict[str, Any]:
        held = digest(self.rows, self.classes, self.tests, self.truth, self.owner)
        return {**super().describe(), "data": held}

    def _fit(self, inside: FloatArray) -> FloatArray:
        """The weights (m, d) for each choice of rows (m, rows)."""
        weights = np.tile(self._start, (len(inside), 1))
        curvature = np.empty((len(inside), len(self._start), len(self._start)))
        first, second = self._pairs
        for number in range(MOST_STEPS):
            chance = expit(weights @ self.rows.T)
            slope = weights + (inside * (chance - self.classes)) @ self.rows
            curvature[:, first, second] = (inside * chance * (1 - chance)) @ self._products
            curvature[:, second, first] = curvature[:, first, second]
            step = np.linalg.solve(curvature + np.eye(len(self._start)), slope[..., None])[..., 0]
            decrement = np.sum(step * slope, axis=1)
            if number >= WHOLE_STEPS:
                step /= 1 + np.sqrt(decrement)[:, None]
            weights -= step
            if decrement.max(initial=0.0) < SETTLED:
                return weights
        raise ValueError("Newton's method did not settle on these rows; scale the features")


def _with_ones(X: FloatArray) -> FloatArray:
    """The features and a constant, which liblinear shrinks like the others."""
    return np.column_stack([X, np.ones(len(X))])
