"""Counts of rows by their codes, and the two ways to look values up."""

import numpy as np
import pytest

from fairfield.games.trees.game import TreeGame
from fairfield.games.trees.tables.groups import TOGETHER, cut
from fairfield.games.trees.tables.look_up import by_code, count_codes, look_up, look_up_few
from games.trees.models import BACKGROUND, COLUMNS, X, fitted, table_of
from games.trees.tables.examples import NAMES, made


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


@pytest.mark.parametrize("count", [1, TOGETHER, TOGETHER + 3])
def test_each_row_has_one_code_in_each_group(count):
    game = TreeGame(fitted("boosting")[0], X[:1], np.tile(X, (2, 1))[:count])
    forest = game.forest
    groups = cut(forest.nodes, np.arange(len(forest.nodes.roots)))
    start = np.cumsum(np.append(0, 1 << np.diff(groups.bit)))
    counts = count_codes(forest.nodes, groups, forest.background, start)
    np.testing.assert_array_equal(np.add.reduceat(counts, start[:-1]), count)
