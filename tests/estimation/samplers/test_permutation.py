"""Permutation sampling of semivalues."""

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff
from estimation.games import covered, hidden


def test_beta_values_are_within_five_standard_errors():
    weights = ff.beta(4, 1)
    exact = ff.semivalue(covered, weights, players=12)
    found = ff.semivalue(covered, weights, players=12, budget=2000, sampler="permutation")
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()
    assert found.criterion == "beta(4, 1)"


def test_contributions_along_orders_are_weighted_by_size(rng):
    """By hand: the mean over the orders drawn of n p_s (F(S+i) - F(S))."""
    table, weights = rng.normal(size=2**5), ff.beta(2, 1)
    found = ff.semivalue(
        hidden(table), weights, players=5, budget=31, seed=6, sampler="permutation"
    )
    orders = np.random.default_rng(6).permuted(np.tile(np.arange(5), (8, 1)), axis=1)[:7]
    shares = weights.by_size(5) * [1, 4, 6, 4, 1]
    values = np.zeros((7, 5))
    for row, order in enumerate(orders):
        for size, i in enumerate(order):
            before = int(np.sum(1 << order[:size]))
            values[row, i] = 5 * shares[size] * (table[before | 1 << i] - table[before])
    assert_allclose(found.values, values.mean(axis=0))
    assert_allclose(found.covariance, np.cov(values.T) / 7)
    assert found.method == "permutation sampling, 7 orders"
