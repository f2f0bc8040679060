"""Reading the trees of LightGBM."""

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    LIGHTGBM,
    ROWS,
    X,
    Y,
    fitted,
    make,
)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", LIGHTGBM)
def test_every_model(name, gaps, rng):
    models.check_model(name, gaps, rng)


def test_boosters_without_a_wrapper():
    model, _, _, _ = fitted("lightgbm of two classes")
    booster = model.booster_
    same = TreeGame(model, X[ROWS], X[BACKGROUND]).extension().shapley()
    np.testing.assert_array_equal(
        TreeGame(booster, X[ROWS], X[BACKGROUND]).extension().shapley(), same
    )
    other = TreeGame(booster, X[ROWS], X[BACKGROUND], output=0)
    np.testing.assert_allclose(other.extension().shapley(), -same, atol=1e-12)


def test_categories_beyond_those_known():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = make()
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, min_child_samples=5, n_jobs=1)
    model.fit(X, y, categorical_feature=[1])
    rows = np.repeat(X[:1], 5, axis=0)
    rows[:, 1] = [1, 3, 99, -1, np.nan]
    worths = TreeGame(model, rows).worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(worths, model.predict(rows), atol=1e-12)


def test_models_at_the_leaves_are_refused():
    lightgbm = pytest.importorskip("lightgbm")
    linear = lightgbm.LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1).fit(X, Y)
    with pytest.raises(TypeError, match="linear_tree has models at its leaves"):
        TreeGame(linear, X)
