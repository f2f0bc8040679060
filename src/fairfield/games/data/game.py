"""Training rows as players: a worth is a fit on a coalition's rows and its score on a test set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import members, spell
from fairfield.core.copies import lent
from fairfield.core.fingerprint import digest, is_complete, text_of
from fairfield.core.game import NO_FAILURES, Failures, Game, GameInfo, Measured, Traits
from fairfield.core.imports import needed_for
from fairfield.core.labels import plain_labels
from fairfield.evaluation.warnings_once import Place, each_once
from fairfield.games.data.by_row import row_scorers
from fairfield.games.data.groups import owners, split_off
from fairfield.games.data.random_states import Setter, random_states
from fairfield.games.data.scoring import all_classes, best_constants, scorers_of, with_classes

Scoring = str | Callable[[Any, Any, Any], float]
# The worth of coalitions on which the paper's code fits no model.
PAPERS_WORTH = 0.5


class DataGame(Game):
    """The score, on a test set, of a model fitted on the rows that a coalition owns.

    F(S) = scoring(clone of the model, fitted on the rows of S in their own order; test set).
    One fit per worth and repeat.

    ``model`` is a scikit-learn estimator or pipeline; ``X`` is an array, sparse matrix or
    DataFrame, and the model is fitted on the same type. ``groups`` are one label per row, or
    the name of a column of ``X``, which then is no feature. The players are the labels,
    sorted, or without groups the rows, named by the index of a DataFrame if its names differ,
    else 0 … n-1. ``scoring`` is None (the model's own: accuracy, R²), a name, a function
    (model, X, y) -> number, or a dict of these: a batch of games from the same fits, named in
    ``scorings``: ``v["loss"]``.

    ``fallback`` is the worth of the empty coalition and of those on which a classifier cannot
    be fitted because they hold one class: "constant", the score of the best constant
    prediction; a number; or "paper", .5 for these and for every single group.
    Other failures stop the evaluation (``on_error="raise"``) or take the fallback too
    (``"fallback"``); the valuation then says how many did, and why the first.

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
        scoring: Scoring | Mapping[str, Scoring | None] | None = None,
        groups: Any = None,
        fallback: float | Literal["constant", "paper"] = "constant",
        on_error: Literal["raise", "fallback"] = "raise",
        repeats: int = 1,
        seed: int = 0,
    ) -> None:
        with needed_for("DataGame"):
            from sklearn.base import clone, is_classifier
        if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
            raise TypeError(
                f"model is {model!r}; give an estimator of scikit-learn's kind, with fit and get_params"
            )
        if on_error not in ("raise", "fallback"):
            raise ValueError(f"on_error={on_error!r} is not known; choose 'raise' or 'fallback'")
        self.model, self.scoring, self.fallback = model, scoring, fallback
        self.on_error = on_error
        self.repeats, self.seed = whole("repeats", repeats), whole("seed", seed, 0)
        self.y, self.y_test = plain_labels(y, "y"), plain_labels(y_test, "y_test")
        self.X, self.X_test = _rows(X), _rows(X_test)
        _check_lengths("training", self.X, self.y)
        _check_lengths("test", self.X_test, self.y_test)
        if groups is not None and np.ndim(groups) == 0:
            self.X, self.X_test, groups = split_off(groups, self.X, self.X_test)
        # owner[r] is the player who owns row r.
        self.players, self.owner = owners(groups, self.X, len(self.y))
        self._scorers = scorers_of(scoring)
        self.scorings = tuple(self._scorers)
        if isinstance(scoring, Mapping):
            self.batch = (len(self.scorings),)
        self.info = GameInfo(
            labels=self.scorings if self.batch else None,
            noun="row" if groups is None else "group",
            row_noun="scoring",
            advice="use leave_one_out (n + 2 fits) or a NeighborGame",
        )
        self._classifies = is_classifier(model)
        self._classes = all_classes(self.y, self.y_test) if self._classifies else None
        self._row_scorers = row_scorers(model, _listed(scoring), self.y_test)
        self._fallback, self._fallback_rows = self._fallback_worths()
        self._warned: set[Place] = set()
        # What identifies the model: not what it has learnt, nor random states that are set here.
        self._pattern = clone(model)
        states = self._states(self._pattern)
        self._state_count = len(states)
        for set_state in states:
            set_state(0)
        self.traits = Traits(
            block=1,  # a fit takes longer than to pass on a coalition
            noisy=self.repeats > 1,
            opaque=not all(map(is_complete, [self._pattern, *_listed(scoring)])),
            test_rows=len(self.y_test) if self._row_scorers else 0,
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        """Worths, the variance s²/r of each as a mean of r > 1 repeats, failed fits, scores of rows."""
        found = np.empty((len(self.scorings), len(coalitions), self.repeats))
        rows = np.empty((len(self.scorings), len(coalitions), self.traits.test_rows))
        failures = NO_FAILURES
        with each_once(self._warned):
            for at, coalition in enumerate(coalitions):
                found[:, at], rows[:, at], failed = self._evaluate(coalition)
                failures += failed
        shape = (*self.batch, len(coalitions))
        by_row = rows.reshape((*shape, -1)) if self.traits.test_rows else None
        if not self.traits.noisy:
            return Measured(found.reshape(shape), None, failures, by_row)
        variances = (found.var(axis=-1, ddof=1) / self.repeats).reshape(shape)
        return Measured(found.mean(axis=-1).reshape(shape), variances, failures, by_row)

    def describe(self) -> dict[str, Any]:
        data = {"X": self.X, "y": self.y, "X_test": self.X_test, "y_test": self.y_test}
        return {
            **super().describe(),
            "model": text_of(type(self.model)),
            "parameters": {k: text_of(v) for k, v in self._pattern.get_params(deep=True).items()},
            "data": {name: digest(table) for name, table in data.items()},
            "groups": digest(self.owner),
            "scoring": dict(zip(self.scorings, map(text_of, _listed(self.scoring)), strict=True)),
            "fallback": self.fallback,
            "on_error": self.on_error,
            "repeats": self.repeats,
            "seed": self.seed,
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

    def _evaluate(self, coalition: BoolArray) -> tuple[FloatArray, FloatArray, Failures]:
        """The worths of one coalition, scorings × repeats, its scores by row, and failures."""
        rows = np.flatnonzero(coalition[self.owner])
        y = self.y[rows]
        paper = self.fallback == "paper"
        if not len(rows) or (paper and (coalition.sum() == 1 or self._one_class(y))):
            return self._fallback, self._fallback_rows, NO_FAILURES
        try:
            fits = [self._fit(rows, seeds) for seeds in self._seeds(coalition)]
        except Exception as error:
            if self._one_class(y):
                return self._fallback, self._fallback_rows, NO_FAILURES
            if self.on_error == "raise":
                error.add_note("DataGame(…, on_error='fallback') counts and fills such worths")
                raise
            who = spell(members(coalition, self.players))
            failed = Failures(1, f"{who}: {type(error).__name__}: {error}")
            return self._fallback, self._fallback_rows, failed
        worths, by_row = zip(*fits, strict=True)
        return np.array(worths).T, np.mean(by_row, axis=0), NO_FAILURES

    def _fit(self, rows: IntArray, seeds: list[int]) -> tuple[list[FloatArray], list[FloatArray]]:
        """The worths by each scoring, and scores by row; the model and scorers work on copies."""
        from sklearn.base import clone

        model = clone(self.model)
        if seeds:
            for set_state, seed in zip(self._states(model), seeds, strict=True):
                set_state(seed)
        model.fit(_taken(self.X, rows), self.y[rows])
        found, by_row, tests = [], [], np.arange(len(self.y_test))
        for at, scorer in enumerate(self._scorers.values()):
            fitted = with_classes(self._classes, model, scorer)
            # A copy of the answer too, which may be an array that the scorer reuses.
            found.append(np.array(scorer(fitted, _taken(self.X_test, tests), lent(self.y_test))))
            if self._row_scorers is not None:
                score = self._row_scorers[at]
                by_row.append(score(fitted, _taken(self.X_test, tests), self.y_test))
        return found, by_row or [np.empty(0)]

    def _states(self, model: Any) -> list[Setter]:
        return list(random_states(model, every=self.repeats > 1))

    def _seeds(self, coalition: BoolArray) -> Iterator[list[int]]:
        """For each repeat, a seed for every random state that is set here."""
        if not self._state_count:
            yield []  # without random states all fits are alike, and one serves every repeat
            return
        words = np.packbits(coalition).tolist()
        for repeat in range(self.repeats):
            drawn = np.random.SeedSequence([self.seed, repeat, *words])
            # 31 bits: some libraries read a seed as a signed integer.
            yield (drawn.generate_state(self._state_count) >> np.uint32(1)).tolist()

    def _one_class(self, y: Any) -> bool:
        return self._classifies and bool((y == y[0]).all(axis=0).any())


def _rows(X: Any) -> Any:
    if hasattr(X, "tocsr"):
        return X.tocsr()  # other sparse forms have no row access
    return X if hasattr(X, "shape") else np.asarray(X)


def _taken(X: Any, rows: IntArray) -> Any:
    """A copy of some rows."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _check_lengths(which: str, X: Any, y: Any) -> None:
    if not y.ndim or X.shape[0] != len(y) or not len(y):
        raise ValueError(
            f"the {which} set has {X.shape[0]} rows and {len(y) if y.ndim else 'no list of'} labels; "
            "give at least one row, and one label for each"
        )


def _listed(scoring: Any) -> list[Any]:
    return list(scoring.values()) if isinstance(scoring, Mapping) else [scoring]
