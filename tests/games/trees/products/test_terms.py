"""Products of as many literals as a path has players."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    assert_right_at_corners,
)


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
