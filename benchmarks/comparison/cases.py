"""The cases of the public comparison: data sets, what is done to them, the model and its score.

Read here and, in pyDVL's own environment, by pydvl_values.py; so it needs NumPy,
scikit-learn and (for Adult) pandas alone. A case is a data set, what was done to its training rows, and
a seed; training, valuation and test rows have none in common. Values are computed from the first two,
judged by the third.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin

# The folder of all benchmarks.
HERE = Path(__file__).resolve().parents[1]
FLIPPED, SHIFTED, SHIFT = 0.1, 0.2, 1.5
# Least probability of a label in the score: one sure mistake must not outweigh all other rows.
FLOOR = 1e-3
ADULT = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
ADULT_WORDS = {"sex": "Male", "marital-status": "Married-civ-spouse", "race": "White"}


class Logistic(ClassifierMixin, BaseEstimator):
    """Logistic regression, one class against the others, with a penalty ½|w|² on all weights.

    Newton's method, each step halved while the loss rises: some .3 ms a fit, the same numbers under
    every version of scikit-learn. Classes are 0 … classes - 1, whether they occur or not.
    """

    def __init__(self, classes: int = 2) -> None:
        self.classes = classes

    def fit(self, X: Any, y: Any) -> Logistic:
        self.classes_ = np.arange(self.classes)
        A = np.column_stack([X, np.ones(len(X))])
        signs = 2.0 * (y[:, None] == self.classes_) - 1
        if self.classes == 2:
            signs = signs[:, 1:]
        self.weights_ = np.array([_newton(A * sign[:, None]) for sign in signs.T])
        return self

    def predict_proba(self, X: Any) -> Any:
        margins = X @ self.weights_[:, :-1].T + self.weights_[:, -1]
        shares = 1 / (1 + np.exp(-np.clip(margins, -500, 500)))
        if self.classes == 2:
            return np.column_stack([1 - shares, shares])
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)


def _newton(A: Any) -> Any:
    """The weights w that minimise Σ log(1 + exp(-A w)) + ½|w|²."""
    w, odds, loss = np.zeros(A.shape[1]), np.ones(len(A)), np.inf
    step = w
    for _ in range(50):
        left = np.log1p(odds).sum() + 0.5 * w @ w
        if left > loss:
            step = step / 2
            w = w - step
        else:
            loss, p = left, odds / (1 + odds)
            curvature = (A.T * (p / (1 + odds))) @ A
            curvature.flat[:: len(w) + 1] += 1
            step = np.linalg.solve(curvature, p @ A - w)
            w = w + step
            if np.abs(step).max() < 1e-4:  # the error is its square, or so
                break
        odds = np.exp(-np.maximum(A @ w, -500))
    return w


def log_likelihood(model: Any, X: Any, y: Any) -> float:
    """The mean log-probability of the labels, each at least that of FLOOR."""
    own = model.predict_proba(X)[np.arange(len(y)), y]
    return float(np.log(np.maximum(own, FLOOR)).mean())


def accuracy(model: Any, X: Any, y: Any) -> float:
    return float((model.predict(X) == y).mean())


SCORES: dict[str, Callable[[Any, Any, Any], float]] = {
    "log-loss": log_likelihood,
    "accuracy": accuracy,
}


def constant_score(case: Case, score: str) -> float:
    """What the frequencies of the valuation labels reach: the worth of no rows, or of one class."""
    shares = np.bincount(case.y_val, minlength=case.classes) / len(case.y_val)
    if score == "accuracy":
        return float(shares.max())
    return float(shares @ np.log(np.maximum(shares, FLOOR)))


class Case(NamedTuple):
    """Training rows with what was done to them, and two sets of good rows to judge by."""

    X: Any
    y: Any
    X_val: Any
    y_val: Any
    X_test: Any
    y_test: Any
    bad: Any  # which training rows were changed
    classes: int

    def digest(self) -> str:
        """What tells this case from others, to six digits of its numbers."""
        found = hashlib.sha256()
        for each in self[:-1]:
            found.update(np.round(np.asarray(each, float), 6).tobytes())
        return found.hexdigest()[:12]


@cache
def adult() -> tuple[Any, Any] | None:
    """Eight columns of Adult, from the folder that FAIRFIELD_DATA names or beside the project."""
    import pandas as pd

    beside = HERE.parents[1] / "shared" / "data"
    for folder in (Path(os.environ.get("FAIRFIELD_DATA", beside)), beside):
        for file in (folder / "adult" / "adult_train.csv.gz", folder / "adult_train.csv.gz"):
            if file.is_file():
                table = pd.read_csv(file)
                columns = [np.log1p(table[name].to_numpy(float)) for name in ADULT]
                columns += [
                    table[name].eq(word).to_numpy(float) for name, word in ADULT_WORDS.items()
                ]
                return np.column_stack(columns), table["income"].str.contains(">50K").to_numpy(int)
    return None


def two_digits() -> tuple[Any, Any]:
    images, digits = small_digits()
    chosen = np.isin(digits, (3, 8))
    return images[chosen], (digits[chosen] == 8).astype(int)


def first_digits() -> tuple[Any, Any]:
    images, digits = small_digits()
    return images[digits < 5], digits[digits < 5]


def small_digits() -> tuple[Any, Any]:
    """Pictures of 4 × 4 pixels, means of four each."""
    images, digits = datasets.load_digits(return_X_y=True)
    return images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16), digits


def diabetes() -> tuple[Any, Any]:
    X, y = datasets.load_diabetes(return_X_y=True)
    return X, (y > np.median(y)).astype(int)


def sparse_words(seed: int) -> tuple[Any, Any]:
    """Which of 40 words a text holds, few of them; six words tell its class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 900)
    chances = np.full((2, 40), 0.08)
    chances[0, :3], chances[1, 3:6] = 0.4, 0.4
    return (rng.random((900, 40)) < chances[y]).astype(float), y


