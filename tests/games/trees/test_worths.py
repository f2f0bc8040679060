"""Worths by their definition."""

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
)

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    assert_right_at_corners,
    make,
)


def test_ten_thousand_background_rows(rng):
    wide, y = make(3, 11_000, 12)
    model = HistGradientBoostingRegressor(max_iter=30).fit(wide[:1000], y[:1000])
    game = TreeGame(model, wide[:5], wide[1000:])
    empty = game.worths(np.zeros((1, 12), bool))[0, 0]
    np.testing.assert_allclose(empty, model.predict(wide[1000:]).mean(), atol=1e-10)
    assert_right_at_corners(game, rng)
