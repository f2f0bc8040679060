"""The extension read off a pool, anywhere."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import brute
from estimation.games import fill
from fairfield.core.coalitions import rows_of
from fairfield.estimation.at_points.pool import Pool, is_rare
from fairfield.estimation.at_points.reading import read


def test_readings_away_from_the_draws_are_within_their_errors(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    for seed in range(6):
        fill(pool, table, rng.uniform(0.4, 0.6, (1, 8)), seed=seed)
    x = rng.uniform(0.4, 0.6, 8)
    reading = read(pool, x)
    error = np.sqrt(np.diagonal(reading.covariance()))
    assert (np.abs(reading.slopes.gradient - brute.gradient(table, x)) <= 5 * error).all()


def test_ends_that_are_unlike_all_others_weigh_what_they_weigh(rng):
    """A model that is fitted to nothing scores nothing: F(∅) is known, and no matter of the luck of draws."""
    table, pool = 0.9 + 0.05 * rng.random(2**8), Pool(8, 1)
    table[[0, -1]] = -20.0, 7.0
    ends = np.repeat([[False], [True]], 8, axis=1)
    pool.tell(ends, table[None, rows_of(ends)])
    for seed in range(4):
        fill(pool, table, rng.uniform(0.4, 0.6, (1, 8)), seed=seed, fresh=40)
    x = np.linspace(0.3, 0.7, 8)
    reading = read(pool, x)
    assert_array_equal(reading.slopes.residuals[pool.ends], 0.0)
    error = np.sqrt(np.diagonal(reading.covariance()))
    exact = brute.gradient(table, x)
    assert (np.abs(reading.slopes.gradient - exact) <= 5 * error).all()
    # Other worths hardly differ.
    assert error.max() < 0.1 * np.abs(exact).max()
    # All others being equal, nothing else is left.
    pool.worths[:, ~pool.ends] = 0.9
    known = read(pool, x)
    table[1:-1] = 0.9
    np.testing.assert_allclose(known.slopes.gradient, brute.gradient(table, x), rtol=0.05)


def test_noise_of_the_ends_is_in_the_errors():
    """Nothing else errs where all other worths are equal: Var ∂_i f = v Π x_j² for N, v Π (1 - x_j)² for ∅, j ≠ i."""
    table, pool = np.zeros(2**8), Pool(8, 1)
    ends = np.repeat([[False], [True]], 8, axis=1)
    pool.tell(ends, np.zeros((1, 2)), np.full((1, 2), 4.0))
    for seed in range(3):
        fill(pool, table, np.full((1, 8), 0.6), seed=seed, fresh=40)
    found = np.diagonal(read(pool, np.full(8, 0.7)).covariance())
    np.testing.assert_allclose(found, 4.0 * (0.7**14 + 0.3**14))


def test_rare_players_are_read_from_pairs(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    x = np.r_[0.0, 1.0, 1e-5, np.full(5, 0.5)]
    rare = is_rare(x, 100)
    assert_array_equal(rare, [True] * 3 + [False] * 5)
    for seed in range(4):
        fill(pool, table, x[None], rare[None], seed=seed, fresh=20)
    reading = read(pool, x)
    error = np.sqrt(np.diagonal(reading.covariance()))
    assert not reading.thin.any()
    assert (np.abs(reading.slopes.gradient - brute.gradient(table, x)) <= 5 * error).all()


def test_players_without_pairs_or_draws_are_thin(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    x = np.r_[0.0, np.full(7, 0.5)]
    fill(pool, table, x[None])
    guess = np.full(8, 3.0)
    reading = read(pool, x, guess=guess)
    assert_array_equal(reading.thin, [True] + [False] * 7)
    assert reading.slopes.gradient[0] == 3.0


@pytest.mark.parametrize("chance", [0.8, 1.0])
def test_noise_is_not_averaged_out_by_drawing_a_coalition_again(chance):
    """Worths that are noise alone: slopes are as far from 0 as their errors say."""
    point = np.full((1, 8), chance)
    point[0, 3:] = 0.8, 0.9, 0.9, 0.95, 0.95
    rare = point >= 1
    squares, told = [], []
    for seed in range(40):
        table, pool = np.random.default_rng(seed).normal(size=2**8), Pool(8, 1)
        rng = np.random.default_rng([seed, 1])
        asked = pool.plan(point, np.zeros(1, dtype=int), 60, 2000, rare, rng)
        pool.tell(asked, table[None, rows_of(asked)], np.ones((1, len(asked))))
        reading = read(pool, point[0])
        squares.append(reading.slopes.gradient**2)
        told.append(np.diagonal(reading.covariance()))
    ratio = np.mean(squares, axis=0) / np.mean(told, axis=0)
    assert (ratio < 1 + 5 * np.sqrt(2 / 40)).all()
    assert ratio.mean() > 0.5
