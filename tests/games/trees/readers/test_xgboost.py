"""Reading the trees of XGBoost."""

import json

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.readers.registry import read_model
from games.trees import models
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    SIGNS,
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
    with pytest.raises(TypeError, match="has no rounds, so no trees"):
        TreeGame(xgboost.train({}, xgboost.DMatrix(X, Y), 0), X)


@pytest.mark.parametrize(
    "name",
    ["xgboost of joint answers", "xgboost of joint classes", "xgboost of three classes",
     "xgboost of classes with dropped trees", "xgboost of joint answers, stopped early"],
)  # fmt: skip
@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_all_outputs_at_once(name, background, rng):
    model, _, _, _ = fitted(name)
    together = TreeGame(model, X[ROWS], background, output="all")
    own = model.predict(X[ROWS], output_margin=True)
    assert together.batch == own.shape
    grand = together.worths(np.ones((1, COLUMNS), bool))[..., 0]
    np.testing.assert_allclose(grand, own, rtol=0, atol=1e-5)
    values = together.extension().shapley()
    for column in range(own.shape[1]):
        alone = TreeGame(model, X[ROWS], background, output=column).extension().shapley()
        np.testing.assert_allclose(values[:, column], alone, rtol=0, atol=1e-10)
    models.assert_is_its_table(together, rng)


def test_joint_trees_without_covers_are_refused(monkeypatch):
    """As versions before 3.2 write them."""
    model, _, _, _ = fitted("xgboost of joint answers")
    whole = json.loads(model.get_booster().save_raw("json"))
    for tree in whole["learner"]["gradient_booster"]["model"]["trees"]:
        del tree["leaf_weights"], tree["sum_hessian"]
    written = json.dumps(whole).encode()
    monkeypatch.setattr(type(model.get_booster()), "save_raw", lambda *_: written)
    with pytest.raises(
        TypeError, match=r"before version 3.2 .*multi_output_tree'; fit with a newer"
    ):
        TreeGame(model, X[ROWS], output=0)


@pytest.mark.parametrize("sign", [0.1, float(np.float32(0.1)), 1e-50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sign_for_missing_is_compared_in_single_precision(sign, dtype):
    xgboost = pytest.importorskip("xgboost")
    rows = np.array([[0.1, 1e-50], [0.2, 0.0], [0.3, 1.0], [0.4, 2.0]], dtype)
    model = xgboost.XGBRegressor(n_estimators=2, missing=sign, n_jobs=1).fit(rows, np.arange(4.0))
    seen = np.isfinite(read_model(model).encode(rows)).sum()
    assert seen == xgboost.DMatrix(rows, missing=sign).num_nonmissing() < 8


def test_weights_of_dropped_trees_matter():
    """The proof that the DART models above are no plain ones."""
    stopped, _, _, _ = fitted("xgboost with dropped trees, stopped early")
    assert stopped.get_booster().num_boosted_rounds() > stopped.best_iteration + 1
    classes, _, _, _ = fitted("xgboost of classes with dropped trees")
    for model in (stopped, classes):
        learner = json.loads(model.get_booster().save_raw("json"))["learner"]
        assert len(set(learner["gradient_booster"]["weight_drop"])) > 2


def test_the_margins_of_survival_models_have_names():
    xgboost = pytest.importorskip("xgboost")
    cox, _, _, _ = fitted("xgboost of hazards")
    game = TreeGame(cox, X[ROWS])
    assert game.info.worth_name == "log hazard ratio"
    grand = game.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(np.exp(grand), cox.predict(X[ROWS]), rtol=1e-5)
    times, late = np.exp(Y / 3), np.exp(Y / 3) * np.where(SIGNS, 1.0, np.inf)
    data = xgboost.DMatrix(X, label_lower_bound=times, label_upper_bound=late)
    aft = xgboost.train({"objective": "survival:aft", "max_depth": 3}, data, 5)
    game = TreeGame(aft, X[ROWS], X[BACKGROUND])
    assert game.info.worth_name == "log of the time"
    grand = game.worths(np.ones((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(np.exp(grand), aft.predict(xgboost.DMatrix(X[ROWS])), rtol=1e-5)
    with pytest.raises(ValueError, match="is its log of the time; leave out output="):
        TreeGame(aft, X[ROWS], output="probability")
