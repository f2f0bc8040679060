"""The predictions of models on the rows of a test set, as votes for labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.copies import lent
from fairfield.core.labels import is_text, plain_labels, positions


def _count(rows: Any) -> int:
    """How many rows, of any library."""
    return int(rows.shape[0]) if getattr(rows, "shape", ()) else len(rows)


@dataclass(frozen=True)
class Ballots:
    """The votes of models for the labels of test rows, beside the truth.

    Predicted numbers have no labels; their votes are (models, rows, 1).
    """

    labels: NDArray[Any]  # sorted
    votes: FloatArray  # (models, rows, labels)
    truth: NDArray[Any]  # (rows,)

    @property
    def for_truth(self) -> FloatArray:
        """The votes for the true label of each row: (models, rows)."""
        columns = np.searchsorted(self.labels, self.truth)
        return np.asarray(self.votes[:, np.arange(len(self.truth)), columns])

    def margins(self) -> FloatArray:
        """Votes for the truth less votes for each other label: (models, labels - 1, rows)."""
        others = (self.truth != self.labels[:, None]).T.argsort(axis=1).T[1:]
        against = self.votes.transpose(0, 2, 1)[:, others, np.arange(len(self.truth))]
        return np.ascontiguousarray(self.for_truth[:, None] - against)


def ballots_of(
    given: Any, X_test: Any, truth: NDArray[Any], vote: str, named: ArrayLike | None
) -> Ballots:
    """The votes of models, or of predictions, whose columns stand for the labels ``named``."""
    labels = given_labels(named, truth)
    if hasattr(given, "predict"):
        raise TypeError(_one_model(given))
    if isinstance(given, Sequence) and given and all(hasattr(model, "predict") for model in given):
        if X_test is None:
            raise ValueError("models were given with X_test=None; give the rows to predict")
        labels, answers = _predictions(given, X_test, vote, np.sort(labels))
    else:
        answers = _given_predictions(given)
    if X_test is not None and (rows := _count(X_test)) != len(truth):
        raise ValueError(
            f"X_test has {rows} rows and y_test {len(truth)}; they must be the same rows"
        )
    axes = (2,) if vote == "mean" else (2, 3)
    if answers.ndim not in axes or answers.shape[1] != len(truth) or not len(answers):
        raise ValueError(
            f"predictions of shape {answers.shape} were given for {len(truth)} test rows; they "
            f"must be shaped (models, rows){'' if vote == 'mean' else ' or (models, rows, classes)'}"
        )
    if is_text(answers) and (vote != "hard" or answers.ndim == 3):
        raise ValueError(
            f"predictions of type {answers.dtype} were given for vote={vote!r}, which needs numbers; "
            "vote='hard' takes labels (models, rows)"
        )
    if vote == "mean":
        labels, votes = labels[:0], answers[..., None].astype(float)
    elif answers.ndim == 2 and vote == "hard":
        labels, votes = _ballots(answers, truth, labels)
    else:
        shares = np.stack([1 - answers, answers], axis=-1) if answers.ndim == 2 else answers
        labels, votes = _columns(shares, labels)
        if vote == "hard":
            votes = np.eye(len(labels))[votes.argmax(axis=-1)]
    if not np.isfinite(votes).all() or (vote != "mean" and (votes.min() < 0 or votes.max() > 1)):
        raise ValueError("predictions hold NaN, infinity or probabilities outside [0, 1]; fix them")
    return Ballots(labels, votes, truth)


def _given_predictions(given: Any) -> NDArray[Any]:
    if isinstance(given, Sequence):
        lengths = [_count(each) for each in given]
        if len(set(lengths)) > 1:
            raise ValueError(
                f"the predictions of {len(lengths)} models are of {lengths} rows; all must be of the same"
            )
    return plain_labels(given, "the array of predictions")


def given_labels(given: ArrayLike | None, truth: NDArray[Any]) -> NDArray[Any]:
    """The labels as they were given, or those that the test rows hold, sorted."""
    if given is None:
        return np.unique(truth)
    labels = plain_labels(given)
    distinct = labels.ndim == 1 and len(np.unique(labels)) == len(labels)
    if not distinct or (positions(truth, labels) < 0).any():
        raise ValueError(
            f"labels={spell(labels.ravel().tolist())} were given, y_test holds "
            f"{spell(np.unique(truth).tolist())}; name each label once, all of those among them"
        )
    return labels


def _one_model(model: Any) -> str:
    kind = type(model).__name__
    if not hasattr(model, "estimators_"):
        return f"one {kind} was given; give a list of models, or a dict of them by name"
    if hasattr(model, "final_estimator_"):
        return f"one {kind} was given; vote='stack' values its members"
    needed = f"one {kind} was given; its members are the players: pass model.estimators_"
    if not hasattr(model, "classes_"):
        return needed
    return f"{needed}, and np.searchsorted(model.classes_, y_test), since they number their classes"


def _predictions(
    models: Sequence[Any], X_test: Any, vote: str, labels: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """All labels, and what each model predicts; models may work in place, and share a buffer."""
    for model in models if vote != "mean" else ():
        _check_classes(model, labels)
    if vote in ("hard", "mean"):
        return labels, np.stack([plain_labels(np.array(m.predict(lent(X_test)))) for m in models])
    for model in models:
        if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba or is not fitted; vote='hard' needs "
                "labels alone, vote='mean' numbers"
            )
    classes = [plain_labels(model.classes_) for model in models]
    labels = np.unique(np.concatenate([labels, *classes]))
    answers = [np.array(model.predict_proba(lent(X_test))) for model in models]
    shares = np.zeros((len(models), len(answers[0]), len(labels)))
    for share, own, answer in zip(shares, classes, answers, strict=True):
        share[:, np.searchsorted(labels, own)] = answer
    return labels, shares


def _check_classes(model: Any, labels: NDArray[Any]) -> None:
    """Refuse what may be a member of a forest or a bag, which numbers the classes.

    Classes 0, 1, … are names only where the labels are 0, 1, … as well, all of them.
    """
    own = plain_labels(getattr(model, "classes_", labels))
    numbered = np.array_equal(own, np.arange(len(own)))
    plain = np.array_equal(labels, np.arange(max(len(own), len(labels))))
    if (positions(own, labels) < 0).all() or (numbered and not plain):
        raise ValueError(
            f"{type(model).__name__} has the classes {spell(own[:8].tolist())}, y_test holds "
            f"{spell(labels[:8].tolist())}; members of an ensemble may number their classes: number "
            "those of y_test likewise, np.searchsorted(ensemble.classes_, y_test), and name all "
            "classes in labels= where y_test lacks some"
        )


def _ballots(
    answers: NDArray[Any], truth: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[Any], FloatArray]:
    """One vote of each model for the label it predicts."""
    if is_text(answers) != is_text(truth):
        raise ValueError(
            f"predictions such as {answers.flat[0]!r} were given for labels such as {truth[0]!r}; "
            "predictions and y_test must both hold texts, or both numbers"
        )
    labels = np.unique(np.concatenate([labels, np.unique(answers)]))
    return labels, (answers[..., None] == labels).astype(float)


def _columns(shares: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], FloatArray]:
    """The labels that columns of probabilities stand for, sorted, and the columns likewise."""
    if len(labels) != shares.shape[-1]:
        raise ValueError(
            f"probabilities of {shares.shape[-1]} classes were given for the labels "
            f"{spell(labels.tolist())}; name the label of each column in labels="
        )
    order = np.argsort(labels)
    return labels[order], shares[..., order].astype(float)
