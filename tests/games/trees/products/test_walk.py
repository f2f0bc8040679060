"""Walking down large and deep trees."""

import numpy as np
import pytest
from sklearn.ensemble import (
    RandomForestRegressor,
)

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    assert_right_at_corners,
    corners,
    make,
    shap_values,
)


@pytest.mark.parametrize("with_background", [True, False], ids=["interventional", "dependent"])
def test_unbounded_forests(with_background, rng):
    wide, y = make(4, 1500, 30)
    noisy = y + rng.normal(size=len(y)) * 3
    model = RandomForestRegressor(3, random_state=0).fit(wide, noisy)
    assert max(tree.get_depth() for tree in model.estimators_) > 20
    background = wide[:60] if with_background else None
    game = TreeGame(model, wide[100:104], background)
    assert_right_at_corners(game, rng)
    theirs = shap_values(model, wide[100:104], background)
    np.testing.assert_allclose(game.extension().shapley(), theirs, atol=1e-6)
    x = corners(rng, (4, 30))
    up, down = x.copy(), x.copy()
    up[:, 7], down[:, 7] = 1, 0
    closed = game.extension()
    step = closed.value(up) - closed.value(down)
    np.testing.assert_allclose(closed.gradient(x)[:, 7], step, atol=1e-9)
    bend = closed.gradient(up) - closed.gradient(down)
    np.testing.assert_allclose(closed.hessian(x)[:, 7], bend, atol=1e-9)
