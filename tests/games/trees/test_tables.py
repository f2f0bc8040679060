"""Tables over codes: counts of rows, and the two ways to look values up."""

import numpy as np
import pytest

from fairfield.core.extension import legendre
from fairfield.games.trees.diagonal import _sizes
from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.groups import TOGETHER, cut
from fairfield.games.trees.tables import by_code, count_codes, fill, look_up, look_up_few
from games.trees.models import BACKGROUND, COLUMNS, X, fitted, table_of

NAMES = {"boosting": None, "histogram with categories": None, "boosting of three classes": "all",
         "forest of classes": "all", "boosting of constants": None}  # fmt: skip


def made(name, background=X[BACKGROUND], order=1):
    """A game, the groups of its trees, and their tables for Shapley values."""
    model, _, _, _ = fitted(name)
    game = TreeGame(model, X[:20], background, output=NAMES[name])
    forest = game.forest
    short = np.flatnonzero(forest.degree <= COLUMNS)
    groups = cut(forest.nodes, short)
    start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
    counts = np.empty(0)
    if background is not None:
        counts = count_codes(forest.nodes, groups, forest.background, start)
        counts /= forest.background.shape[1]
    sizes = _sizes(groups, order)
    entry = np.append(0, np.cumsum(sizes)[:-1])
    table = np.zeros((groups.value.shape[1], sizes.sum()))
    at, weights = legendre(COLUMNS)
    fill(groups, 0, len(sizes), start, counts, at, weights, order, entry, table)
    return game, groups, entry, table


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("background", [X[BACKGROUND], None], ids=["interventional", "dependent"])
def test_both_ways_give_the_values_of_the_table_of_all_worths(name, background):
    game, groups, entry, table = made(name, background)
    nodes, rows = game.forest.nodes, game.rows
    values = np.zeros((len(game.forest.intercept), COLUMNS, rows.shape[1]))
    few = np.zeros_like(values)
    look_up(nodes, groups, 0, len(entry), 1, entry, table, rows, values)
    look_up_few(nodes, groups, entry, by_code(groups, entry, table), rows, few)
    np.testing.assert_array_equal(few, values)
    wanted = table_of(game).shapley().reshape(rows.shape[1], -1, COLUMNS)
    np.testing.assert_allclose(values.transpose(2, 0, 1), wanted, atol=1e-10)


def test_pairs():
    game, groups, entry, table = made("boosting", order=2)
    rows = game.rows
    values = np.zeros((1, COLUMNS * (COLUMNS - 1) // 2, rows.shape[1]))
    look_up(game.forest.nodes, groups, 0, len(entry), 2, entry, table, rows, values)
    wanted = table_of(game).hessian_along_diagonal(*legendre(COLUMNS))
    second, first = np.tril_indices(COLUMNS, -1)
    np.testing.assert_allclose(values[0].T, wanted[:, second, first], atol=1e-10)


@pytest.mark.parametrize("count", [1, TOGETHER, TOGETHER + 3])
def test_each_row_has_one_code_in_each_group(count):
    game = TreeGame(fitted("boosting")[0], X[:1], np.tile(X, (2, 1))[:count])
    forest = game.forest
    groups = cut(forest.nodes, np.arange(len(forest.nodes.roots)))
    start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
    counts = count_codes(forest.nodes, groups, forest.background, start)
    np.testing.assert_array_equal(np.add.reduceat(counts, start[:-1]), count)
