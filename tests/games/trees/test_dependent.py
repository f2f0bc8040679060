"""Path-dependent games by walks down the trees."""

from types import SimpleNamespace

import numpy as np
import pytest

from fairfield.games.trees import dependent
from fairfield.games.trees.extension import DependentExtension, Forest
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.nodes import Tree, join
from fairfield.games.trees.worths import extent
from games.trees.models import COLUMNS, X, assert_right_at_corners, corners, fitted, table_of


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("side_by_side", [1, 7, 256])
@pytest.mark.parametrize("name", ["boosting", "histogram with categories", "tree of constants"])
def test_a_walk_adds_up_points_by_their_weights(name, side_by_side, order, rng, monkeypatch):
    monkeypatch.setattr(dependent, "SIDE_BY_SIDE", side_by_side)
    game = TreeGame(fitted(name)[0], X[:9])
    forest, table = game.forest, table_of(game)
    points, weights = corners(rng, (3, COLUMNS, 9)), np.array([0.5, 2.0, -1.0])
    pairs = COLUMNS * (COLUMNS - 1) // 2
    worths, values = np.ones(9), np.ones((COLUMNS if order == 1 else pairs, 9))
    depth = int(forest.depth.max())
    dependent.walk(forest.nodes, depth, points, weights, order, game.rows, worths, values)
    at = points.swapaxes(1, 2)
    centred = table.value(at) - forest.intercept[0]
    np.testing.assert_allclose(worths - 1, weights @ centred, atol=1e-10)
    if order == 1:
        wanted = np.einsum("k,kri->ir", weights, table.gradient(at))
    else:
        second, first = np.tril_indices(COLUMNS, -1)
        wanted = np.einsum("k,krij->ijr", weights, table.hessian(at))[second, first]
    np.testing.assert_allclose(values - 1, wanted, atol=1e-10)


def test_paths_may_have_any_number_of_features(rng):
    """More than can be followed with a background: a chain of splits on one feature each."""
    count = 80
    split = np.arange(2 * count + 1) % 2 == 0
    split[-1] = False
    tree = Tree(
        np.where(split, np.arange(len(split)) + 1, -1),
        np.where(split, np.arange(len(split)) + 2, -1),
        np.arange(len(split)) // 2 % count,
        np.zeros(len(split)),
        np.zeros(len(split), bool),
        rng.normal(size=len(split)),
        np.repeat(np.arange(count + 1.0, 0, -1), 2)[:-1],
    )
    nodes, intercept = join([tree])
    depth, degree = extent(nodes)
    assert degree.tolist() == depth.tolist() == [count]
    forest = Forest(nodes, intercept, count, np.empty((count, 0)), depth, degree)
    rows = rng.normal(size=(count, 3))
    closed = DependentExtension(forest, rows, (3,))
    assert_right_at_corners(SimpleNamespace(
        players=range(count), extension=lambda: closed,
        worths=lambda coalitions: forest.worths(rows, coalitions)[:, 0],
    ), rng)  # fmt: skip


def test_the_mean_of_the_training_rows_is_worth_nobody():
    model, _, _, _ = fitted("tree")
    game = TreeGame(model, X[:2])
    nobody = game.worths(np.zeros((1, COLUMNS), bool))[0, 0]
    np.testing.assert_allclose(game.extension().ends()[0], nobody, atol=1e-12)
    np.testing.assert_allclose(nobody, model.predict(X).mean(), atol=1e-10)
