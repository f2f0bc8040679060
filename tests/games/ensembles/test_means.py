"""Means of predicted numbers: fast worths and a closed form."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from games.examples import assert_same, table_of


@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
@pytest.mark.parametrize("models", [1, 6])
def test_squares_of_means_and_their_closed_form(
    scoring: str | None, models: int, rng: np.random.Generator
) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth = rng.normal(size=30) + 5
    numbers = truth + rng.normal(size=(models, 30)) + rng.normal(size=(models, 1))
    weights = rng.random(models) + 0.5
    coalitions = enumerate_coalitions(models)
    for given in (None, weights):
        game = ff.EnsembleGame(
            numbers, None, truth, vote="mean", scoring=scoring, weights=given, fallback=-0.3
        )
        own = np.ones(models) if given is None else given
        means = [own[S] @ numbers[S] / own[S].sum() for S in coalitions[1:]]
        score = metrics.r2_score if scoring is None else metrics.mean_squared_error
        sign = 1 if scoring is None else -1
        wanted = [-0.3, *(sign * score(truth, mean) for mean in means)]
        assert_same(game.worths(coalitions), np.array(wanted))
    equal = ff.EnsembleGame(
        numbers, None, truth, vote="mean", scoring=scoring, weights=[2] * models
    )
    closed, table = equal.extension(), table_of(equal)
    assert closed is not None
    assert (game.extension() is None) == (models > 1)
    x = rng.random((12, models))
    x[::3, :2], x[1::3, 3:5], x[0], x[1] = 0.0, 1.0, 0.0, 1.0
    assert_same(closed.value(x), table.value(x))
    assert_same(closed.gradient(x), table.gradient(x))
    assert_same(closed.hessian(x), table.hessian(x))
    assert_same(closed.shapley(), table.shapley())


def test_two_hundred_regressors_share_their_score(rng: np.random.Generator) -> None:
    truth = rng.normal(size=50)
    numbers = truth + rng.normal(size=(200, 50))
    game = ff.EnsembleGame(numbers, None, truth, vote="mean")
    v = ff.shapley(game)
    assert v.stop == "exact"
    assert v.values.sum() == pytest.approx(float(v.grand - v.empty), abs=1e-10)
