"""k-SII and Shapley–Taylor interactions, by their definitions and their axioms."""

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
