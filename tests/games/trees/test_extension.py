"""The closed form of tree games against their table and shap."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    X,
    assert_is_its_table,
    corners,
    fitted,
    make,
    shap_values,
    table_of,
)


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize(
    "name", ["forest", "boosting", "histogram", "xgboost", "xgboost of two classes", "lightgbm"]
)
def test_shapley_values_are_those_of_shap(name, background):
    if name == "histogram" and background is not None:
        pytest.skip("shap's values are not those of its own definition, which ours are")
    model, output, _, _ = fitted(name)
    theirs = shap_values(model, X[:20], background)
    ours = TreeGame(model, X[:20], background, output=output).extension().shapley()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
@pytest.mark.parametrize(
    ("name", "column"), [("forest of classes", 2), ("xgboost of three classes", 2)]
)
def test_classes_are_those_of_shap(name, column, background):
    model, output, _, _ = fitted(name)
    theirs = shap_values(model, X[:20], background, column)
    ours = TreeGame(model, X[:20], background, output=output).extension().shapley()
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_criteria_are_those_of_the_table(background):
    model, _, _, _ = fitted("boosting")
    game = TreeGame(model, X[ROWS], background)
    table = ff.TableGame(game.worths(enumerate_coalitions(COLUMNS)))
    for criterion in (ff.shapley, ff.banzhaf, ff.leave_one_out):
        np.testing.assert_allclose(criterion(game).values, criterion(table).values, atol=1e-10)
    ours, theirs = (ff.variational_index(g, temperature=0.3) for g in (game, table))
    np.testing.assert_allclose(ours.values, theirs.values, atol=1e-10)
    assert ours.method == "closed form: trees"
    np.testing.assert_allclose(ours.grand, model.predict(X[ROWS]), atol=1e-12)
    for criterion in ("k_sii", "stii", "fsii", "fbii", "moebius"):
        ours, theirs = (ff.interactions(g, criterion, order=3) for g in (game, table))
        np.testing.assert_allclose(ours.values, theirs.values, atol=1e-10)


def test_twelve_players_and_xgboost(rng):
    xgboost = pytest.importorskip("xgboost")
    wide, y = make(2, 600, 12)
    model = xgboost.XGBRegressor(n_estimators=30, max_depth=6, n_jobs=1).fit(wide, y)
    game = TreeGame(model, wide[:3], wide[100:170])
    assert game.extension().degree <= 6
    assert_is_its_table(game, rng)


def test_points_of_all_shapes(rng):
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[ROWS], X[BACKGROUND])
    closed, table = game.extension(), table_of(game)
    for shape in ((COLUMNS,), (4, COLUMNS), (3, 4, COLUMNS), (2, 3, 4, COLUMNS)):
        x = corners(rng, shape)
        for reading in ("value", "gradient", "hessian"):
            ours, theirs = (getattr(e, reading)(x) for e in (closed, table))
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, atol=1e-10)
    one = TreeGame(model, X[0], X[BACKGROUND])
    assert one.batch == ()
    x = corners(rng, (3, COLUMNS))
    assert one.extension().gradient(x).shape == (3, COLUMNS)
    assert one.extension().shapley().shape == one.info.data.shape == (COLUMNS,)
    np.testing.assert_allclose(one.extension().shapley(), closed.shapley()[0], atol=1e-12)
    with pytest.raises(ValueError, match="last axis must hold one probability per player"):
        closed.gradient(np.ones(3))
    with pytest.raises(ValueError, match="last axis must hold one probability per player"):
        closed.gradient(np.full(3, 0.5))  # which along the diagonal takes another way
    with pytest.raises(ValueError, match="do not match a batch"):
        closed.gradient(np.ones((5, COLUMNS)))


def test_one_background_row_is_a_baseline():
    model, _, own, _ = fitted("boosting")
    game = TreeGame(model, X[ROWS], X[50])
    empty = game.worths(np.zeros((1, COLUMNS), bool))[:, 0]
    np.testing.assert_allclose(empty, own(model, X[50:51])[0], atol=1e-12)


@pytest.mark.parametrize(
    "background", [X[BACKGROUND, :1], None], ids=["interventional", "dependent"]
)
@pytest.mark.parametrize("y", [X[:, 0], X[:, :3]], ids=["one output", "three"])
def test_a_single_player_has_no_pairs(y, background, rng):
    model = DecisionTreeRegressor(max_depth=4).fit(X[:, :1], y)
    output = None if y.ndim == 1 else "all"
    assert_is_its_table(TreeGame(model, X[ROWS, :1], background, output=output), rng)


def test_many_rows_and_one_at_a_time(rng):
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:150])  # more than are walked side by side
    whole, x = game.extension(), corners(rng, (150, COLUMNS))
    for chosen in (slice(60, 70), np.array([149, 2, 64]), np.array([4, 4])):
        part = whole.rows(chosen)
        np.testing.assert_allclose(part.gradient(x[chosen]), whole.gradient(x)[chosen], atol=1e-12)
        np.testing.assert_allclose(part.hessian(x[chosen]), whole.hessian(x)[chosen], atol=1e-12)
        np.testing.assert_allclose(part.shapley(), whole.shapley()[chosen], atol=1e-12)
