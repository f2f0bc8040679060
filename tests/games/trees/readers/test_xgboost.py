"""Reading the trees of XGBoost."""

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    XGBOOST,
    X,
    Y,
    fitted,
)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", XGBOOST)
def test_every_model(name, gaps, rng):
    models.check_model(name, gaps, rng)


def test_boosters_without_a_wrapper():
    model, _, _, _ = fitted("xgboost of two classes")
    booster = model.get_booster()
    same = TreeGame(model, X[ROWS], X[BACKGROUND]).extension().shapley()
    np.testing.assert_array_equal(
        TreeGame(booster, X[ROWS], X[BACKGROUND]).extension().shapley(), same
    )
    other = TreeGame(booster, X[ROWS], X[BACKGROUND], output=0)
    np.testing.assert_allclose(other.extension().shapley(), -same, atol=1e-12)


def test_a_booster_predicts_with_all_its_rounds_a_wrapper_with_the_best():
    xgboost = pytest.importorskip("xgboost")
    model, _, _, _ = fitted("xgboost stopped early")
    booster, everyone = model.get_booster(), np.ones((1, COLUMNS), bool)
    all_rounds = booster.predict(xgboost.DMatrix(X[ROWS]), output_margin=True)
    worth = TreeGame(booster, X[ROWS]).worths(everyone)[:, 0]
    np.testing.assert_allclose(worth, all_rounds, rtol=1e-6)
    best = TreeGame(model, X[ROWS]).worths(everyone)[:, 0]
    np.testing.assert_allclose(best, model.predict(X[ROWS]), rtol=1e-6)
    assert np.abs(worth - best).max() > 1e-4


def test_what_has_no_trees_of_numbers_is_refused():
    xgboost = pytest.importorskip("xgboost")
    with pytest.raises(TypeError, match="booster gblinear has no trees"):
        TreeGame(xgboost.XGBRegressor(booster="gblinear", n_estimators=2).fit(X, Y), X)
    joint = xgboost.XGBRegressor(
        n_estimators=2, multi_strategy="multi_output_tree", tree_method="hist"
    )
    with pytest.raises(TypeError, match=r"multi_output_tree.*one_output_per_tree"):
        TreeGame(joint.fit(X, np.c_[Y, Y]), X, output=0)
