"""Interactions of all sizes, by their definitions and their axioms; faithful ones as fits of all worths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import brute
import fairfield as ff

DEFINITIONS = {
    "k_sii": brute.aggregated_shapley_interactions,
    "stii": brute.shapley_taylor_interactions,
}
FAITHFUL = {
    "fsii": brute.faithful_shapley_interactions,
    "fbii": brute.faithful_banzhaf_interactions,
}
EFFICIENT = ["k_sii", "stii", "fsii"]


@pytest.mark.parametrize("criterion", DEFINITIONS)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_they_are_their_definition(criterion, order, rng):
    table = rng.standard_normal(2**6) + 3
    found = ff.interactions(table, criterion, order=order)
    assert found.coalitions == brute.up_to(6, order)
    assert_allclose(found.values, DEFINITIONS[criterion](table, order), atol=1e-11)
    assert (found.stderr == 0).all()
    assert found.baseline == table[0]


def test_k_sii_of_order_5_reads_third_slopes(rng):
    """B_3 = 0; the fourth of Bernoulli's numbers is the next that counts."""
    table = rng.standard_normal(2**6)
    found = ff.interactions(table, "k_sii", order=5).values
    assert_allclose(found, brute.aggregated_shapley_interactions(table, 5), atol=1e-10)


@pytest.mark.parametrize("criterion", EFFICIENT)
def test_of_order_1_they_are_shapleys_value(criterion, rng):
    table = rng.standard_normal(2**5)
    assert_allclose(ff.interactions(table, criterion, order=1).values, brute.shapley(table))


tables = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.floats(-10, 10), min_size=2**n, max_size=2**n).map(np.array)
)


@given(tables, st.integers(1, 4), st.sampled_from(EFFICIENT))
@settings(max_examples=60, deadline=None)
def test_they_add_up_to_the_grand_coalition(table, order, criterion):
    n = len(table).bit_length() - 1
    found = ff.interactions(table, criterion, order=min(order, n))
    assert_allclose(found.baseline + found.values.sum(), table[-1], atol=1e-10)


@given(tables, st.integers(1, 3), st.sampled_from([*EFFICIENT, "fbii", "moebius"]), st.data())
@settings(max_examples=60, deadline=None)
def test_players_are_treated_alike_and_null_players_get_nothing(table, order, criterion, data):
    n = len(table).bit_length() - 1
    order = min(order, n)
    moved = data.draw(st.permutations(range(n)))
    z = brute.coalitions(n)
    renamed = table[z[:, moved] @ (1 << np.arange(n))]  # player moved[i] is called i
    found, other = (ff.interactions(each, criterion, order=order) for each in (table, renamed))
    wanted = [other[tuple(moved[i] for i in each)] for each in found.coalitions]
    assert_allclose(found.values, wanted, atol=1e-10)
    grown = ff.interactions(np.concatenate([table, table]), criterion, order=order)
    apart = [v for each, v in zip(grown.coalitions, grown.values, strict=True) if n in each]
    assert_allclose(apart, 0, atol=1e-10)
    assert_allclose([grown[each] for each in found.coalitions], found.values, atol=1e-10)


@given(tables, tables, st.sampled_from([*EFFICIENT, "fbii", "moebius"]))
@settings(max_examples=30, deadline=None)
def test_they_are_linear_in_the_game(one, other, criterion):
    other = np.resize(other, one.shape)
    read = [ff.interactions(each, criterion).values for each in (one, other, one - 2 * other)]
    assert_allclose(read[0] - 2 * read[1], read[2], atol=1e-9)


@pytest.mark.parametrize("criterion", FAITHFUL)
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_they_are_the_nearest_polynomial(criterion, order, rng):
    table = rng.standard_normal(2**7) + 3
    found = ff.interactions(table, criterion, order=order)
    constant, *wanted = FAITHFUL[criterion](table, order)
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
