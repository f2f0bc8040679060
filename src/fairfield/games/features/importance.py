"""The features behind the score of a model on a data set."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo, Traits
from fairfield.core.labels import plain_labels
from fairfield.core.runtime.memory import fits
from fairfield.games.data.scoring import Scorer, scorers_of
from fairfield.games.features.frames import as_given, is_frame
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.groups import Groups
from fairfield.games.features.rows import as_table
from fairfield.games.outputs import classes_of
from fairfield.results.batched import cohorts_of
from fairfield.results.words import Words

# Probabilities are at least this in a log-loss, as in scikit-learn.
LEAST = np.finfo(float).eps
# Tables of so many numbers are filled at once.
AT_ONCE = 2**24

# Scores that are means over rows, from mean outputs (rows, m) and true values (rows, 1).
BY_ROW: dict[str, Callable[[FloatArray, Any], FloatArray]] = {
    "neg_log_loss": lambda p, _: np.log(np.clip(p, LEAST, 1 - LEAST)),
    "neg_mean_squared_error": lambda p, y: -((p - y) ** 2),
    "neg_mean_absolute_error": lambda p, y: -np.abs(p - y),
}


class ImportanceGame(Game):
    """How well a model predicts from some of its features, others taken from the background.

        F(S) = score( E_b f(x on S, b elsewhere), y ),   over all rows (x, y)

    Its Shapley values are SAGE (Covert, Lundberg and Lee, 2020). A classifier's output is its
    probabilities, any other's its predictions. ``scoring`` is the name of a score of scikit-learn, or a function
    ``(model, X, y) -> number`` that sees a model with these outputs; None is minus the log-loss of
    probabilities and minus the mean squared error of predictions. ``background`` are rows, one
    row or a function, as those of :class:`fairfield.FeatureGame`; None takes X itself. ``by``, a label per
    row or the name of a column, makes a game of each cohort. All 2^n worths come from sub-cubes.

    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> game = ImportanceGame(lambda X: X[:, 0] + 2 * X[:, 1], X, y=[0.0, 2.0, 1.0, 3.0])
    >>> game.table()
    array([-1.25, -1.  , -0.25,  0.  ])
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        background: Any = None,
        *,
        scoring: Any = None,
        by: Any = None,
        groups: Groups | None = None,
    ) -> None:
        single, rows = as_table(X)
        if single:
            raise ValueError("one row was given; a score needs a table of rows, and y= for each")
        labels, self.classes = plain_labels(y, "y"), classes_of(model)
        # A column is what frames and many files have in place of a list.
        self.y = labels[:, 0] if labels.shape == (len(rows), 1) else labels
        if self.y.shape != (len(rows),):
            raise ValueError(f"y has shape {self.y.shape} for {len(rows)} rows; give one for each")
        proper = "neg_mean_squared_error" if self.classes is None else "neg_log_loss"
        self.scoring = proper if scoring is None else scoring
        self._scorer: Scorer | None = None
        output, true = None, None
        if callable(self.scoring) or self.scoring not in BY_ROW:
            (self._scorer,) = scorers_of(self.scoring).values()
            output = None if self.classes is None else "all"
        elif self.scoring == "neg_log_loss":
            output, true = "label", self.y
        self._back = as_given(X)
        others = X if background is None else background
        self.predicted = FeatureGame(model, X, others, output=output, y=true, groups=groups)
        self.players = self.predicted.players
        self.traits = Traits(block=self.predicted.traits.block)
        self.cohort, names = _cohorts(by, rows)
        self.batch = () if names is None else (len(names),)
        name = self.scoring if isinstance(self.scoring, str) else text_of(self.scoring)
        advice = "give fewer background rows"
        self.info = GameInfo(names, name, noun="feature", row_noun="cohort", advice=advice)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self._scored(self.predicted.worths(coalitions))

    def table(self, progress: bool | None = None) -> FloatArray | None:
        """All worths by sub-cubes; None where replacements are drawn, or outputs do not fit."""
        game = self.predicted
        each = 2 ** len(self.players)
        if game.draw is not None or not fits(each * int(np.prod(game.batch))):
            return None
        if self._scorer is not None or len(self.y) * each <= AT_ONCE:
            return self._scored(game.table(progress))
        sums, step = np.zeros((*self.batch, each)), max(1, AT_ONCE // each)
        labelled = self.y if self.scoring == "neg_log_loss" else None
        for start in range(0, len(self.y), step):
            part = slice(start, start + step)
            labels = None if labelled is None else labelled[part]
            rows = _some(game.given, part)
            # A function gets parts of the rows in the library of the whole.
            some = game.explaining(rows if self._back is None else self._back(rows), labels)
            sums += self._summed(some.table(progress), part)
        return sums / self._counts()

    def model_rows(self, coalitions: int | None = None) -> int:
        """The number of rows that the table needs from the model, or so many single worths, at most."""
        return self.predicted.model_rows(coalitions)

    def describe(self) -> dict[str, Any]:
        predicted = self.predicted.describe()
        labels = digest(self.y, self.cohort)
        about = {"scoring": text_of(self.scoring), "y": labels, "predicted": predicted}
        return {**super().describe(), **about}

    def _scored(self, outputs: Any) -> FloatArray:
        """The scores (*cohorts, m) of mean outputs (rows, m) or (rows, classes, m)."""
        if self._scorer is None:
            return self._summed(outputs, slice(None)) / self._counts()
        # Outputs that are equal but for rounding stay equal to a score by ranks.
        step = 1e-12 * max(np.abs(outputs).max(), np.finfo(float).tiny)
        outputs = np.round(outputs / step) * step
        found = np.empty((int(self.cohort.max()) + 1, outputs.shape[-1]))
        for k, own in enumerate(found):
            which = np.flatnonzero(self.cohort == k)
            for s in range(len(own)):
                # Copies for every call: a scorer may write into what it is given.
                X, y = _some(self.predicted.given, which), self.y[which]
                own[s] = self._scorer(_predicted(outputs[which, ..., s], self.classes), X, y)
        return found.reshape((*self.batch, -1))

    def _summed(self, outputs: Any, part: slice) -> FloatArray:
        """Sums over the rows of each cohort of scores by row."""
        scores = BY_ROW[self.scoring](outputs, self.y[part, None])
        sums = np.zeros((int(self.cohort.max()) + 1, outputs.shape[-1]))
        np.add.at(sums, self.cohort[part], scores)
        return sums.reshape((*self.batch, -1))

    def _counts(self) -> FloatArray:
        """The numbers of rows, in the shape of the batch and one more axis."""
        return np.bincount(self.cohort).astype(float).reshape((*self.batch, 1))


def _some(table: Any, which: Any) -> Any:
    """Some rows of an array or a frame."""
    return table.iloc[which] if hasattr(table, "iloc") else table[which]


def _cohorts(by: Any, rows: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """The number of each row's cohort, and the names of the cohorts, None where there are none."""
    if by is None:
        return np.zeros(len(rows), dtype=np.int64), None
    if isinstance(by, str):
        known = rows.columns if is_frame(rows) else ()
        if by not in known:
            there = f"has the columns {spell(known)}" if is_frame(rows) else "is an array"
            raise ValueError(f"by={by!r} names a column, and X {there}; give a label for each row")
        by = rows[by]
    cohorts = cohorts_of(by, len(rows), Words(row_noun="row"))
    return np.argmax([*cohorts.values()], axis=0), tuple(cohorts)


def _predicted(outputs: FloatArray, classes: Any) -> Any:
    """A model that has made its predictions, as scorers take it."""
    regressor, classifier = _kinds()
    return regressor(outputs) if classes is None else classifier(outputs, classes)


@cache
def _kinds() -> tuple[Any, Any]:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    class Predicted(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
        def __init__(self, outputs: Any = None, classes: Any = None) -> None:
            self.outputs, self.classes_ = outputs, np.asarray(classes)

        def fit(self, X: Any, y: Any) -> Any:
            return self

    class Regressor(RegressorMixin, Predicted):  # type: ignore[misc]  # as above
        def predict(self, X: Any) -> Any:
            return self.outputs.copy()

    class Classifier(ClassifierMixin, Predicted):  # type: ignore[misc]  # as above
        def predict_proba(self, X: Any) -> Any:
            return self.outputs.copy()

        def predict(self, X: Any) -> Any:
            return self.classes_[self.outputs.argmax(axis=1)]

    return Regressor, Classifier
