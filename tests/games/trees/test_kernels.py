"""Walking down large and deep trees."""

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    ROWS,
    X,
    assert_right_at_corners,
    corners,
    fitted,
    make,
    shap_values,
)


def test_ten_thousand_background_rows(rng):
    wide, y = make(3, 11_000, 12)
    model = HistGradientBoostingRegressor(max_iter=30).fit(wide[:1000], y[:1000])
    game = TreeGame(model, wide[:20], wide[1000:])
    empty = game.worths(np.zeros((1, 12), bool))[0, 0]
    np.testing.assert_allclose(empty, model.predict(wide[1000:]).mean(), atol=1e-10)
    assert_right_at_corners(game, rng)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 128])
def test_backgrounds_around_a_word(size, rng):
    model, _, _, _ = fitted("boosting")
    assert_right_at_corners(TreeGame(model, X[ROWS], X[100 : 100 + size]), rng)


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


def staircase(steps):
    """A tree whose longest path asks a new feature at every split."""
    return np.eye(steps + 1), np.arange(steps + 1.0) ** 2


@pytest.mark.parametrize("with_background", [True, False], ids=["interventional", "dependent"])
def test_paths_of_sixty_four_players(with_background, rng):
    rows, y = staircase(64)
    model = DecisionTreeRegressor(random_state=0).fit(rows, y)
    game = TreeGame(model, rows[:3], rows if with_background else None)
    assert game.extension().degree == 64
    assert_right_at_corners(game, rng)


def test_longer_paths_are_refused():
    rows, y = staircase(70)
    model = DecisionTreeRegressor(random_state=0).fit(rows, y)
    with pytest.raises(ValueError, match="splits on 70 features, and at most 64 can be followed"):
        TreeGame(model, rows[:3], rows)
    grouped = TreeGame(model, rows[:3], rows, groups=np.arange(71) // 2)
    assert grouped.extension().degree <= 36
