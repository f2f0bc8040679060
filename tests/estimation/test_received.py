"""Worths in the order in which they were asked for, and coalitions seen before."""

import numpy as np
from numpy.testing import assert_array_equal

import brute
from fairfield.estimation.received import Received, ends, keys_of, unseen


def test_parts_are_received_in_order(rng):
    received, worths = Received(), rng.normal(size=(2, 7))
    rows = np.zeros((7, 3), dtype=bool)
    received.tell(rows[:4], worths[:, :4])
    assert received.noise() is None
    received.tell(rows[4:], worths[:, 4:], worths[:, 4:] ** 2)
    assert_array_equal(received.worths(), worths)
    assert_array_equal(received.noise(), worths[:, 4:] ** 2)


def test_the_first_row_of_each_unseen_coalition():
    rows = brute.coalitions(10)[[3, 5, 3, 900, 5, 7]]
    keys = keys_of(rows)
    assert keys[0] == keys[2] != keys[1]
    assert list(unseen(rows, set()).values()) == [0, 1, 3, 5]
    assert unseen(rows, {keys[1]}) == {keys[0]: 0, keys[3]: 3, keys[5]: 5}
    assert_array_equal(ends(3), [[False] * 3, [True] * 3])
