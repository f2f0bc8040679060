"""What least squares on draws at a point says of the extension there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import brute
from fairfield.core.coalitions import rows_of
from fairfield.estimation.at_points.draws import bernoulli
from fairfield.estimation.at_points.slopes import slopes


def test_slopes_are_weighted_least_squares(rng):
    z, x = rng.random((60, 5)) < 0.5, rng.uniform(0.2, 0.8, 5)
    worths, weights = rng.normal(size=(3, 60)), rng.random(60)
    found = slopes(z, worths, x, weights=weights, products=False)
    columns = np.column_stack([np.ones(60), z - x])
    root = np.sqrt(weights)
    by_hand = np.linalg.lstsq(columns * root[:, None], (worths * root).T, rcond=None)[0].T
    assert_allclose(found.value, by_hand[:, 0], atol=1e-12)
    assert_allclose(found.gradient, by_hand[:, 1:], atol=1e-12)
    scaled = columns * root[:, None]
    leverage = np.diagonal(scaled @ np.linalg.pinv(scaled))
    residuals = (worths - by_hand @ columns.T) / np.sqrt(1 - leverage)
    assert_allclose(found.residuals, residuals, atol=1e-10)
    psi = found.influence()
    assert_allclose(found.covariance(), np.einsum("gji,gjk->gik", psi, psi), atol=1e-12)


def test_counts_are_repeated_draws(rng):
    z, x = rng.random((40, 4)) < 0.6, np.full(4, 0.6)
    worths, counts = rng.normal(size=40), rng.integers(1, 4, 40)
    once = slopes(z, worths, x, counts=counts.astype(float), products=False)
    spelt = slopes(np.repeat(z, counts, axis=0), np.repeat(worths, counts), x, products=False)
    assert_allclose(once.gradient, spelt.gradient, atol=1e-12)
    assert_allclose(once.covariance(), spelt.covariance(), atol=1e-12)


@pytest.mark.parametrize("family", brute.FAMILIES)
@pytest.mark.parametrize("products", [False, True])
def test_slopes_are_within_their_errors_of_the_gradient(family, products, rng):
    table = brute.FAMILIES[family](rng, 8)
    x = rng.uniform(0.15, 0.85, 8)
    z = bernoulli(x, 1500, rng)
    found = slopes(z, table[rows_of(z)], x, products=products)
    error = np.sqrt(np.diagonal(found.covariance()))
    assert (np.abs(found.gradient - brute.gradient(table, x)) <= 5 * error).all()
    assert (found.hessian is not None) == products


def test_products_fit_a_pairwise_game_exactly(rng):
    table = brute.supermodular(rng, 6)
    x = rng.uniform(0.2, 0.8, 6)
    z = bernoulli(x, 4000, rng)
    found = slopes(z, table[rows_of(z)], x)
    # The products lean to 0 by one draw in 4000.
    assert_allclose(found.hessian, brute.hessian(table, x), atol=2e-2)
    assert_allclose(found.gradient, brute.gradient(table, x), atol=2e-3)
    root = np.sqrt(x * (1 - x))
    assert_allclose(found.curvature(), root[:, None] * found.hessian * root)


def test_curvature_without_products_is_shrunk_moments(rng):
    x = np.full(6, 0.5)
    z = bernoulli(x, 4096, rng)
    table = brute.supermodular(rng, 6)
    found = slopes(z, table[rows_of(z)], x, products=False).curvature()
    exact = brute.hessian(table, x) / 4
    assert_allclose(found, exact, atol=0.05)
    noise = slopes(z, rng.normal(size=4096), x, products=False).curvature()
    assert np.abs(noise).max() < 0.02


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6), st.integers(0, 99))
def test_additive_games_are_exact(weights, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 0.8, len(weights))
    z = np.concatenate([bernoulli(x, 80, rng), brute.coalitions(len(weights))])
    found = slopes(z, 3.0 + z @ weights, x)
    assert_allclose(found.gradient, weights, atol=1e-9)
    assert np.sqrt(np.diagonal(found.covariance())).max() < 1e-9


def test_a_player_always_in_has_no_slope_but_a_guess_or_a_known_one(rng):
    x = np.array([0.5, 1.0, 0.5])
    z = bernoulli(x, 64, rng)
    worths = z @ [1.0, 2.0, 3.0]
    assert_allclose(slopes(z, worths, x).gradient, [1, np.nan, 3])
    guessed = slopes(z, worths, x, guess=np.array([1.0, 7.0, 3.0]))
    assert_allclose(guessed.gradient, [1, 7, 3])
    x = np.array([0.5, 0.9, 0.5])
    z = bernoulli(x, 64, rng)
    known = slopes(z, z @ [1.0, 2.0, 3.0], x, known=np.array([np.nan, 2.0, np.nan]))
    assert_allclose(known.gradient, [1, 2, 3], atol=1e-12)
    assert not known.covariance()[1].any()


def test_a_guess_takes_over_from_few_draws():
    z = np.array([[1, 0], [0, 0], [1, 1], [0, 1]], dtype=bool)
    worths = z @ [1.0, 4.0]
    pulled = slopes(z, worths, np.full(2, 0.5), guess=np.array([1.0, 0.0]), products=False)
    # Σ (z - ½)² = 1 draws' worth of slope 4, and one of slope 0.
    assert_allclose(pulled.gradient, [1, 2])
