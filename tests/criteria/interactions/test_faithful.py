"""Faithful interactions are least-squares fits of all worths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

DEFINITIONS = {
    "fsii": brute.faithful_shapley_interactions,
    "fbii": brute.faithful_banzhaf_interactions,
}


@pytest.mark.parametrize("criterion", DEFINITIONS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_they_are_the_nearest_polynomial(criterion, order, rng):
    table = rng.standard_normal(2**7) + 3
    found = ff.interactions(table, criterion, order=order)
    constant, *wanted = DEFINITIONS[criterion](table, order)
    assert_allclose(found.values, wanted, atol=1e-10)
    assert_allclose(found.baseline, constant, atol=1e-10)


@pytest.mark.parametrize("criterion", ["fsii", "fbii", "stii", "moebius"])
def test_what_is_a_polynomial_already_is_given_back(criterion, rng):
    pairs = np.triu(rng.standard_normal((6, 6)), 1)
    linear = rng.standard_normal(6)
    found = ff.interactions(ff.PairwiseGame(linear, pairs + pairs.T), criterion, order=3)
    wanted = pairs + pairs.T + np.diag(linear)
    assert_allclose([found[i] for i in range(6)], linear, atol=1e-12)
    both = found.take([k for k, each in enumerate(found.coalitions) if len(each) < 3])
    assert_allclose(both.matrix(), wanted, atol=1e-12)
    assert_allclose(found.of_size(3).values, 0, atol=1e-12)


def test_of_order_1_faithful_banzhaf_is_banzhafs_value(rng):
    table = rng.standard_normal(2**5)
    assert_allclose(ff.interactions(table, "fbii", order=1).values, brute.banzhaf(table))


def test_of_the_order_of_all_players_they_are_the_dividends(rng):
    table = rng.standard_normal(2**4)
    wanted = ff.interactions(table, "moebius", order=4).values
    for criterion in ("fsii", "fbii", "stii"):
        found = ff.interactions(table, criterion, order=4).values
        assert_allclose(found, wanted, atol=1e-10)
