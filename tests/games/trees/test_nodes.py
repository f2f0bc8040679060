"""The nodes of all trees in one form."""

import numpy as np
from sklearn.ensemble import (
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    BACKGROUND,
    COLUMNS,
    ROWS,
    X,
    Y,
    corners,
)


def test_a_large_mean_costs_no_digits(rng):
    x = corners(rng, (4, COLUMNS))
    near, far = (
        TreeGame(RandomForestRegressor(5, random_state=0).fit(X, y), X[ROWS], X[BACKGROUND])
        for y in (np.round(Y * 8), np.round(Y * 8) + 2.0**20)
    )
    near_slope, far_slope = (game.extension().gradient(x) for game in (near, far))
    np.testing.assert_allclose(near_slope, far_slope, atol=1e-5)
    assert far.extension().centred(x)[0].max() < 1e3


def test_a_model_of_one_leaf():
    model = DecisionTreeRegressor().fit(X, np.full(len(X), 7.0))
    for background in (X[:5], None):
        closed = TreeGame(model, X[ROWS], background).extension()
        np.testing.assert_allclose(closed.value(np.full(COLUMNS, 0.3)), 7.0)
        assert not closed.shapley().any()
        assert not closed.gradient(np.full(COLUMNS, 0.3)).any()
