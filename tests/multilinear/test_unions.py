"""Nested unions: how they are read, and random orders of them."""

from collections import Counter

import numpy as np
import pytest

import fairfield as ff
from fairfield.multilinear.unions import UnionTree, read_unions


@pytest.mark.parametrize(
    ("unions", "message"),
    [
        ({"a": [0, 7]}, "names a player 7; the players are {0, 1, 2}"),
        ({"a": [0], "b": [0, 1]}, "player 0 is in two unions"),
        ({"a": [0, {"b": [1, 2]}]}, "union 'a' holds .* beside players"),
        ([[0, [1, 2]], [3]], "union 0 holds .* beside players"),
        ({"a": []}, "union 'a' has no players"),
        ([0, 1], "2 labels for 3 players"),
        (None, "unions are None; give the union of each player, lists of players, or"),
        ("abc", "unions are 'abc'; give the union of each player"),
        (np.array([[0, 1, 1.0, 2], [0, 2, 1.0, 2]]), "unions= are no linkage of SciPy"),
        (np.array([[0, 4, 1.0, 2], [1, 2, 1.0, 2]]), "unions= are no linkage of SciPy"),
        (np.array([[0, 3, 1.0, 2], [1, 2, 1.0, 2]]), "joined once, and later than it was made"),
    ],
)
def test_unions_that_do_not_fit_are_refused_before_a_worth(unions, message):
    def never(S):
        raise AssertionError

    with pytest.raises(ValueError, match=message):
        ff.owen(never, unions, players=3)


def test_random_orders_keep_unions_together_and_are_equally_likely(rng):
    root = read_unions({"a": {"b": [0, 2], "c": 4}, "d": [1, 3]}, range(5))
    assert root == UnionTree((), (UnionTree((4,), (UnionTree((0, 2)),)), UnionTree((1, 3))))
    orders = Counter(map(tuple, root.draw(16000, rng).tolist()))
    assert len(orders) == 2 * 2 * 2 * 2
    for order in orders:
        places = np.argsort(order)
        assert abs(places[0] - places[2]) == abs(places[1] - places[3]) == 1
        assert places[4] in (0, 2, 4)
    assert np.abs(np.array(list(orders.values())) - 1000).max() < 5 * np.sqrt(1000)


def test_the_game_of_a_family_has_all_siblings_as_one(rng):
    """Owen's values of one family are those of the game in which others are joined."""
    table, unions = rng.normal(size=2**7), {"a": {"b": [0, 3], "c": [1, 5, 6]}, "d": [2, 4]}
    expected = ff.owen(table, unions).values
    for family in read_unions(unions, range(7)).families():
        parts, nested = family.joined()
        holds = np.array([[i in part for i in range(7)] for part in parts])
        joined = ff.FunctionGame(
            lambda S, holds=holds: ff.TableGame(table).worths(S @ holds), len(parts)
        )
        own = list(family.union.alone)
        found = ff.owen(joined, nested).values[: len(own)]
        np.testing.assert_allclose(found, expected[own], rtol=0, atol=1e-12)
