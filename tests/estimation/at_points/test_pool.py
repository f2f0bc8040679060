"""Draws from several laws in one pool: each coalition once."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import brute
from estimation.games import fill
from fairfield.core.coalitions import rows_of
from fairfield.estimation.along import Along
from fairfield.estimation.at_points.draws import effective_size
from fairfield.estimation.at_points.pool import Pool
from fairfield.estimation.designs.design import Design, Plan


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


def test_what_others_have_drawn_is_adopted_once(rng):
    """Pairs drawn by size and the draws of another pool join the mixture, no coalition twice."""
    table, pool, other = brute.flid(rng, 8), Pool(8, 1), Pool(8, 1)
    x = rng.uniform(0.2, 0.8, 8)
    pairs = Design(8, [Along.shapley(8)], 0, Plan(first=True))
    asked = pairs.ask(80)
    pairs.tell(asked, table[rows_of(asked)])
    fill(other, table, x[None])
    fill(pool, table, np.full((1, 8), 0.5))
    own = pool.drawn
    pool.adopt(pairs)
    pool.adopt(other)
    rows = rows_of(pool.coalitions)
    assert len(set(rows)) == len(rows)
    assert_array_equal(pool.worths[0], table[rows])
    assert pool.drawn == pool.counts.sum() == own + 78 + other.drawn
    logs = pairs.sampled(noisy=False).log_law()
    by_size = np.exp(logs)[pool.coalitions.sum(axis=1)]
    laws = [brute.law(np.full(8, 0.5))[rows], by_size, brute.law(x)[rows]]
    mixture = np.array([own, 78, other.drawn]) / pool.drawn @ laws
    assert_allclose(np.exp(pool.log_mixture()), mixture)
