"""Terms from codes: beside those of a walk, with little room, and for some of the rows."""

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.products import interventional
from games.trees.models import BACKGROUND, COLUMNS, X, corners, fitted

FOREST = fitted("forest")[0]


def game_of(rows):
    return TreeGame(FOREST, rows, X[BACKGROUND])


@pytest.mark.parametrize("short", [0, 3, 4, 5, 11])
def test_short_and_long_paths_side_by_side(short, rng, monkeypatch):
    x = corners(rng, (20, COLUMNS))
    wanted = game_of(X[:20]).extension()
    monkeypatch.setattr(interventional, "MANY", 0)
    monkeypatch.setattr(interventional, "SHORT", short)
    found = game_of(X[:20]).extension()
    for reading in ("value", "gradient", "hessian"):
        ours, theirs = (getattr(each, reading)(x) for each in (found, wanted))
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_little_room(rng, monkeypatch):
    x = corners(rng, (90, COLUMNS))
    wanted = game_of(X[:90]).extension()
    monkeypatch.setattr(interventional, "CAPACITY", 2000)
    monkeypatch.setattr(interventional, "KEPT", 100_000)
    bounded = game_of(X[:90]).extension()
    for _ in range(2):
        np.testing.assert_allclose(bounded.gradient(x), wanted.gradient(x), atol=1e-12)
    assert bounded._kept
    assert bounded._ahead


def test_some_rows_share_the_terms_of_all(rng):
    x = corners(rng, (100, COLUMNS))
    part, gradient = game_of(X[:100]).extension(), game_of(X[:100]).extension().gradient(x)
    left = np.arange(100)
    for count in (95, 80, 79, 40, 3, 1):
        some = np.sort(rng.permutation(len(left))[:count])
        part, left = part.rows(some), left[some]
        assert not part._ahead
        assert all(3 * block.size <= 4 * count for block in part._kept)
        np.testing.assert_allclose(part.gradient(x[left]), gradient[left], atol=1e-12)
