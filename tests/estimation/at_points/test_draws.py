"""Draws from a product law."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import brute
from fairfield.core.coalitions import rows_of
from fairfield.estimation.at_points.draws import bernoulli, log_law


def test_draws_have_the_law_they_are_asked_for(rng):
    x = np.array([0.0, 0.1, 0.5, 0.93, 1.0])
    drawn = np.concatenate([bernoulli(x, 50, rng) for _ in range(200)])
    error = np.sqrt(x * (1 - x) / len(drawn))
    assert (np.abs(drawn.mean(axis=0) - x) <= 5 * error).all()
    rows = np.bincount(rows_of(drawn), minlength=32) / len(drawn)
    law = brute.law(x)
    assert (np.abs(rows - law) <= 5 * np.sqrt(law / len(drawn))).all()


def test_draws_repeat_with_their_generator():
    x = np.full(7, 0.3)
    first, again = (bernoulli(x, 33, np.random.default_rng(4)) for _ in range(2))
    assert_array_equal(first, again)


def test_draws_of_more_players_than_sobol_has_dimensions(rng):
    drawn = bernoulli(np.full(21_300, 0.25), 8, rng)
    assert drawn.shape == (8, 21_300)
    assert abs(drawn.mean() - 0.25) < 5 * np.sqrt(0.1875 / drawn.size)


def test_log_law_is_the_product_of_chances():
    x = np.array([[0.2, 0.7, 0.5], [0.01, 0.99, 0.3]])
    assert_allclose(np.exp(log_law(brute.coalitions(3), x)), [brute.law(row) for row in x])
    certain = np.exp(log_law(brute.coalitions(2), np.array([1.0, 0.5])))
    assert_allclose(certain, [0, 0.5, 0, 0.5], atol=1e-17)
