"""The score of what an ensemble answers: votes for labels, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.copies import lent
from fairfield.core.runtime.imports import needed_for

# Sums of real votes that differ by less are a tie: about their rounding error.
TIE = 1e-9
# The score of votes (rows, labels), or of numbers (rows, 1) where there are no labels.
Score: TypeAlias = Callable[[FloatArray], float]


def score_of(scoring: Any, labels: NDArray[Any], X_test: Any, truth: NDArray[Any]) -> Score:
    """The share of right rows, a function of true and predicted labels, or a scorer."""
    if len(labels) and scoring in (None, "accuracy"):
        return lambda votes: _share_right(votes, labels, truth)
    if callable(scoring) and not type(scoring).__module__.startswith("sklearn."):
        return lambda votes: float(scoring(lent(truth), _decided(votes, labels)))
    return _scorer(scoring or "r2", labels, X_test, truth)


def _share_right(votes: FloatArray, labels: NDArray[Any], truth: NDArray[Any]) -> float:
    true = truth[:, None] == labels
    return float((votes[true] - np.where(true, -np.inf, votes).max(axis=1) >= TIE).mean())


def _decided(votes: FloatArray, labels: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(labels[votes.argmax(axis=1)]) if len(labels) else votes[:, 0]


def _scorer(scoring: Any, labels: NDArray[Any], X_test: Any, truth: NDArray[Any]) -> Score:
    """A scikit-learn scorer, applied to votes as if a model had made them."""
    with needed_for("this scoring"):
        from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
        from sklearn.metrics import get_scorer

    class Vote(ClassifierMixin if len(labels) else RegressorMixin, BaseEstimator):  # type: ignore[misc]  # chosen at run time
        classes_ = labels

        def __init__(self, votes: FloatArray) -> None:
            self.votes = votes

        def predict(self, X: Any) -> NDArray[Any]:
            return _decided(self.votes, labels)

        def predict_proba(self, X: Any) -> FloatArray:
            return self.votes

    scorer = get_scorer(scoring)
    rows = np.zeros((len(truth), 1)) if X_test is None else X_test
    return lambda votes: float(scorer(Vote(votes), rows, lent(truth)))
