"""Games whose worths are scores of a model that is fitted anew for every coalition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.checks import whole
from fairfield.core.coalitions import spell
from fairfield.core.copies import lent
from fairfield.core.fingerprint import is_complete, text_of
from fairfield.core.game import NO_FAILURES, Failures, Game, Measured, Traits
from fairfield.core.runtime.imports import needed_for
from fairfield.evaluation.warnings_once import Place, each_once
from fairfield.games.data.by_row import row_scorers
from fairfield.games.data.random_states import Setter, random_states
from fairfield.games.data.scoring import all_classes, scorers_of, with_classes

Scoring: TypeAlias = str | Callable[[Any, Any, Any], float]
Scorings: TypeAlias = Scoring | Mapping[str, Scoring | None] | None
# The worths of a coalition, scorings × repeats, its scores by test row, and failures.
Evaluated: TypeAlias = tuple[FloatArray, FloatArray, Failures]
# The scores of one fit, by scoring, and by scoring and test row.
Scores: TypeAlias = tuple[list[FloatArray], list[FloatArray]]


class Refitted(Game):
    """A model, the scores of its fits, and the random states that are set for each of them.

    Subclasses fit it for one coalition in ``_evaluate``.
    """

    def __init__(
        self, model: Any, y: Any, y_test: Any, scoring: Scorings, repeats: int, seed: int
    ) -> None:
        with needed_for(type(self).__name__):
            from sklearn.base import clone, is_classifier
        if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
            raise TypeError(
                f"model is {model!r}; give an estimator of scikit-learn's kind, with fit and get_params"
            )
        self.model, self.scoring, self.y, self.y_test = model, scoring, y, y_test
        self.repeats, self.seed = whole("repeats", repeats), whole("seed", seed, 0)
        self._scorers = scorers_of(scoring)
        self.scorings = tuple(self._scorers)
        if isinstance(scoring, Mapping):
            self.batch = (len(self.scorings),)
        self._classifies = is_classifier(model)
        self._classes = all_classes(y, y_test) if self._classifies else None
        self._row_scorers = row_scorers(model, _listed(scoring), y_test)
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
            test_rows=len(y_test) if self._row_scorers else 0,
        )

    def __getitem__(self, name: str) -> OneScore:
        """The game of one of several scores; its worths are evaluated and stored with the others'."""
        if not self.batch or name not in self.scorings:
            known = f"the scores are {spell(self.scorings)}" if self.batch else "it has one score"
            raise KeyError(f"{self!r} has no score {name!r}; {known}")
        return OneScore(self, self.scorings.index(name))

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
        return {
            **super().describe(),
            "model": text_of(type(self.model)),
            "parameters": {k: text_of(v) for k, v in self._pattern.get_params(deep=True).items()},
            "scoring": dict(zip(self.scorings, map(text_of, _listed(self.scoring)), strict=True)),
            "repeats": self.repeats,
            "seed": self.seed,
        }

    def _evaluate(self, coalition: BoolArray) -> Evaluated:
        raise NotImplementedError

    def _fitted(self, X: Any, y: Any, seeds: list[int]) -> Any:
        """A clone of the model, with these seeds, fitted on copies of rows."""
        from sklearn.base import clone

        model = clone(self.model)
        if seeds:
            for set_state, seed in zip(self._states(model), seeds, strict=True):
                set_state(seed)
        return model.fit(X, y)

    def _scores(self, model: Any, X: Callable[[], Any], y: Any) -> Scores:
        """The scores of a fitted model on test rows; each scorer gets copies of them."""
        found, by_row = [], []
        for at, scorer in enumerate(self._scorers.values()):
            fitted = with_classes(self._classes, model, scorer)
            # A copy of the answer too, which may be an array that the scorer reuses.
            found.append(np.array(scorer(fitted, X(), lent(y))))
            if self._row_scorers is not None:
                by_row.append(self._row_scorers[at](fitted, X(), y))
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


class OneScore(Game):
    """The game of one of the scores of a model that is fitted once for all of them."""

    def __init__(self, whole: Refitted, place: int) -> None:
        self.part_of, self.place = (whole, place), place
        self.players, self.traits = whole.players, whole.traits
        name = whole.scorings[place]
        self.info = replace(whole.info, outputs=None, worth_name=name)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return self.measure(coalitions).worths

    def measure(self, coalitions: BoolArray) -> Measured:
        assert self.part_of is not None
        return self.part_of[0].measure(coalitions).game(self.place)

    def describe(self) -> dict[str, Any]:
        assert self.part_of is not None
        return {**self.part_of[0].describe(), "score": self.info.worth_name}

    def __repr__(self) -> str:
        """As the game of all scores shows itself."""
        assert self.part_of is not None
        return f"{type(self.part_of[0]).__name__}:{super().__repr__().partition(':')[2]}"


def mean_of_fits(fits: list[Scores]) -> Evaluated:
    """What fits of one coalition with several seeds give."""
    worths, by_row = zip(*fits, strict=True)
    return np.array(worths).T, np.mean(by_row, axis=0), NO_FAILURES


def rows_of_table(X: Any) -> Any:
    """A table whose rows can be taken."""
    if hasattr(X, "tocsr"):
        return X.tocsr()  # other sparse forms have no row access
    return X if hasattr(X, "shape") else np.asarray(X)


def taken(X: Any, rows: Any, columns: Any = None) -> Any:
    """A copy of some rows, and of some columns."""
    some = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    if columns is None:
        return some
    return some.iloc[:, columns] if hasattr(some, "iloc") else some[:, columns]


def check_lengths(which: str, X: Any, y: Any) -> None:
    """Refuse rows without labels, or the other way round."""
    if not y.ndim or X.shape[0] != len(y) or not len(y):
        raise ValueError(
            f"the {which} set has {X.shape[0]} rows and {len(y) if y.ndim else 'no list of'} labels; "
            "give at least one row, and one label for each"
        )


def check_columns(X: Any, X_test: Any) -> None:
    """Refuse test rows that lack columns of the training rows; a frame may have others besides."""
    ours, theirs = X.shape, X_test.shape
    if hasattr(X, "columns") and hasattr(X_test, "columns"):
        known = set(X_test.columns)
        lacking = [name for name in X.columns if name not in known]
        if lacking:
            listed = ", ".join(map(repr, lacking[:3])) + (" and others" if lacking[3:] else "")
            raise ValueError(f"X_test has no column {listed}; give it the columns of X")
    elif len(ours) == len(theirs) == 2 and ours[1] != theirs[1]:
        raise ValueError(
            f"X has {ours[1]} columns and X_test {theirs[1]}; give both the same columns"
        )


def _listed(scoring: Any) -> list[Any]:
    return list(scoring.values()) if isinstance(scoring, Mapping) else [scoring]
