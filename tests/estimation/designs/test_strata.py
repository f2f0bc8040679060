"""Strata of coalitions: every one listed once, drawn without replacement, in turn."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fairfield.estimation.designs.strata import Distinct, Stratum, in_turn, turns


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
    shares = np.array([0.1, 0.3, 0.6])
    found = in_turn(strata, turns(strata, 40, shares))
    assert_array_equal(np.bincount(found.sum(axis=1), minlength=5)[[1, 2, 4]], [4, 12, 24])
    # One that is used up leaves the rest to the others.
    rest = in_turn(strata, turns(strata, 10**6, shares))
    assert len(found) + len(rest) == 9 + 36 + 126


@pytest.mark.parametrize(("players", "size"), [(6, 3), (9, 2), (40, 20)])
def test_a_coalition_that_stands_for_another_is_drawn_once_and_the_other_comes_later(
    rng, players, size
):
    stratum = Distinct(players, size, rng)
    first, second = stratum.next(2)
    other = next(
        each for each in stratum.draw(9, rng) if not any((each == [first, second]).all(axis=1))
    )
    assert not stratum.exchange(first, second)
    assert stratum.exchange(first, first)
    assert stratum.exchange(first, other)
    assert stratum.drawn == 2
    if players < 40:
        rest = stratum.next(int(stratum.left))
        every = np.concatenate([rest, [other, second]])
        assert len(np.unique(every, axis=0)) == stratum.pairs
