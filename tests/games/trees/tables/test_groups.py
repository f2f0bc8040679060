"""Groups at the ends of trees: what codes say of rows."""

import numpy as np
import pytest

from fairfield.games.trees.readers.registry import read_model
from fairfield.games.trees.tables.groups import HEIGHT, branches, cut, encode, room_of
from games.trees.models import X, fitted

NAMES = ["boosting", "histogram with categories", "forest", "stump", "tree of constants"]


def groups_of(name):
    """The trees of a model, their groups, and rows as their splits see them."""
    model, output, _, seen = fitted(name)
    trees = read_model(model, output)
    every = np.arange(len(trees.nodes.roots))
    return trees.nodes, cut(trees.nodes, every), trees.seen(seen[:50])


def codes_of(nodes, groups, g, rows):
    goes, met, code = room_of(nodes, rows.shape[1])
    branches(nodes, groups.tree[g], rows, 0, rows.shape[1], goes)
    encode(groups, g, nodes.roots[groups.tree[g]], goes, rows.shape[1], met, code)
    return code.copy()


def reached(nodes, tree, row):
    """The leaf of a row, and the players whose splits it satisfies on the way to each leaf."""
    from fairfield.games.trees.worths import goes_left

    node = nodes.roots[tree]
    while nodes.left[node] >= 0:
        left = goes_left(nodes, node, row[nodes.feature[node]])
        node = nodes.left[node] if left else nodes.right[node]
    return node


@pytest.mark.parametrize("name", NAMES)
def test_a_row_satisfies_all_players_of_its_own_leaf_alone(name):
    nodes, groups, rows = groups_of(name)
    satisfied = np.zeros((len(nodes.roots), rows.shape[1]), dtype=int)
    worth = np.zeros((len(nodes.roots), rows.shape[1]))
    for g, tree in enumerate(groups.tree):
        code = codes_of(nodes, groups, g, rows).astype(np.int64)
        for leaf in range(groups.leaf[g], groups.leaf[g + 1]):
            own = slice(groups.path[leaf], groups.path[leaf + 1])
            ones, zeros = groups.ones[own, None], groups.zeros[own, None]
            whole = (((code & ones) == ones) & ((code & zeros) == 0)).all(axis=0)
            satisfied[tree] += whole
            worth[tree] += whole * groups.value[leaf, 0]
    np.testing.assert_array_equal(satisfied, 1)
    leaves = [[nodes.value[reached(nodes, t, row), 0] for row in rows.T] for t in range(len(worth))]
    np.testing.assert_array_equal(worth, leaves)


@pytest.mark.parametrize("name", NAMES)
def test_groups_hold_every_leaf_once(name):
    nodes, groups, _ = groups_of(name)
    assert groups.leaf[-1] == (nodes.left < 0).sum() == len(groups.value)
    assert np.diff(groups.leaf).max() <= 1 << HEIGHT
    for g in range(len(groups.tree)):
        players = groups.players[groups.member[g] : groups.member[g + 1]]
        assert len({*players.tolist()}) == len(players)
    # The shares of the leaves of a tree add up to its whole cover.
    shares = np.array([
        groups.share[groups.path[leaf] : groups.path[leaf + 1]].prod()
        for leaf in range(len(groups.value))
    ])  # fmt: skip
    of = np.repeat(groups.tree, np.diff(groups.leaf))
    np.testing.assert_allclose(np.bincount(of, shares), 1.0)


def test_some_trees_alone():
    nodes, every, rows = groups_of("boosting")
    some = cut(nodes, np.array([1, 4]))
    assert {*some.tree.tolist()} == {1, 4}
    where = np.flatnonzero(np.isin(every.tree, [1, 4]))
    for g, same in enumerate(where):
        np.testing.assert_array_equal(
            codes_of(nodes, some, g, rows), codes_of(nodes, every, same, rows)
        )
    assert len(X) >= rows.shape[1]
