"""Reading the trees of LightGBM."""

import numpy as np
import pandas as pd
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
    with pytest.raises(TypeError, match="linear_tree has models at its leaves"):
        TreeGame(linear, X[:, :2], output="nothing such")  # the first thing that is said


def test_square_roots_are_called_so():
    model, _, _, _ = fitted("lightgbm of square roots")
    game = TreeGame(model, X[ROWS])
    assert game.info.worth_name == "square root of the prediction"
    grand = game.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(np.sign(grand) * grand**2, model.predict(X[ROWS]), atol=1e-12)


def test_a_booster_that_stopped_early_predicts_with_its_best_rounds(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    given = {"verbose": -1, "min_child_samples": 5, "num_threads": 1, "learning_rate": 0.5}
    data = lightgbm.Dataset(X[:200], Y[:200])
    booster = lightgbm.train(
        given, data, 100, [data.create_valid(X[200:], Y[200:])],
        callbacks=[lightgbm.early_stopping(3, verbose=False)], keep_training_booster=True,
    )  # fmt: skip
    assert 0 < booster.best_iteration < booster.current_iteration()
    everyone, own = np.ones((1, COLUMNS), bool), booster.predict(X[ROWS])
    worths = TreeGame(booster, X[ROWS]).worths(everyone)[:, 0]
    np.testing.assert_allclose(worths, own, atol=1e-12)
    assert np.abs(own - booster.predict(X[ROWS], num_iteration=100)).max() > 1e-3
    booster.save_model(tmp_path / "booster.txt")
    kept = lightgbm.Booster(model_file=tmp_path / "booster.txt")
    np.testing.assert_array_equal(TreeGame(kept, X[ROWS]).worths(everyone)[:, 0], worths)


def test_what_is_not_fitted_and_columns_without_categories():
    lightgbm = pytest.importorskip("lightgbm")
    with pytest.raises(Exception, match="not fitted yet"):
        TreeGame(lightgbm.LGBMRegressor(), X)
    frame = pd.DataFrame({"a": X[:, 0], "c": pd.Categorical(list("xyz") * (len(X) // 3))})
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1).fit(frame, Y)
    with pytest.raises(ValueError, match="fitted to 1 categorical columns, and the rows have 0"):
        TreeGame(model, frame.astype({"c": str}))
