"""Draws from several laws in one pool: each coalition once, the extension anywhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
from fairfield.core.coalitions import rows_of
from fairfield.estimation.pool import Pool, effective_size, is_rare

NONE = np.zeros((1, 8), dtype=bool)


def fill(pool, table, points, rare=NONE, fresh=60, most=None, seed=0):
    rng = np.random.default_rng(seed)
    asked = pool.plan(points, np.arange(len(points)) * 0, fresh, 8 * fresh, rare, rng)[:most]
    pool.tell(asked, table[None, rows_of(asked)])
    return asked


def test_a_coalition_is_asked_for_once(rng):
    table, pool = brute.flid(rng, 8), Pool(8, 1)
    asked = [fill(pool, table, np.full((1, 8), 0.9), seed=seed) for seed in range(3)]
    rows = rows_of(np.concatenate(asked))
    assert len(set(rows)) == len(rows) == len(pool.counts)
    assert pool.counts.sum() == pool.drawn > len(rows)


def test_what_was_cut_off_is_not_counted(rng):
    table, pool = brute.flid(rng, 8), Pool(8, 1)
    asked = fill(pool, table, np.full((1, 8), 0.5), most=10)
    assert len(asked) == 10
    assert_array_equal(rows_of(pool.coalitions), rows_of(asked))
    assert (pool.counts > 0).all()


def test_weights_are_those_of_the_mixture(rng):
    table, pool = brute.flid(rng, 8), Pool(8, 1)
    points = rng.uniform(0.2, 0.8, (2, 8))
    for point in points:
        fill(pool, table, point[None])
    x = rng.uniform(0.2, 0.8, 8)
    shares = pool.sizes / pool.sizes.sum()
    rows = rows_of(pool.coalitions)
    mixture = shares @ [brute.law(point)[rows] for point in points]
    assert_allclose(pool.weights(x), brute.law(x)[rows] / mixture)
    assert effective_size(np.ones(5), np.ones(5)) == 5


def test_readings_away_from_the_draws_are_within_their_errors(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    for seed in range(6):
        fill(pool, table, rng.uniform(0.4, 0.6, (1, 8)), seed=seed)
    x = rng.uniform(0.4, 0.6, 8)
    reading = pool.read(x)
    error = np.sqrt(np.diagonal(reading.covariance()))
    assert (np.abs(reading.slopes.gradient - brute.gradient(table, x)) <= 5 * error).all()


def test_rare_players_are_read_from_pairs(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    x = np.r_[0.0, 1.0, 1e-5, np.full(5, 0.5)]
    rare = is_rare(x, 100)
    assert_array_equal(rare, [True] * 3 + [False] * 5)
    for seed in range(4):
        fill(pool, table, x[None], rare[None], seed=seed, fresh=20)
    reading = pool.read(x)
    error = np.sqrt(np.diagonal(reading.covariance()))
    assert not reading.thin.any()
    assert (np.abs(reading.slopes.gradient - brute.gradient(table, x)) <= 5 * error).all()


def test_players_without_pairs_or_draws_are_thin(rng):
    table, pool = brute.mixed(rng, 8), Pool(8, 1)
    x = np.r_[0.0, np.full(7, 0.5)]
    fill(pool, table, x[None])
    guess = np.full(8, 3.0)
    reading = pool.read(x, guess=guess)
    assert_array_equal(reading.thin, [True] + [False] * 7)
    assert reading.slopes.gradient[0] == 3.0


def test_a_coalition_is_come_upon_as_a_draw_or_as_a_flip(rng):
    table, pool = brute.flid(rng, 8), Pool(8, 1)
    rare = np.zeros((1, 8), dtype=bool)
    rare[0, :2] = True
    point = np.full((1, 8), 0.5)
    point[0, :2] = 1.0, 0.0
    fill(pool, table, point, rare=rare, fresh=20)
    times = pool.times()
    drawn = pool.counts > 0
    # A draw has as many flips as there are rare players; nothing else leads to it.
    assert_array_equal(times[drawn], pool.counts[drawn])
    flipped = np.bincount(pool.pairs[:, 2:4].ravel(), minlength=len(times))
    assert_array_equal(times[~drawn], flipped[~drawn])
    assert (times[~drawn] > 0).any()


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
        reading = pool.read(point[0])
        squares.append(reading.slopes.gradient**2)
        told.append(np.diagonal(reading.covariance()))
    ratio = np.mean(squares, axis=0) / np.mean(told, axis=0)
    assert (ratio < 1 + 5 * np.sqrt(2 / 40)).all()
    assert ratio.mean() > 0.5
