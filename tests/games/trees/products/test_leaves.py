"""The cells of a leaf: backgrounds as sets of bits."""

import pytest

from fairfield.games.trees.game import TreeGame
from games.trees.models import (
    ROWS,
    X,
    assert_right_at_corners,
    fitted,
)


@pytest.mark.parametrize("size", [1, 63, 64, 65, 128])
def test_backgrounds_around_a_word(size, rng):
    model, _, _, _ = fitted("boosting")
    assert_right_at_corners(TreeGame(model, X[ROWS], X[100 : 100 + size]), rng)
