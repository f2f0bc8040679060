"""Terms that are kept, made again, or too many for the room."""

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.products import interventional
from games.trees.models import BACKGROUND, COLUMNS, X, corners, fitted


@pytest.mark.parametrize("kept", [2**30, 0], ids=["kept", "made again"])
def test_some_rows_of_a_batch(kept, rng, monkeypatch):
    monkeypatch.setattr(interventional, "KEPT", kept)
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:20], X[BACKGROUND])
    whole = game.extension()
    x = corners(rng, (20, COLUMNS))
    for chosen in (slice(3, 9), np.array([17, 2, 5]), np.array([4, 4])):
        part = whole.rows(chosen)
        assert part.batch == (len(x[chosen]),)
        np.testing.assert_allclose(part.gradient(x[chosen]), whole.gradient(x)[chosen], atol=1e-12)
        again = part.rows(np.array([1, 0]))
        np.testing.assert_allclose(again.shapley(), whole.shapley()[chosen][[1, 0]], atol=1e-12)


def test_little_room_gives_the_same_answers(rng, monkeypatch):
    model, _, _, _ = fitted("forest")
    game = TreeGame(model, X[:20], X[BACKGROUND])
    x = corners(rng, (20, COLUMNS))
    wanted = game.extension()
    monkeypatch.setattr(interventional, "CAPACITY", 300)
    monkeypatch.setattr(interventional, "KEPT", 100_000)
    monkeypatch.setattr(interventional, "TOGETHER", 7)
    bounded = game.extension()
    for _ in range(2):
        np.testing.assert_allclose(bounded.gradient(x), wanted.gradient(x), atol=1e-12)
        np.testing.assert_allclose(bounded.shapley(), wanted.shapley(), atol=1e-12)
    assert 0 < len(bounded._kept) < 200
    assert bounded._ahead
    np.testing.assert_allclose(bounded.hessian(x), wanted.hessian(x), atol=1e-12)