def generated(**given: Any) -> Callable[[int], tuple[Any, Any]]:
    return lambda seed: datasets.make_classification(
        1000, n_features=10, n_informative=5, random_state=seed, **given
    )


# Of each data set how many rows train, and where they come from for a seed.
SETS: dict[str, tuple[int, Callable[[int], Any]]] = {
    "breast cancer": (150, lambda seed: datasets.load_breast_cancer(return_X_y=True)),
    "digits 3, 8": (100, lambda seed: two_digits()),
    "digits 0 to 4": (100, lambda seed: first_digits()),
    "wine": (100, lambda seed: datasets.load_wine(return_X_y=True)),
    "iris": (100, lambda seed: datasets.load_iris(return_X_y=True)),
    "diabetes": (100, lambda seed: diabetes()),
    "Adult": (240, lambda seed: adult()),
    "moons": (100, lambda seed: datasets.make_moons(1000, noise=0.25, random_state=seed)),
    "classification": (200, generated()),
    "imbalanced": (150, generated(weights=[0.85])),
    "blobs": (
        100, lambda seed: datasets.make_blobs(1000, 6, centers=3, cluster_std=5.0, random_state=seed)
    ),
    "sparse words": (150, lambda seed: sparse_words(seed)),
}  # fmt: skip


def make_case(name: str, kind: str, seed: int) -> Case | None:
    """A data set with wrong "labels" or a "shift"; None where the data set is not there."""
    rows, load = SETS[name]
    found = load(seed)
    if found is None:
        return None
    X, y = found
    rng = np.random.default_rng([seed, *name.encode()])
    order = rng.permutation(len(y))
    held = min(300, (len(y) - rows) // 2)
    train, val, test = np.split(order[: rows + 2 * held], [rows, rows + held])
    X = X - X[train].mean(axis=0)
    spread = X[train].std(axis=0)
    X = X / np.where(spread > 0, spread, 1)
    classes = int(y.max()) + 1
    X_train, y_train, bad = X[train], y[train].astype(int), np.zeros(rows, dtype=bool)
    if kind == "labels":
        bad[rng.permutation(rows)[: round(FLIPPED * rows)]] = True
        y_train = np.where(bad, (y_train + rng.integers(1, classes, rows)) % classes, y_train)
    else:
        # A source whose measurements are off in the direction that tells two classes apart.
        bad[rng.permutation(rows)[: round(SHIFTED * rows)]] = True
        first, second = (X_train[y_train == label].mean(axis=0) for label in (0, 1))
        moved = X_train + SHIFT * (second - first)
        X_train = np.where(bad[:, None], moved, X_train)
    return Case(
        X_train, y_train, X[val], y[val].astype(int), X[test], y[test].astype(int), bad, classes
    )
