"""The problems of the paper's data valuation: who plays, on which rows, at which temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fairfield as ff
from paper.logistic import LogisticGame
from paper.synthetic import TESTS, synthetic

SPLITS, QUICK_SPLITS = 10, 3


@dataclass(frozen=True)
class Problem:
    """One panel of the paper's figure of data removal.

    ``errors`` are the published decoupling errors of the index, Shapley and Banzhaf. ``few``
    players play in a quick run.
    """

    name: str
    title: str
    players: int
    few: int
    grouping: str
    temperature: float
    errors: tuple[float, float, float]
    rows: int = 0


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem(
            "synthetic_points", "synthetic, single points", 20, 10, "rows", 0.5,
            (0.0027299, 0.0029141, 0.0027334), rows=20,
        ),
        Problem(
            "synthetic_groups", "synthetic, k-means groups", 20, 10, "kmeans", 1.0,
            (0.0002831, 0.0003403, 0.0002831), rows=1000,
        ),
        Problem(
            "breast_cancer", "breast cancer, random groups", 16, 8, "random", 0.1,
            (0.0031936, 0.1424845, 0.0031973),
        ),
        Problem(
            "breast_cancer2", "breast cancer, k-means groups", 14, 8, "kmeans", 0.5,
            (0.0062059, 0.0103991, 0.0062383),
        ),
        Problem(
            "digits", "digits, random groups", 12, 5, "random", 0.5,
            (0.0009155, 0.0074024, 0.0009157),
        ),
        Problem(
            "digits2", "digits, k-means groups", 10, 5, "kmeans", 0.1,
            (0.0627634, 0.1065176, 0.0901993),
        ),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Split:
    """Training and test rows, and the group of each training row."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    groups: NDArray[Any]

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return len(np.unique(self.y))

    def game(self, fallback: float | str = "paper") -> ff.DataGame:
        """The paper's game, every worth a fit of scikit-learn."""
        model = papers_model(self.classes)
        parts = self.X, self.y, self.X_test, self.y_test
        return ff.DataGame(model, *parts, groups=self.groups, fallback=fallback)  # type: ignore[arg-type]  # checked there

    def fast_game(self) -> LogisticGame:
        """The same game, fitted to rounding, many coalitions at a time."""
        return LogisticGame(self.X, self.y, self.X_test, self.y_test, self.groups)


def papers_model(classes: int) -> Any:
    """The paper's classifier; liblinear itself takes two classes."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    model = LogisticRegression(solver="liblinear", max_iter=5000, random_state=666)
    return model if classes == 2 else OneVsRestClassifier(model)


def papers_split(held: Mapping[str, NDArray[Any]]) -> Split:
    """The authors' own split."""
    return Split(*(held[name] for name in ("X", "y", "X_test", "y_test", "sources")))


def own_split(problem: Problem, players: int, seed: int) -> Split:
    """A split by the paper's recipe: a quarter of the rows held out, stratified by label.

    Its k-means groups are as k-means leaves them, of unequal sizes.
    """
    if problem.rows:
        training = players if problem.grouping == "rows" else problem.rows
        X, y = synthetic(training + TESTS, seed, training)
        X, X_test, y, y_test = X[:training], X[training:], y[:training], y[training:]
    else:
        X, X_test, y, y_test = _held_out(problem, seed)
    return Split(X, y, X_test, y_test, _groups(problem.grouping, X, players, seed))


def _held_out(problem: Problem, seed: int) -> list[NDArray[Any]]:
    """Training and test rows, training and test labels."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.model_selection import train_test_split

    load = load_digits if problem.name.startswith("digits") else load_breast_cancer
    X, y = load(return_X_y=True)
    parts: list[NDArray[Any]] = train_test_split(X, y, random_state=seed, stratify=y)
    return parts


def _groups(grouping: str, X: NDArray[Any], players: int, seed: int) -> NDArray[Any]:
    if grouping == "rows":
        return np.arange(len(X))
    if grouping == "random":
        return ff.cluster(X, players, "random", seed=seed)
    from sklearn.cluster import KMeans

    labels: NDArray[Any] = KMeans(players, n_init=10, random_state=seed).fit(X).labels_
    return labels
