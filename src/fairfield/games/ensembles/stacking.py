"""Stacked models: a final estimator that reads what the others predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import lent
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.labels import plain_labels
from fairfield.games.ensembles.ballots import Ballots, given_labels


@dataclass(frozen=True, eq=False)
class Stack:
    """What the models of a stack predict on test rows, and the final estimator that reads it.

    ``owner`` says which model each column of the inputs is of, -1 for the features that a stack
    with passthrough adds, which are always there.
    """

    final: Any
    names: tuple[str, ...]
    inputs: FloatArray  # (rows, columns)
    owner: NDArray[np.int64]
    labels: NDArray[Any]  # none for numbers

    @classmethod
    def of(cls, model: Any, X_test: Any) -> Stack:
        """The parts of a fitted StackingClassifier or StackingRegressor."""
        kept = [name for name, each in getattr(model, "estimators", ()) if each != "drop"]
        if not hasattr(model, "final_estimator_") or X_test is None:
            raise ValueError(
                f"vote='stack' was given with {type(model).__name__} and "
                f"{'no rows' if X_test is None else 'rows'}; give a fitted StackingClassifier or "
                "StackingRegressor and the rows to predict"
            )
        inputs = np.asarray(model.transform(lent(X_test)), dtype=float)
        owner = np.full(inputs.shape[1], -1)
        start = 0
        for i, (each, method) in enumerate(
            zip(model.estimators_, model.stack_method_, strict=True)
        ):
            answer = np.asarray(getattr(each, method)(lent(X_test)))
            width = 1 if answer.ndim == 1 else answer.shape[1]
            # Of two probabilities a stack keeps the second.
            width = 1 if method == "predict_proba" and width == 2 else width
            owner[start : start + width], start = i, start + width
        labels = plain_labels(getattr(model, "classes_", np.empty(0)))
        return cls(model.final_estimator_, tuple(kept), inputs, owner, labels)

    def ballots(self, truth: NDArray[Any]) -> Ballots:
        """The truth with the labels of the stack; it has no votes of single models."""
        if len(truth) != len(self.inputs):
            raise ValueError(
                f"X_test has {len(self.inputs)} rows and y_test {len(truth)}; they must be the "
                "same rows"
            )
        labels = given_labels(self.labels, truth) if len(self.labels) else self.labels
        return Ballots(labels, np.zeros((len(self.names), len(truth), 0)), truth)

    def answer(self, coalition: BoolArray) -> FloatArray:
        """What the final estimator says with the means of missing models: (rows, labels or 1)."""
        there = (self.owner < 0) | coalition[self.owner]
        inputs = np.where(there, self.inputs, self.inputs.mean(axis=0))
        if not len(self.labels):
            return np.asarray(self.final.predict(inputs), dtype=float).reshape(-1, 1)
        if hasattr(self.final, "predict_proba"):
            return np.asarray(self.final.predict_proba(inputs), dtype=float)
        # The final estimator numbers the classes.
        return np.eye(len(self.labels))[np.asarray(self.final.predict(inputs), dtype=np.int64)]

    def describe(self) -> dict[str, Any]:
        """What identifies it: its inputs, its settings, and what it says of all and of none."""
        ends = [self.answer(np.full(len(self.names), every)) for every in (False, True)]
        return {"final": text_of(self.final), "numbers": digest(self.inputs, self.owner, *ends)}
