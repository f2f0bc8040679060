"""Scores of fitted models, and of constant predictions, on a test set."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.copies import lent

Scorer: TypeAlias = Callable[[Any, Any, Any], float]


def own_score(model: Any, X: Any, y: Any) -> float:
    """The model's default: accuracy of a classifier, R² of a regressor."""
    return float(model.score(X, y))


def scored_by_log_loss(model: Any, y: Any) -> bool:
    """Whether a model is a classifier of one output per row that gives probabilities."""
    if isinstance(model, type) or y.ndim != 1 or not hasattr(model, "predict_proba"):
        return False
    from sklearn.base import is_classifier

    return bool(is_classifier(model))


def scorers_of(scoring: Any) -> dict[str, Scorer]:
    """Scorers by name: one for None, a name or a callable, several for a dict of these.

    >>> list(scorers_of(None)), list(scorers_of({"hits": "accuracy", "loss": "neg_log_loss"}))
    (['score'], ['hits', 'loss'])
    """
    if isinstance(scoring, Mapping):
        if not scoring:
            raise ValueError("scoring={} names no scoring; give at least one, or None")
        return {str(name): _scorer(each) for name, each in scoring.items()}
    name = "score" if scoring is None else str(getattr(scoring, "__name__", scoring))
    return {name: _scorer(scoring)}


def _scorer(scoring: Any) -> Scorer:
    if scoring is None:
        return own_score
    if callable(scoring):
        _refuse_metric(scoring)
        return cast(Scorer, scoring)
    if not isinstance(scoring, str):
        raise TypeError(
            f"scoring is a {type(scoring).__name__}; give a name of scikit-learn, a function "
            "(model, X, y) -> number, a dict of these, or None"
        )
    from sklearn.metrics import get_scorer

    return cast(Scorer, get_scorer(scoring))


def _refuse_metric(scoring: Any) -> None:
    """Refuse a metric, which compares labels and takes no model."""
    try:
        first = next(iter(inspect.signature(scoring).parameters), "")
    except (TypeError, ValueError):
        return  # functions that are not written in Python may hide their parameters
    if first in ("y_true", "y_test", "truth"):
        name = getattr(scoring, "__name__", type(scoring).__name__)
        raise TypeError(
            f"scoring={name} compares true and predicted labels, and a scorer takes (model, X, y); "
            f"pass sklearn.metrics.make_scorer({name}), or the name of a scorer, such as 'accuracy'"
        )


def best_constants(
    model: Any, scorers: Mapping[str, Scorer], X: Any, y: Any
) -> list[tuple[float, Any]]:
    """The score of the best constant prediction on a test set, by each scorer, and its model.

    Classifiers: each class, and the frequencies of the classes as probabilities. Regressors:
    the mean of ``y`` (best by R² and squared error, where R² is 0) and its median (best by
    absolute error).
    """
    from sklearn.base import is_classifier, is_regressor
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if is_classifier(model):
        candidates = [DummyClassifier(strategy="prior"), DummyClassifier(strategy="most_frequent")]
        if y.ndim == 1:
            candidates += [DummyClassifier(strategy="constant", constant=[c]) for c in np.unique(y)]
    elif is_regressor(model):
        candidates = [DummyRegressor(strategy=strategy) for strategy in ("mean", "median")]
    else:
        raise ValueError(
            f"{type(model).__name__} is neither a classifier nor a regressor, so there is no "
            "constant prediction to fall back to; give fallback=a number"
        )
    if own_score in scorers.values():
        _refuse_hidden_scoring(model)
    fitted = [candidate.fit(X, y) for candidate in candidates]
    return [_best(name, scorer, fitted, X, y) for name, scorer in scorers.items()]


def _best(name: str, scorer: Scorer, constants: list[Any], X: Any, y: Any) -> tuple[float, Any]:
    try:
        with warnings.catch_warnings():
            # Scorers warn that a constant prediction is degenerate.
            warnings.simplefilter("ignore")
            reached = [float(scorer(constant, lent(X), lent(y))) for constant in constants]
    except Exception as error:
        raise ValueError(
            f"scoring {name!r} fails on a constant prediction ({type(error).__name__}: {error}); "
            "give fallback=a number, or another scoring"
        ) from error
    # If all are NaN, so is the fallback, and the evaluation names the empty coalition.
    known = [(worth, at) for at, worth in enumerate(reached) if worth == worth]
    if not known:
        return np.nan, constants[0]
    best = max(worth for worth, _ in known)
    return best, constants[next(at for worth, at in known if worth == best)]


def _refuse_hidden_scoring(model: Any) -> None:
    """Refuse a search that scores by its own ``scoring``, which constants cannot use."""
    part = scored_part(model)
    own = getattr(part, "scoring", None)
    if own is not None and not scores_as_usual(part):
        raise ValueError(
            f"{type(part).__name__} scores by its own scoring={own!r}; "
            "say the same in DataGame(scoring=…), or give fallback=a number"
        )


def scored_part(model: Any) -> Any:
    """The part of a model whose ``score`` it has: the last step, or the estimator of a search."""
    if hasattr(model, "steps"):
        return scored_part(model.steps[-1][1])
    if scores_as_usual(model) or getattr(model, "scoring", None) is not None:
        return model
    return scored_part(model.estimator) if hasattr(model, "estimator") else model


def scores_as_usual(model: Any) -> bool:
    """Whether its ``score`` is accuracy or R², whatever it is fitted by."""
    from sklearn.base import ClassifierMixin, RegressorMixin

    # Then ``scoring`` only guides the fit, as in early stopping.
    return getattr(type(model), "score", None) in (ClassifierMixin.score, RegressorMixin.score)


class _WithAllClasses:
    """A fitted classifier that gives probability 0 to classes it was not fitted on.

    Scorers match columns of probabilities to labels by position.
    """

    def __init__(self, model: Any, classes: Any) -> None:
        self._model, self.classes_ = model, classes

    def predict_proba(self, X: Any) -> FloatArray:
        given = self._model.predict_proba(X)
        every = np.zeros((len(given), len(self.classes_)))
        every[:, np.searchsorted(self.classes_, self._model.classes_)] = given
        return every

    def __getattr__(self, name: str) -> Any:
        if name in ("decision_function", "predict_log_proba"):
            raise AttributeError(f"{name} does not cover classes that the model was not fitted on")
        return getattr(self._model, name)


def all_classes(y: Any, y_test: Any) -> tuple[Any, Any] | None:
    """The classes of training and test set, and those of the test set; None of several outputs."""
    return (np.union1d(y, y_test), np.unique(y_test)) if y.ndim == y_test.ndim == 1 else None


def with_classes(classes: tuple[Any, Any] | None, model: Any, scorer: Scorer) -> Any:
    """The model with the classes of the test set, as scorers of scikit-learn need it."""
    if classes is None or not type(scorer).__module__.startswith("sklearn."):
        return model
    fitted = getattr(model, "classes_", None)
    if fitted is None or any(np.array_equal(fitted, each) for each in classes):
        return model
    return _WithAllClasses(model, classes[0])
