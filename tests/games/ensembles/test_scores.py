"""Scores of votes: functions, and scorers of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from games.ensembles.examples import rng, votes


@pytest.mark.parametrize("scoring", ["neg_log_loss", "f1_macro", "roc_auc_ovr", "accuracy"])
def test_scorers_of_scikit_learn(scoring: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    chances, truth = votes(4, 80, 3)
    game = ff.EnsembleGame(chances, None, truth, scoring=scoring)
    coalition = np.array([[True, False, True, True]])
    mean = chances[coalition[0]].mean(axis=0)
    expected = {
        "neg_log_loss": -metrics.log_loss(truth, mean),
        "f1_macro": metrics.f1_score(truth, mean.argmax(axis=1), average="macro"),
        "roc_auc_ovr": metrics.roc_auc_score(truth, mean, multi_class="ovr"),
        "accuracy": (truth == mean.argmax(axis=1)).mean(),
    }
    assert game.worths(coalition)[0] == pytest.approx(expected[scoring])
    assert game.extension() is None
    assert np.isfinite(game.empty)
    with pytest.raises(ValueError, match="no closed form"):
        game.error_bound(np.zeros(4))


def test_functions_as_scores_and_the_best_constant() -> None:
    chances, truth = votes(4, 60)

    def recall(true: np.ndarray, predicted: np.ndarray) -> float:
        return float((predicted[true == 1] == 1).mean())

    game = ff.EnsembleGame(chances, None, truth, scoring=recall)
    everyone = np.ones((1, 4), dtype=bool)
    assert game.worths(everyone)[0] == recall(truth, chances.sum(axis=0).argmax(axis=1))
    assert game.worths(~everyone) == 1


def test_regression_averages_numbers() -> None:
    pytest.importorskip("sklearn")
    truth = rng.normal(size=40)
    numbers = truth + rng.normal(size=(5, 40))

    def loss(true: np.ndarray, predicted: np.ndarray) -> float:
        return -float(np.abs(true - predicted).mean())

    coalition = np.array([[True, True, False, True, False]])
    game = ff.EnsembleGame(numbers, None, truth, vote="mean", scoring=loss)
    assert game.worths(coalition)[0] == loss(truth, numbers[coalition[0]].mean(axis=0))
    assert game.worths(coalition & False)[0] == loss(truth, np.median(truth))
    assert game.extension() is None
    by_r2 = ff.EnsembleGame(numbers, None, truth, vote="mean")
    assert by_r2.worths(coalition & False)[0] == pytest.approx(0.0)


def test_a_scorer_as_well_as_its_name() -> None:
    from sklearn.metrics import get_scorer

    chances, truth = votes(4, 40)
    games = [
        ff.EnsembleGame(chances, None, truth, scoring=scoring)
        for scoring in ("neg_log_loss", get_scorer("neg_log_loss"))
    ]
    assert_allclose(*(ff.shapley(game).values for game in games))


def test_models_and_scores_may_write_into_what_they_get() -> None:
    held = np.empty(6)

    class Line:
        def __init__(self, slope: float) -> None:
            self.slope = slope

        def predict(self, X: np.ndarray) -> np.ndarray:
            np.multiply(X[:, 0], self.slope, out=held)
            X[:] = 0
            return held

    def distance(true: np.ndarray, predicted: np.ndarray) -> float:
        found = -float(np.abs(true - predicted).mean())
        true.sort()
        predicted[:] = 0
        return found

    X, y = np.arange(6.0)[::-1, None].copy(), np.array([3.0, 1, 4, 1, 5, 9])
    models = [Line(1.0), Line(3.0)]
    game = ff.EnsembleGame(models, X, y, vote="mean", scoring=distance, fallback=0.0)
    S = enumerate_coalitions(2)
    means = [np.zeros(6), X[:, 0], 3 * X[:, 0], 2 * X[:, 0]]
    wanted = [0.0, *(-np.abs(y - mean).mean() for mean in means[1:])]
    assert_allclose(game.worths(S), wanted)
    assert_allclose(game.worths(S), wanted)
    assert X[0, 0] == 5
    assert y[0] == 3
