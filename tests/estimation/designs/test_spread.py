"""Where worths differ most is where most coalitions are drawn."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import brute
import fairfield as ff
from estimation.games import sampled
from fairfield.estimation.designs.spread import spread_by_size

PLAYERS = 12
COALITIONS = brute.coalitions(PLAYERS) > 0
SIZES = COALITIONS.sum(axis=1)


def test_noise_by_size_is_seen_in_proportion(rng):
    """Of sizes that differ by no more than three times as much as most the root counts, else all of it."""
    noise = np.where(SIZES == 3, 2.0, np.where(SIZES == 5, 30.0, 1.0))
    worths = COALITIONS @ np.arange(12.0) + noise * rng.standard_normal(len(SIZES))
    found = spread_by_size(COALITIONS, worths[None], SIZES)
    usual = np.median(found[[2, 4, 6, 7, 8, 9, 10]])
    np.testing.assert_allclose(found[3] / usual, np.sqrt(2), rtol=0.15)
    np.testing.assert_allclose(found[5] / usual, 30 / 3, rtol=0.15)


def test_one_wild_worth_makes_one_size_wild(rng):
    worths = rng.standard_normal(len(SIZES))
    worths[1] = 1e9
    found = spread_by_size(COALITIONS, worths[None], SIZES)
    assert found[1] == 1
    assert np.delete(found, 1).max() < 1e-3


def test_games_that_differ_in_scale_are_alike_and_what_is_linear_has_no_wild_size(rng):
    worths = rng.standard_normal((2, len(SIZES)))
    given = COALITIONS, worths, SIZES
    assert_array_equal(spread_by_size(*given), spread_by_size(COALITIONS, 7e5 * worths, SIZES))
    linear = (COALITIONS @ np.arange(12.0))[None]
    for each in (linear, np.zeros_like(linear)):
        assert spread_by_size(COALITIONS, each, SIZES).min() > 0.5


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_players_who_are_wild_alone_do_not_spoil_the_values(criterion, rng):
    """The values of others were off by what the wild worth weighs until all of its size were known."""
    table = np.tanh(COALITIONS @ rng.standard_normal(PLAYERS))
    table[1 << 5] = 1e6
    exact = criterion(ff.TableGame(table))
    for seed in range(3):
        found = sampled(criterion, table, budget=20 * PLAYERS, seed=seed)
        assert np.sum((found.values - exact.values) ** 2) < 1e-6 * np.sum(exact.values**2)
