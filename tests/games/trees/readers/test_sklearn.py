"""Reading the trees of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import fairfield as ff
from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    LETTERS,
    ROWS,
    SIGNS,
    SKLEARN,
    X,
    Y,
    fitted,
    with_gaps,
)


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("name", SKLEARN)
def test_every_model(name, gaps, rng):
    models.check_model(name, gaps, rng)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(), HistGradientBoostingRegressor()], ids=["forest", "histogram"]
)
def test_a_model_must_be_fitted(model):
    with pytest.raises(NotFittedError):
        TreeGame(model, X)


def test_what_is_not_a_tree_model_is_refused():
    with pytest.raises(TypeError, match=r"LinearRegression is not a tree model.*FeatureGame"):
        TreeGame(LinearRegression().fit(X, Y), X)
    with pytest.raises(TypeError, match=r"starts from another model.*FeatureGame"):
        TreeGame(GradientBoostingRegressor(init=DummyRegressor(), n_estimators=2).fit(X, Y), X)
    both = RandomForestClassifier(2).fit(X, np.c_[SIGNS, LETTERS == "a"])
    with pytest.raises(TypeError, match="predicts 2 labels at once"):
        TreeGame(both, X)


def test_missing_values_are_refused_where_the_model_refuses_them():
    model, _, _, _ = fitted("boosting")
    with pytest.raises(ValueError, match="NaN"):
        TreeGame(model, with_gaps(X), X)


def test_the_logarithm_of_the_anomaly_score_is_a_sum_over_trees():
    model = IsolationForest(n_estimators=7, max_samples=64, max_features=4, random_state=0).fit(X)
    found = ff.explain(model, X[ROWS], X[BACKGROUND], "shapley")
    assert found.game == "TreeGame: 4 rows of 6 features, for the log2 of the anomaly score"
    np.testing.assert_allclose(found.grand, np.log2(-model.score_samples(X[ROWS])), atol=1e-12)
    np.testing.assert_allclose(found.values.sum(axis=1), found.grand - found.empty, atol=1e-12)
    for asked in ("margin", "probability"):
        with pytest.raises(ValueError, match=r"decision_function is 2 to the power.*FeatureGame"):
            TreeGame(model, X[ROWS], output=asked)


def test_the_decision_function_of_an_isolation_forest_goes_to_the_feature_game():
    model = IsolationForest(n_estimators=7, contamination=0.1, random_state=0).fit(X)
    reason = r"explains the margin \(IsolationForest.decision_function\).*no such sum"
    with pytest.warns(UserWarning, match=reason):
        found = ff.explain(model, X[ROWS], X[BACKGROUND][:3], "shapley", output="margin")
    assert found.game.startswith("FeatureGame")
    np.testing.assert_allclose(found.grand, model.decision_function(X[ROWS]), atol=1e-12)
    with pytest.raises(ValueError, match="no such sum"):
        ff.explain(model, X[ROWS], output="margin")


def test_some_columns_of_a_frame():
    """Trees that see other columns each count them as the model does, with names as without."""
    model = IsolationForest(n_estimators=9, max_features=2, random_state=1)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named, bare = (TreeGame(model.fit(data), data[:4]) for data in (frame, X))
    assert named.players == tuple("abcdef")
    np.testing.assert_array_equal(named.extension().shapley(), bare.extension().shapley())
    assert bare.worths(np.ones((1, COLUMNS), bool)).shape == (4, 1)
