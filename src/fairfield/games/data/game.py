"""Training rows as players: a worth is a fit on a coalition's rows and its score on a test set."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import members, spell
from fairfield.core.fingerprint import digest
from fairfield.core.game import Failures, GameInfo
from fairfield.core.labels import check_labels, plain_labels, warn_of_unseen
from fairfield.evaluation.outcomes import spelled_error
from fairfield.games.data.groups import owners, split_off
from fairfield.games.data.refitted import (
    Evaluated,
    Refitted,
    Scores,
    Scorings,
    check_columns,
    check_lengths,
    mean_of_fits,
    rows_of_table,
    taken,
)
from fairfield.games.data.scoring import best_constants, scored_by_log_loss

# Most players whose index is estimated: of more, draws within 20 n fits never reached it.
INDEX_LIMIT = 100
# The worth of coalitions on which the paper's code fits no model.
PAPERS_WORTH = 0.5
BY_RULE = Failures(ruled=1)


class DataGame(Refitted):
    """The score, on a test set, of a model fitted on the rows that a coalition owns.

    F(S) = scoring(clone of the model, fitted on the rows of S in their own order; test set).
    One fit per worth and repeat.

    ``model`` is a scikit-learn estimator or pipeline; ``X`` is an array, sparse matrix or
    DataFrame, and the model is fitted on the same type. ``groups`` are one label per row, or
    the name of a column of ``X``, which then is no feature. The players are the labels,
    sorted, or without groups the rows, named by the index of a DataFrame if its names differ,
    else 0 … n-1. ``scoring`` is None (the model's own: accuracy, R²), a name, a function
    (model, X, y) -> number, or a dict of these: several scores of the same fits, ``v["loss"]``;
    ``game["loss"]`` is the game of one, whose worths are stored with those of the others. Of single
    rows, with a classifier that gives probabilities, None is "neg_log_loss": one row hardly ever
    moves an accuracy.

    ``fallback`` is the worth of the empty coalition and of those on which a classifier cannot
    be fitted because they hold one class: "constant", the score of the best constant
    prediction; a number; or "paper", .5 for these and for every single group.
    Other failures stop the evaluation (``on_error="raise"``) or take the fallback too
    (``"fallback"``); the valuation then says how many did, and why the first. Where every fit
    failed there is none. Worths of failed fits are not stored.

    A ``random_state`` of the model (or of a step or a splitter in it) that is not an integer
    gets a seed drawn from (``seed``, coalition, repeat), so that a coalition has the same worth
    on every worker. With ``repeats``, a worth is the mean of so many fits, in which all random
    states are seeded; their variance becomes part of the ``stderr`` of values.

    Scores that are means over test rows (accuracy, log-loss, squared and absolute errors; R² and the
    area under the ROC curve to first order) give exact values a ``stderr`` over these rows.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1], [2], [3]]), [0, 0, 1, 1]
    >>> game = DataGame(LogisticRegression(), X, y, X, y, groups=["a", "b", "a", "b"])
    >>> game.players, game.worths(np.array([[False, False], [True, True]])).tolist()
    (('a', 'b'), [0.5, 1.0])
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        scoring: Scorings = None,
        groups: Any = None,
        fallback: float | Literal["constant", "paper"] = "constant",
        on_error: Literal["raise", "fallback"] = "raise",
        repeats: int = 1,
        seed: int = 0,
    ) -> None:
        if on_error not in ("raise", "fallback"):
            raise ValueError(f"on_error={on_error!r} is not known; choose 'raise' or 'fallback'")
        y, y_test = plain_labels(y, "y"), plain_labels(y_test, "y_test")
        by_row = scoring is None and groups is None and fallback == "constant"
        own = "neg_log_loss" if by_row and scored_by_log_loss(model, y) else scoring
        super().__init__(model, y, y_test, own, repeats, seed)
        self.traits = replace(self.traits, index_limit=INDEX_LIMIT, ruled=True)
        self.fallback, self.on_error = fallback, on_error
        self.X, self.X_test = rows_of_table(X), rows_of_table(X_test)
        check_lengths("training", self.X, self.y)
        check_lengths("test", self.X_test, self.y_test)
        check_labels(self.y, self.y_test)
        if groups is not None and np.ndim(groups) == 0:
            self.X, self.X_test, groups = split_off(groups, self.X, self.X_test)
        check_columns(self.X, self.X_test)
        # owner[r] is the player who owns row r.
        self.players, self.owner = owners(groups, self.X, len(self.y))
        if self._classifies:
            warn_of_unseen(self.y, self.y_test)
        self.info = GameInfo(
            outputs=self.scorings if self.batch else None,
            output_noun="score",
            noun="row" if groups is None else "group",
            advice="use leave_one_out (n + 2 fits) or a NeighborGame",
            worth_name="negative log-loss" if self.scoring != scoring else "",
        )
        self._fallback, self._fallback_rows = self._fallback_worths()

    def describe(self) -> dict[str, Any]:
        data = {"X": self.X, "y": self.y, "X_test": self.X_test, "y_test": self.y_test}
        return {
            **super().describe(),
            "data": {name: digest(table) for name, table in data.items()},
            "groups": digest(self.owner),
            "fallback": self.fallback,
            "on_error": self.on_error,
        }

    def _fallback_worths(self) -> tuple[FloatArray, FloatArray]:
        """The fallback of each scoring, scorings × 1, and what each test row adds to it."""
        if self.fallback == "constant":
            best = best_constants(self.model, self._scorers, self.X_test, self.y_test)
            rows = [
                scorer(constant, self.X_test, self.y_test)
                for scorer, (_, constant) in zip(self._row_scorers or (), best, strict=False)
            ]
            return np.array([[worth] for worth, _ in best]), np.array(rows or [np.empty(0)])
        worth = PAPERS_WORTH if self.fallback == "paper" else self.fallback
        if not isinstance(worth, Real) or not np.isfinite(worth):
            raise ValueError(
                f"fallback={self.fallback!r} is no worth; give 'constant', 'paper' or a finite number"
            )
        # A given number is the same whatever the test rows are.
        return np.full((len(self.scorings), 1), float(worth)), np.zeros((1, 1))

    def _evaluate(self, coalition: BoolArray) -> Evaluated:
        """The worths of one coalition, scorings × repeats, its scores by row, and failures."""
        rows = np.flatnonzero(coalition[self.owner])
        y = self.y[rows]
        paper = self.fallback == "paper"
        if not len(rows) or (paper and (coalition.sum() == 1 or self._one_class(y))):
            return self._fallback, self._fallback_rows, BY_RULE
        try:
            fits = [self._fit(rows, seeds) for seeds in self._seeds(coalition)]
        except Exception as error:
            if self._one_class(y):
                return self._fallback, self._fallback_rows, BY_RULE
            if self.on_error == "raise":
                error.add_note("DataGame(…, on_error='fallback') counts and fills such worths")
                raise
            who = spell(members(coalition, self.players))
            failed = Failures(1, f"{who}: {spelled_error(error)}")
            return self._fallback, self._fallback_rows, failed
        return mean_of_fits(fits)

    def _fit(self, rows: IntArray, seeds: list[int]) -> Scores:
        """The scores of the model fitted on some rows."""
        model = self._fitted(taken(self.X, rows), self.y[rows], seeds)
        tests = np.arange(len(self.y_test))
        return self._scores(model, lambda: taken(self.X_test, tests), self.y_test)

    def _one_class(self, y: Any) -> bool:
        return self._classifies and bool((y == y[0]).all(axis=0).any())
