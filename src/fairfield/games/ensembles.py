"""Ensembles: the players are models that vote on the rows of a test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.coalitions import BoolArray, spell
from fairfield.game import Game, Players
from fairfield.games.checks import names, number, slabs
from fairfield.games.digest import digest
from fairfield.games.products import ProductsExtension
from fairfield.games.vote_tables import right_shares
from fairfield.games.voting import WholeVotes, reached, whole_votes
from fairfield.multilinear import CombinedExtension, Extension, FloatArray

# The score of votes (rows, classes), or (rows, 1) for numbers.
Score: TypeAlias = Callable[[FloatArray], float]

VOTES = ("soft", "hard", "rozemberczki", "mean")
# Sums of real votes this close are a tie: about their rounding.
TIE = 1e-9
# Steps of the total vote on a row into which real votes are rounded unless told otherwise.
RESOLUTION = 1000
# Up to so many models the exact table costs about as much as one index of rounded votes.
FEW = 16
METHOD = "closed form: votes"


class EnsembleGame(Game):
    """The score, on a test set, of the ensemble that a coalition of models makes.

    ``vote`` says how models make an ensemble:

    - "soft": the class with the greatest sum of probabilities wins;
    - "hard": the class that most models predict wins;
    - "rozemberczki": a row counts where the sum of the true class's probabilities over all
      models' number reaches ½ (Rozemberczki, Sarkar, The Shapley value of classifiers in
      ensemble games, CIKM 2021);
    - "mean": numbers are averaged (regression).

    The worth is the share of rows that are right (a tie is wrong), or ``scoring``: the name
    of a scikit-learn scorer, or a function of the true and the predicted labels or numbers.

    ``models_or_predictions`` are fitted models (a list, or a dict by name), each asked once
    for its predictions on ``X_test``; or, with ``X_test=None``, an array: labels or numbers
    (models, rows), probabilities (models, rows, classes) of the labels in sorted order, or
    probabilities of the second of two labels (models, rows).

    The worth of no models is ``fallback``: a number, or "constant", the score of the best
    constant prediction (0 for "rozemberczki", which has no prediction).

    Shares of right rows with two labels, and "rozemberczki" with any number, are means of
    voting games, one per row (votes for the truth count +, others -), so they have a closed
    form: a gradient costs O(models · rows · q), with q at most half the models for hard
    votes. Probabilities must be rounded for it, row by row, to multiples of the total over
    ``resolution`` (default 1000; q is at most half of it), and ``error_bound`` says what
    this may change. Up to 16 models the table is exact and costs about as much: unless a
    ``resolution`` is given, no closed form is offered where rounding may change something.

    >>> right = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> game = EnsembleGame(right, None, [1, 1, 1], vote="hard", fallback=0.0)
    >>> game.worths(np.array([[True, False, False], [True, True, True]])).round(4).tolist()
    [0.6667, 1.0]
    >>> game.extension().shapley().round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """

    def __init__(
        self,
        models_or_predictions: Any,
        X_test: Any,
        y_test: ArrayLike,
        *,
        vote: str = "soft",
        scoring: str | Callable[[Any, Any], float] | None = None,
        fallback: str | float = "constant",
        resolution: int | None = None,
        players: Players | None = None,
    ) -> None:
        if vote not in VOTES:
            raise ValueError(f"vote={vote!r} was given; it must be one of {', '.join(VOTES)}")
        if vote == "rozemberczki" and scoring is not None:
            raise ValueError("vote='rozemberczki' has its own worth; leave out scoring=")
        if isinstance(models_or_predictions, Mapping):
            players = list(models_or_predictions) if players is None else players
            models_or_predictions = list(models_or_predictions.values())
        truth = np.asarray(y_test)
        if truth.ndim != 1 or not truth.size:
            raise ValueError(
                f"y_test of shape {truth.shape} was given; it must hold one entry per row"
            )
        self.vote, self.scoring, self.resolution = vote, scoring, resolution
        labels, votes = _votes(models_or_predictions, X_test, truth, vote)
        self.players = names(players, len(votes))
        self._voting = _voting_games(votes, labels, truth, vote, scoring)
        self._margins = _margins(votes, labels, truth, vote, scoring)
        # The votes themselves are needed only where they are not games of voting.
        self._votes = votes[:0] if self._voting else votes
        self._score = _score(scoring, labels, X_test, truth)
        self.empty = self._fallback(fallback, labels, truth)

    def _fallback(self, fallback: str | float, labels: NDArray[Any], truth: NDArray[Any]) -> float:
        if fallback != "constant":
            if isinstance(fallback, str):
                raise ValueError(
                    f"fallback={fallback!r} was given; it must be 'constant' or a number"
                )
            return number(fallback, "fallback")
        if self.vote == "rozemberczki":
            return 0.0
        if self.vote == "mean":
            constants = np.array([[truth.mean()], [np.median(truth)]])
        else:
            shares = (truth[:, None] == labels).mean(axis=0)
            constants = np.vstack([np.eye(len(labels)), shares])
        return max(self._score(np.tile(constant, (len(truth), 1))) for constant in constants)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        worths = np.empty(len(coalitions))
        if self._voting:
            weights, quota = self._voting
            needed = reached(weights, quota)
            for some in slabs(len(coalitions), len(weights)):
                right = coalitions[some].astype(float) @ weights.T >= needed
                worths[some] = np.count_nonzero(right, axis=1) / len(weights)
        else:
            for row, coalition in enumerate(coalitions):
                worths[row] = self._score(
                    self._votes[coalition].sum(axis=0) / max(1, coalition.sum())
                )
        worths[~coalitions.any(axis=1)] = self.empty
        return worths

    def table(self, progress: bool | None = None) -> FloatArray | None:
        if self._margins is None:
            return None
        table = right_shares(self._margins, TIE)
        table[0] = self.empty
        return table

    def extension(self) -> Extension | None:
        return self._extension

    @cached_property
    def _extension(self) -> Extension | None:
        if self._whole is None:
            return None
        votes, share = self._whole
        if self.resolution is None and len(self.players) <= FEW and (votes.low < votes.high).any():
            return None
        voting = votes.extension(METHOD, share)
        if not self.empty:
            return voting
        return CombinedExtension([(1.0, voting), (self.empty, _nobody(len(self.players)))])

    @cached_property
    def _whole(self) -> tuple[WholeVotes, FloatArray] | None:
        """The different voting games in whole weights, and the share of rows with each."""
        if self._voting is None:
            return None
        weights, quota = self._voting
        kinds, counts = np.unique(weights, axis=0, return_counts=True)
        return whole_votes(kinds, quota, self.resolution or RESOLUTION), counts / len(weights)

    def error_bound(self, x: ArrayLike) -> FloatArray:
        """How far f(x) of the rounded probabilities can be from that of the given ones.

        The mean over rows of P(vote within its joint rounding of the quota); 0 for hard
        votes. A slope ∂_i f is off by at most the bound with player i in plus the bound
        with him out.
        """
        if self._whole is None:
            raise ValueError("these votes have no closed form, so nothing is rounded")
        votes, share = self._whole
        return votes.error_bound(x, share)

    def describe(self) -> dict[str, Any]:
        arrays = (self._voting[0], np.array(self._voting[1])) if self._voting else (self._votes,)
        scoring = getattr(self.scoring, "__qualname__", self.scoring)
        own = {"vote": self.vote, "scoring": scoring, "empty": self.empty, "votes": digest(*arrays)}
        return {**super().describe(), **own, "resolution": self.resolution}


def _votes(
    given: Any, X_test: Any, truth: NDArray[Any], vote: str
) -> tuple[NDArray[Any], FloatArray]:
    """All labels, sorted, and each model's vote for them: (models, rows, labels).

    Numbers have no labels; their votes are (models, rows, 1).
    """
    if isinstance(given, Sequence) and given and all(hasattr(model, "predict") for model in given):
        if X_test is None:
            raise ValueError("models were given with X_test=None; give the rows to predict")
        labels, answers = _ask(given, X_test, vote, np.unique(truth))
    else:
        labels, answers = np.unique(truth), np.asarray(given)
    axes = (2,) if vote == "mean" else (2, 3)
    if answers.ndim not in axes or answers.shape[1] != len(truth) or not len(answers):
        raise ValueError(
            f"predictions of shape {answers.shape} were given for {len(truth)} test rows; they "
            f"must be shaped (models, rows){'' if vote == 'mean' else ' or (models, rows, classes)'}"
        )
    if answers.dtype.kind not in "biuf" and (vote != "hard" or answers.ndim == 3):
        raise ValueError(
            f"predictions of type {answers.dtype} were given for vote={vote!r}, which needs numbers; "
            "vote='hard' takes labels (models, rows)"
        )
    if vote == "mean":
        labels, votes = labels[:0], answers[..., None].astype(float)
    elif answers.ndim == 2 and vote == "hard":
        labels = np.unique(np.concatenate([labels, np.unique(answers)]))
        votes = (answers[..., None] == labels).astype(float)
    else:
        chances = np.stack([1 - answers, answers], axis=-1) if answers.ndim == 2 else answers
        labels = _labels(labels, chances.shape[-1])
        votes = chances.astype(float)
        if vote == "hard":
            votes = np.eye(len(labels))[votes.argmax(axis=-1)]
    if not np.isfinite(votes).all() or (vote != "mean" and (votes.min() < 0 or votes.max() > 1)):
        raise ValueError(
            "predictions hold NaN, infinity or probabilities outside [0, 1]; mend them"
        )
    return labels, votes


def _ask(
    models: Sequence[Any], X_test: Any, vote: str, labels: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """All labels, and what each model predicts."""
    for model in models if vote != "mean" else ():
        _check_classes(model, labels)
    if vote in ("hard", "mean"):
        return labels, np.stack([np.asarray(model.predict(X_test)) for model in models])
    for model in models:
        if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba or is not fitted; vote='hard' needs "
                "labels alone, vote='mean' numbers"
            )
        labels = np.union1d(labels, model.classes_)
    answers = [np.asarray(model.predict_proba(X_test)) for model in models]
    chances = np.zeros((len(models), len(answers[0]), len(labels)))
    for own, model, answer in zip(chances, models, answers, strict=True):
        own[:, np.searchsorted(labels, model.classes_)] = answer
    return labels, chances


def _check_classes(model: Any, labels: NDArray[Any]) -> None:
    """Refuse members of forests and bags, which number the classes instead of naming them."""
    own = np.asarray(getattr(model, "classes_", labels))
    numbered = len(own) == len(labels) and (own == np.arange(len(own))).all()
    if not np.isin(own, labels).any() or (numbered and (labels != own).any()):
        raise ValueError(
            f"{type(model).__name__} knows the classes {spell(own[:8].tolist())}, y_test holds "
            f"{spell(labels[:8].tolist())}; members of an ensemble may number their classes: number "
            "those of y_test likewise, np.searchsorted(ensemble.classes_, y_test)"
        )


def _labels(seen: NDArray[Any], count: int) -> NDArray[Any]:
    """The labels that ``count`` columns of probabilities stand for."""
    if len(seen) == count:
        return seen
    if np.isin(seen, np.arange(count)).all():
        return np.arange(count)
    raise ValueError(
        f"probabilities of {count} classes were given, y_test holds {len(seen)} labels; "
        "number the classes 0, 1, … or pass models"
    )


def _voting_games(
    votes: FloatArray, labels: NDArray[Any], truth: NDArray[Any], vote: str, scoring: Any
) -> tuple[FloatArray, float] | None:
    """Weights (rows, models) and quota of the voting games whose mean is the worth, if any."""
    if vote == "rozemberczki":
        # Both sides times the number of models.
        return _own(votes, labels, truth).T, len(votes) / 2
    if len(labels) != 2 or scoring not in (None, "accuracy"):
        return None
    margins = 2 * _own(votes, labels, truth) - votes.sum(axis=-1)
    return margins.T, TIE


def _margins(
    votes: FloatArray, labels: NDArray[Any], truth: NDArray[Any], vote: str, scoring: Any
) -> FloatArray | None:
    """Votes for the truth less votes for each other label, where the share of right rows counts."""
    if vote not in ("soft", "hard") or scoring not in (None, "accuracy") or len(labels) < 2:
        return None
    others = votes.transpose(0, 2, 1)[
        :, (truth != labels[:, None]).T.argsort(axis=1).T[1:], np.arange(len(truth))
    ]
    return np.ascontiguousarray(_own(votes, labels, truth)[:, None] - others)


def _own(votes: FloatArray, labels: NDArray[Any], truth: NDArray[Any]) -> FloatArray:
    """The votes (..., rows, labels) for the true label of each row."""
    return np.asarray(votes[..., np.arange(len(truth)), np.searchsorted(labels, truth)])


def _score(scoring: Any, labels: NDArray[Any], X_test: Any, truth: NDArray[Any]) -> Score:
    """The score of votes (rows, labels), or of numbers (rows, 1) where there are no labels."""
    if len(labels) and scoring in (None, "accuracy"):
        return lambda votes: _share_right(votes, labels, truth)
    if callable(scoring):
        return lambda votes: float(scoring(truth, _decided(votes, labels)))
    return _scorer(scoring or "r2", labels, X_test, truth)


def _share_right(votes: FloatArray, labels: NDArray[Any], truth: NDArray[Any]) -> float:
    others = np.where(truth[:, None] == labels, -np.inf, votes).max(axis=1)
    return float((_own(votes, labels, truth) - others >= TIE).mean())


def _decided(votes: FloatArray, labels: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(labels[votes.argmax(axis=1)]) if len(labels) else votes[:, 0]


def _scorer(name: str, labels: NDArray[Any], X_test: Any, truth: NDArray[Any]) -> Score:
    """A scikit-learn scorer, applied to votes as if a model had made them."""
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

    scorer = get_scorer(name)
    rows = np.zeros((len(truth), 1)) if X_test is None else X_test
    return lambda votes: float(scorer(Vote(votes), rows, truth))


def _nobody(count: int) -> ProductsExtension:
    """The extension of 1[S = ∅]: Π_i (1 - x_i)."""
    from scipy.sparse import csr_array

    ones = np.ones(count)
    return ProductsExtension(csr_array(ones[None]), ones, 0 * ones, np.ones(1), method=METHOD)
