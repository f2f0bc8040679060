"""Columns that count as one feature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from games.features.models import curved


def test_groups_play_as_one(rng):
    X, background = rng.integers(0, 3, (2, 5)) * 1.0, rng.integers(0, 3, (8, 5)) * 1.0
    for groups in ({"pair": [3, 0], "tail": [4]}, ["pair", 1, 2, "pair", "tail"]):
        game = ff.FeatureGame(curved, X, background, groups=groups)
        assert set(game.players) == {"pair", "tail", 1, 2}
        at = [game.players.index(name) for name in ("pair", 1, 2, "pair", "tail")]
        for x, table in zip(X, game.table(), strict=True):
            wanted = [curved(np.where(S[at], x, background)).mean() for S in brute.coalitions(4)]
            assert_allclose(table, wanted, atol=1e-12)
        assert_allclose(game.worths(brute.coalitions(4)), game.table(), atol=1e-12)
        assert game.info.data[0, game.players.index("pair")] == f"{X[0, 0]}, {X[0, 3]}"
    for groups, sentence in (
        ({"pair": [0, 9]}, "name a column 9"),
        ({"a": [0], "b": [0]}, "in two groups"),
        (["a"], "1 labels for 5 columns"),
        ({"a": []}, "no columns"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ff.FeatureGame(curved, X, background, groups=groups)


def test_columns_may_change_places_in_groups(rng):
    """Players of one column each, named in another order than the columns."""
    X, background = rng.integers(0, 3, (2, 4)) * 1.0, rng.integers(0, 3, (8, 4)) * 1.0
    game = ff.FeatureGame(curved, X, background, groups={"last": [3], "first": [0]})
    assert game.players == ("last", "first", 1, 2)
    assert_allclose(game.table(), game.worths(brute.coalitions(4)), atol=1e-12)
    assert_array_equal(game.info.data[:, 0], X[:, 3])
