"""Reading the trees of scikit-learn."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from fairfield.games.trees.game import TreeGame
from games.trees import models
from games.trees.models import (
    LETTERS,
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
