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
from fairfield.core.labels import plain_labels, warn_of_unseen
from fairfield.evaluation.warnings_once import Place, each_once
from fairfield.games.data.groups import owners, split_off
from fairfield.games.data.random_states import Setter, random_states
from fairfield.games.data.scoring import (
    all_classes,
    best_constants,
    has_probabilities,
    scorers_of,
    with_classes,
)

Scoring = str | Callable[[Any, Any, Any], float]
# Most players whose index is estimated: of more, draws within 20 n fits never reached it.
INDEX_LIMIT = 100
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
    ``scorings``: ``v["loss"]``. Of single rows, with a classifier that gives probabilities, None is
    "neg_log_loss": one row hardly ever moves an accuracy.

    ``fallback`` is the worth of the empty coalition and of those on which a classifier cannot
    be fitted because they hold one class: "constant", the score of the best constant
    prediction; a number; or "paper", .5 for these and for every single group.
    Other failures stop the evaluation (``on_error="raise"``) or take the fallback too
    (``"fallback"``); the valuation then says how many did, and why the first.

    A ``random_state`` of the model (or of a step or a splitter in it) that is not an integer
    gets a seed drawn from (``seed``, coalition, repeat), so that a coalition has the same worth
    on every worker. With ``repeats``, a worth is the mean of so many fits, in which all random
    states are seeded; their variance becomes the ``stderr`` of values.

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
        self._classifies = is_classifier(model)
        by_row = groups is None and self._classifies
        if (
            scoring is None
            and by_row
            and fallback == "constant"
            and has_probabilities(model, self.y)
        ):
            self.scoring = "neg_log_loss"
        if self._classifies:
            warn_of_unseen(self.y, self.y_test, stacklevel=3)
        self._scorers = scorers_of(self.scoring)
        self.scorings = tuple(self._scorers)
        if isinstance(scoring, Mapping):
            self.batch = (len(self.scorings),)
        self.info = GameInfo(
            labels=self.scorings if self.batch else None,
            noun="row" if groups is None else "group",
            row_noun="scoring",
            advice="use leave_one_out (n + 2 fits) or a NeighborGame",
            worth_name="negative log-loss" if self.scoring != scoring else "",
        )
        self._classes = all_classes(self.y, self.y_test) if self._classifies else None
        self._fallback = self._fallback_worths()
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
            index_limit=INDEX_LIMIT,
        )

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        """Worths, the variance s²/r of each as a mean of r > 1 repeats, and failed fits."""
        found = np.empty((len(self.scorings), len(coalitions), self.repeats))
        failures = NO_FAILURES
        with each_once(self._warned):
            for at, coalition in enumerate(coalitions):
                found[:, at], failed = self._evaluate(coalition)
                failures += failed
        shape = (*self.batch, len(coalitions))
        if not self.traits.noisy:
            return Measured(found.reshape(shape), None, failures)
        variances = (found.var(axis=-1, ddof=1) / self.repeats).reshape(shape)
        return Measured(found.mean(axis=-1).reshape(shape), variances, failures)

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

    def _fallback_worths(self) -> FloatArray:
        """The fallback of each scoring: scorings × 1."""
        if self.fallback == "constant":
            return best_constants(self.model, self._scorers, self.X_test, self.y_test)[:, None]
        worth = PAPERS_WORTH if self.fallback == "paper" else self.fallback
        if not isinstance(worth, Real) or not np.isfinite(worth):
            raise ValueError(
                f"fallback={self.fallback!r} is no worth; give 'constant', 'paper' or a finite number"
            )
        return np.full((len(self.scorings), 1), float(worth))

    def _evaluate(self, coalition: BoolArray) -> tuple[FloatArray, Failures]:
        """The worths of one coalition, scorings × repeats, and whether they are a fallback."""
        rows = np.flatnonzero(coalition[self.owner])
        y = self.y[rows]
        paper = self.fallback == "paper"
        if not len(rows) or (paper and (coalition.sum() == 1 or self._one_class(y))):
            return self._fallback, NO_FAILURES
        try:
            fits = [self._fit(rows, seeds) for seeds in self._seeds(coalition)]
        except Exception as error:
            if self._one_class(y):
                return self._fallback, NO_FAILURES
            if self.on_error == "raise":
                error.add_note("DataGame(…, on_error='fallback') counts and fills such worths")
                raise
            who = spell(members(coalition, self.players))
            return self._fallback, Failures(1, f"{who}: {type(error).__name__}: {error}")
        return np.array(fits).T, NO_FAILURES

    def _fit(self, rows: IntArray, seeds: list[int]) -> list[FloatArray]:
        """The worths by each scoring; the model and the scorers work on copies."""
        from sklearn.base import clone

        model = clone(self.model)
        if seeds:
            for set_state, seed in zip(self._states(model), seeds, strict=True):
                set_state(seed)
        model.fit(_taken(self.X, rows), self.y[rows])
        found, tests = [], np.arange(len(self.y_test))
        for scorer in self._scorers.values():
            fitted = with_classes(self._classes, model, scorer)
            # A copy of the answer too, which may be an array that the scorer reuses.
            found.append(np.array(scorer(fitted, _taken(self.X_test, tests), lent(self.y_test))))
        return found

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
