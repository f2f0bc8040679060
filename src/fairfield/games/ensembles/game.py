"""Ensembles as games: the players are models that vote on the rows of a test set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, slabs
from fairfield.core.checks import names, number, numbers
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo, Players
from fairfield.core.labels import plain_labels
from fairfield.games.ensembles.ballots import Ballots, ballots_of
from fairfield.games.ensembles.means import MeanErrorExtension, squared_errors
from fairfield.games.ensembles.scoring import TIE, score_of
from fairfield.games.ensembles.stacking import Stack
from fairfield.games.ensembles.vote_tables import right_shares
from fairfield.games.set_functions.products import ProductsExtension
from fairfield.games.textbook.voting import WholeVotes, reached, whole_votes

VOTES = ("soft", "hard", "rozemberczki", "mean", "stack")
# Steps of the total vote on a row to which real votes are rounded by default.
RESOLUTION = 1000
# Up to so many models the exact table costs about as much as the closed form.
FEW = 16
METHOD = "closed form: votes"
MSE = "neg_mean_squared_error"
# Votes of single models that are counted to see what rounding does.
DRAWN = 2**30


class EnsembleGame(Game):
    """The score, on a test set, of the ensemble that a coalition of models makes.

    ``vote`` says how models make an ensemble:

    - "soft": the class with the greatest sum of probabilities wins;
    - "hard": the class that most models predict wins;
    - "rozemberczki": a row counts where the sum of the true class's probabilities over all
      models' number reaches ½ (Rozemberczki, Sarkar, The Shapley value of classifiers in
      ensemble games, CIKM 2021);
    - "mean": numbers are averaged (regression);
    - "stack": the final estimator of a fitted StackingClassifier or StackingRegressor, given in
      the place of models, decides as it was fitted; what a missing model would tell it is
      replaced by its mean over the test rows. (For final estimators fitted anew on each
      coalition take a ColumnGame of out-of-fold predictions.)

    The worth is the share of rows that are right (a tie is wrong), or ``scoring``: a
    scikit-learn scorer or its name, or a function of the true and the predicted labels or
    numbers.

    ``models_or_predictions`` are fitted models (a list, or a dict by name), each of which
    predicts ``X_test`` once; or, with ``X_test=None``, an array: labels or numbers
    (models, rows), probabilities (models, rows, classes), or probabilities of the second of
    two labels (models, rows). The columns stand for ``labels``, by default those of
    ``y_test`` in sorted order; name them where ``y_test`` does not hold them all.

    ``weights`` (models,) count the votes of some models more than those of others, as the
    weights of a VotingClassifier do.

    The worth of no models is ``fallback``: a number, or "constant", the score of the best
    constant prediction (0 for "rozemberczki", which has no prediction).

    Shares of right rows with two labels, and "rozemberczki" with any number, are means of
    voting games, one per row (votes for the truth count +, others -), so they have a closed
    form: a gradient costs O(models · rows · q), with q at most half the models for hard
    votes. Probabilities must be rounded for it, row by row, to multiples of the total over
    ``resolution`` (default 1000; q is at most half of it), and ``error_bound`` says what
    this may change. Up to 16 models the table is exact and costs about as much: unless a
    ``resolution`` is given, no closed form is offered where rounding may change something. What
    rounding does to Banzhaf values is also read off drawn ensembles, and told with the results;
    leave-one-out reads true worths.
    Means of numbers have an exact closed form, O(models³), where they are scored by R² or
    squared error and count alike.

    >>> right = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> game = EnsembleGame(right, None, [1, 1, 1], vote="hard", fallback=0.0)
    >>> game.worths(np.array([[True, False, False], [True, True, True]])).round(4).tolist()
    [0.6667, 1.0]
    >>> game.extension().shapley().round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """

    info = GameInfo(noun="model")

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
        labels: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        players: Players | None = None,
    ) -> None:
        if vote not in VOTES:
            raise ValueError(f"vote={vote!r} was given; it must be one of {', '.join(VOTES)}")
        if vote == "rozemberczki" and scoring is not None:
            raise ValueError("vote='rozemberczki' has its own worth; leave out scoring=")
        if isinstance(models_or_predictions, Mapping):
            players = list(models_or_predictions) if players is None else players
            models_or_predictions = list(models_or_predictions.values())
        truth = plain_labels(y_test, "y_test")
        if truth.ndim != 1 or not truth.size:
            raise ValueError(
                f"y_test of shape {truth.shape} was given; it must hold one entry per row"
            )
        self.vote, self.scoring, self.resolution = vote, scoring, resolution
        self._stack: Stack | None = None
        if vote == "stack":
            self._stack = Stack.of(models_or_predictions, X_test)
            players = self._stack.names if players is None else players
            ballots = self._stack.ballots(truth)
        else:
            ballots = ballots_of(models_or_predictions, X_test, truth, vote, labels)
        if self._stack is not None and (weights is not None or labels is not None):
            raise ValueError("a stack has its own weights and labels; leave out weights=, labels=")
        self.players = names(players, len(ballots.votes))
        self.weights = _weights_of(weights, len(self.players))
        ballots = replace(ballots, votes=self.weights[:, None, None] * ballots.votes)
        self._labels, self._truth = ballots.labels, truth
        self._score = score_of(scoring, ballots.labels, X_test, truth)
        self._read(ballots)
        self.empty = self._fallback(fallback)

    def _read(self, ballots: Ballots) -> None:
        """Keep what worths are computed from: voting games, margins, or else all votes."""
        count = len(ballots.labels)
        shares = self.vote in ("soft", "hard") and self.scoring in (None, "accuracy") and count > 1
        # Votes for the truth less those for each other label, whose signs say which rows are right.
        self._margins = ballots.margins() if shares else None
        # Weights (rows, models) and quota of the voting games whose mean is the worth, if any.
        self._voting: tuple[FloatArray, float] | None = None
        if self.vote == "rozemberczki":
            # The rule, multiplied by the number of models, or their weight.
            self._voting = ballots.for_truth.T, self.weights.sum() / 2
        elif shares and count == 2:
            self._voting = (2 * ballots.for_truth - ballots.votes.sum(axis=-1)).T, TIE
        # A worth is a + b Σ_{i,j∈S} G_ij / |S|² where means of numbers are scored by squares: a, b, G.
        self._squares = self._squares_of(ballots) if self.vote == "mean" else None
        decided = shares or self._voting is not None
        self._votes = ballots.votes[:0] if decided else ballots.votes

    def _squares_of(self, ballots: Ballots) -> tuple[float, float, FloatArray] | None:
        truth = ballots.truth.astype(float)
        spread = float(((truth - truth.mean()) ** 2).sum())
        scales = {"None": (1.0, spread), "r2": (1.0, spread), MSE: (0.0, float(len(truth)))}
        scale = scales.get(str(self.scoring))
        if scale is None or not scale[1]:
            return None
        errors = ballots.votes[..., 0] - self.weights[:, None] * truth
        return scale[0], -1 / scale[1], errors @ errors.T

    def _fallback(self, fallback: str | float) -> float:
        if fallback != "constant":
            if isinstance(fallback, str):
                raise ValueError(
                    f"fallback={fallback!r} was given; it must be 'constant' or a number"
                )
            return number(fallback, "fallback")
        if self.vote == "rozemberczki":
            return 0.0
        if not len(self._labels):
            constants = np.array([[self._truth.mean()], [np.median(self._truth)]])
        else:
            shares = (self._truth[:, None] == self._labels).mean(axis=0)
            constants = np.vstack([np.eye(len(self._labels)), shares])
        return max(self._score(np.tile(each, (len(self._truth), 1))) for each in constants)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        worths = np.empty(len(coalitions))
        if self._voting:
            weights, quota = self._voting
            needed = reached(weights, quota)
            for some in slabs(len(coalitions), len(weights)):
                right = coalitions[some].astype(float) @ weights.T >= needed
                worths[some] = np.count_nonzero(right, axis=1) / len(weights)
        elif self._margins is not None:
            for row, coalition in enumerate(coalitions):
                margins = self._margins[coalition].sum(axis=0)
                worths[row] = (margins >= TIE).all(axis=0).mean()
        elif self._squares is not None:
            a, b, gram = self._squares
            worths = a + b * squared_errors(gram, self.weights, coalitions)
        else:
            for row, coalition in enumerate(coalitions):
                worths[row] = self._score(self._joint(coalition))
        worths[~coalitions.any(axis=1)] = self.empty
        return worths

    def _joint(self, coalition: BoolArray) -> FloatArray:
        """The votes (rows, labels), or numbers (rows, 1), of the ensemble of a coalition."""
        if self._stack is not None:
            return self._stack.answer(coalition)
        total = self.weights[coalition].sum()
        return np.asarray(self._votes[coalition].sum(axis=0) / (total or 1.0))

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
        if self._squares is not None:
            return self._mean_extension(*self._squares)
        if self._whole is None:
            return None
        votes, share = self._whole
        if self.resolution is None and len(self.players) <= FEW and (votes.low < votes.high).any():
            return None
        voting = votes.extension(METHOD, share)
        if voting.coarseness:
            drawn, count = self._drawn_error()
            if drawn < voting.coarseness:
                voting.coarseness = drawn
                voting.coarseness_from = f"{count:,} drawn ensembles to five standard errors"
        if not self.empty:
            return voting
        return CombinedExtension([(1.0, voting), (self.empty, _empty_coalition(len(self.players)))])

    def _mean_extension(self, a: float, b: float, gram: FloatArray) -> Extension | None:
        """The closed form of numbers that count alike."""
        if (self.weights != self.weights[0]).any():
            return None
        errors = MeanErrorExtension(b * gram / self.weights[0] ** 2, a)
        nobody = _empty_coalition(len(self.players), errors.method)
        return CombinedExtension([(1.0, errors), (self.empty - a, nobody)])

    @cached_property
    def _whole(self) -> tuple[WholeVotes, FloatArray] | None:
        """The different voting games in whole weights, and the share of rows with each."""
        if self._voting is None:
            return None
        weights, quota = self._voting
        kinds, counts = np.unique(weights, axis=0, return_counts=True)
        return whole_votes(kinds, quota, self.resolution or RESOLUTION), counts / len(weights)

    def _drawn_error(self) -> tuple[float, int]:
        """What rounding does to the Banzhaf values, from worths of drawn coalitions, and of how many.

        Where rounding turns many rows one way and as many the other, this is far below what the
        bound must allow for.
        """
        assert self._voting is not None
        assert self._whole is not None
        weights, quota = self._voting
        whole = whole_votes(weights, quota, self.resolution or RESOLUTION)
        count = int(np.clip(DRAWN // weights.size, 2**12, 2**16))
        drawn = np.random.default_rng(0).random((count, len(self.players))) < 0.5
        change = np.empty(count)
        given, rounded = np.ascontiguousarray(weights.T), whole.weights.T.astype(float, order="C")
        needed = reached(weights, quota)
        for some in slabs(count, len(weights)):
            inside = drawn[some].astype(float)
            right = [inside @ rounded >= whole.quota, inside @ given >= needed]
            now, before = (np.count_nonzero(each, axis=1) for each in right)
            change[some] = (now - before) / len(weights)
        change -= change.mean()
        # E[D(S+i) - D(S-i)] = 2 E[±D(S)], + where i is in S.
        found = 2 * np.abs((2.0 * drawn - 1).T @ change) / count
        return float(found.max() + 10 * change.std() / np.sqrt(count)), count

    def error_bound(self, x: ArrayLike) -> FloatArray:
        """How far f(x) of the rounded probabilities can be from that of the given ones.

        The mean over rows of P(vote within its joint rounding of the quota); 0 for hard
        votes. A slope ∂_i f is off by at most the bound with player i in plus the bound
        with player i out.
        """
        if self._whole is None:
            raise ValueError("these votes have no closed form, so nothing is rounded")
        votes, share = self._whole
        return votes.error_bound(x, share)

    def describe(self) -> dict[str, Any]:
        votes = self._votes if self._margins is None else self._margins
        if self._voting is not None:
            votes = self._voting[0]
        return {
            **super().describe(),
            "vote": self.vote,
            "scoring": text_of(self.scoring),
            "empty": self.empty,
            "votes": digest(votes, self._labels, self._truth),
            "resolution": self.resolution,
            "weights": self.weights.tolist(),
            **({} if self._stack is None else {"stack": self._stack.describe()}),
        }


def _weights_of(given: ArrayLike | None, models: int) -> FloatArray:
    """The weights of the models, 1 by default."""
    weights = np.ones(models) if given is None else numbers(given, "weights")
    if len(weights) != models or (weights <= 0).any():
        raise ValueError(
            f"weights={given!r} were given for {models} models; give each a number above 0"
        )
    return weights


def _empty_coalition(count: int, method: str = METHOD) -> ProductsExtension:
    """The extension of 1[S = ∅]: Π_i (1 - x_i)."""
    from scipy.sparse import csr_array

    ones = np.ones(count)
    return ProductsExtension(csr_array(ones[None]), ones, 0 * ones, np.ones(1), method=method)
