"""Strata of coalitions: every one listed once, drawn without replacement, in turn."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairfield.estimation.strata import Distinct, Stratum, in_turn


@pytest.mark.parametrize(("players", "size"), [(6, 0), (6, 2), (6, 3), (7, 3)])
def test_a_stratum_lists_every_pair_once(players, size):
    stratum = Stratum(players, size)
    every = stratum.every()
    assert len(every) == stratum.pairs == comb(players, size) / (2 if 2 * size == players else 1)
    both = np.concatenate([every, ~every])
    assert len(np.unique(both, axis=0)) == len(both)
    drawn = stratum.draw(50, np.random.default_rng(0))
    assert {row.tobytes() for row in drawn} <= {row.tobytes() for row in every}


def test_a_large_stratum_draws_nothing_twice(rng):
    drawn = np.concatenate([(s := Distinct(40, 20, rng)).next(1500), s.next(1500)])
    assert len(np.unique(drawn, axis=0)) == 3000
    assert (drawn.sum(axis=1) == 20).all()


def test_strata_have_their_turn_by_their_shares(rng):
    strata = [Distinct(9, size, rng) for size in (1, 2, 4)]
    found = in_turn(strata, 40, np.array([0.1, 0.3, 0.6]))
    assert_array_equal(np.bincount(found.sum(axis=1), minlength=5)[[1, 2, 4]], [4, 12, 24])
    # One that is used up leaves the rest to the others.
    rest = in_turn(strata, 10**6, np.array([0.1, 0.3, 0.6]))
    assert len(found) + len(rest) == 9 + 36 + 126
