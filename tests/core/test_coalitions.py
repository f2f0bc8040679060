"""Coalitions and their rows in a table: player 0 is the lowest bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairfield.core.arrays import on_host
from fairfield.core.coalitions import (
    coalition_of,
    coalitions_in,
    enumerate_coalitions,
    members,
    rows_of,
    sizes,
    spell,
)


def test_a_row_holds_the_players_of_its_bits():
    every = enumerate_coalitions(3)
    assert every.dtype == bool
    assert_array_equal(every[[0, 1, 6, 7]], [[0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]])
    assert_array_equal(enumerate_coalitions(3, 2, 5), every[2:5])
    assert_array_equal(sizes(3), every.sum(axis=1))


def test_rows_and_coalitions_are_inverse(rng):
    rows = rng.integers(0, 2**40, size=(3, 5))
    coalitions = coalitions_in(rows, 40)
    assert coalitions.shape == (3, 5, 40)
    assert_array_equal(rows_of(coalitions), rows)


def test_rows_of_other_libraries_give_their_coalitions(xp):
    found = coalitions_in(xp.asarray([1, 6]), 3)
    assert found.dtype == xp.bool
    assert not isinstance(found, np.ndarray)
    assert_array_equal(on_host(found, bool), [[True, False, False], [False, True, True]])


def test_coalitions_are_named_by_their_players():
    players = ["ann", "bob", 3]
    assert_array_equal(coalition_of({3, "ann"}, players), [True, False, True])
    assert not coalition_of([], players).any()
    assert members(np.array([True, False, True]), players) == ["ann", 3]
    with pytest.raises(ValueError, match=r"no player 'eve'; the players are \{ann, bob, 3\}"):
        coalition_of(["ann", "eve"], players)
    with pytest.raises(ValueError, match="'ann' is one string; name the players in a list"):
        coalition_of("ann", players)


def test_long_coalitions_are_shortened():
    assert spell([]) == "{}"
    assert spell(range(12)).endswith("10, 11}")
    assert spell(range(13)).endswith("11, … 1 more}")
