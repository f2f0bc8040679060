"""Columns as players: a worth is the cross-validated score of a model fitted on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from fairfield.core.fingerprint import digest
from fairfield.core.game import NO_FAILURES, GameInfo
from fairfield.core.labels import plain_labels
from fairfield.games.data.refitted import (
    Evaluated,
    Refitted,
    Scores,
    Scorings,
    check_lengths,
    mean_of_fits,
    rows_of_table,
    taken,
)
from fairfield.games.features.groups import Groups, group_columns


class ColumnGame(Refitted):
    """The cross-validated score of a model fitted on the columns that a coalition owns.

    F(S) = mean over folds of scoring(clone of the model, fitted on the columns of S in the other folds;
    this fold). One fit per fold and worth. F(∅) is what the most frequent class with the frequencies of
    classes as probabilities, or the mean of ``y``, of the other folds reaches.

    ``model`` is a scikit-learn estimator that takes any number of columns; ``X`` an array, sparse matrix
    or DataFrame. The players are its columns, or ``groups`` of them: {name: columns}, where columns in
    no group stay players, or one label for each column, as vendors of columns. ``cv`` is a number of
    folds, stratified for classifiers, a splitter of scikit-learn (``TimeSeriesSplit``), or pairs of
    training and test rows; all coalitions share one division. ``scoring``, ``repeats`` and ``seed`` are
    those of a :class:`DataGame`. Scores that are means over rows give exact values a ``stderr`` over the
    rows of all folds.

    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0], [4, 1], [5, 0]])
    >>> game = ColumnGame(LinearRegression(), X, X[:, 0], cv=2)
    >>> game.worths(np.array([[True, False]]))
    array([1.])
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = 5,
        scoring: Scorings = None,
        groups: Groups | None = None,
        repeats: int = 1,
        seed: int = 0,
    ) -> None:
        labels, self.X = plain_labels(y, "y"), rows_of_table(X)
        check_lengths("training", self.X, labels)
        self.folds = _folds(model, cv, self.X, labels)
        tested = np.concatenate([test for _, test in self.folds])
        super().__init__(model, labels, labels[tested], scoring, repeats, seed)
        names = tuple(getattr(self.X, "columns", range(self.X.shape[1])))
        # owner[c] is the player who owns column c.
        self.players, self.owner = group_columns(names, groups)
        self.info = GameInfo(
            outputs=self.scorings if self.batch else None,
            output_noun="score",
            noun="column" if groups is None else "group",
            advice="use leave_one_out (n + 2 worths)",
        )

    def describe(self) -> dict[str, Any]:
        folds = [rows for fold in self.folds for rows in fold]
        return {
            **super().describe(),
            "data": {"X": digest(self.X), "y": digest(self.y)},
            "folds": digest(*folds),
            "groups": digest(self.owner),
        }

    def _evaluate(self, coalition: BoolArray) -> Evaluated:
        columns = np.flatnonzero(coalition[self.owner])
        if not len(columns):
            worths, by_row = self._fit(None, [])
            return np.array(worths)[:, None], np.array(by_row), NO_FAILURES
        return mean_of_fits([self._fit(columns, seeds) for seeds in self._seeds(coalition)])

    def _fit(self, columns: IntArray | None, seeds: list[int]) -> Scores:
        """The mean scores of fits on some columns over the folds, or of constant predictions."""
        worths, apart = [], []
        for train, test in self.folds:
            y, y_test = self.y[train], self.y[test]
            if columns is None:
                model, tests = (
                    self._constant().fit(np.zeros((len(y), 1)), y),
                    np.zeros((len(test), 1)),
                )
                scores, rows = self._scores(model, tests.copy, y_test)
            else:
                model = self._fitted(taken(self.X, train, columns), y, seeds)
                scores, rows = self._scores(model, lambda: taken(self.X, test, columns), y_test)  # noqa: B023  # called at once
            worths.append(scores)
            # A fold counts as much as any other, whatever its size; it moves by its own rows alone.
            share = len(self.y_test) / (len(self.folds) * len(test))
            apart.append([share * (row - row.sum() / len(test)) for row in rows])
        means = list(np.mean(worths, axis=0))
        by_row = [np.concatenate(each) for each in zip(*apart, strict=True)]
        return means, [mean + each for mean, each in zip(means, by_row, strict=False)]

    def _constant(self) -> Any:
        from sklearn.dummy import DummyClassifier, DummyRegressor

        return DummyClassifier(strategy="prior") if self._classifies else DummyRegressor()


def _folds(model: Any, cv: Any, X: Any, y: Any) -> list[tuple[IntArray, IntArray]]:
    """Training and test rows of each fold, the same for every coalition."""
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv

    try:
        found = list(check_cv(cv, y, classifier=is_classifier(model)).split(X, y))
    except ValueError as reason:
        raise ValueError(f"cv={cv!r} does not divide the {len(y)} rows: {reason}") from None
    return [(np.asarray(train), np.asarray(test)) for train, test in found]
