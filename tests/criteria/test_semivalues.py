"""Fixed-weight criteria against their definitions and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import brute
import fairfield as ff

WORTHS = arrays(float, 2**5, elements=st.floats(-100, 100))
VOTING = (brute.coalitions(3) @ [2, 1, 1] >= 3).astype(float)


@pytest.mark.parametrize("n", range(1, 13))
def test_shapley_and_banzhaf_are_their_definitions(n, rng):
    table = rng.standard_normal(2**n)
    assert_allclose(ff.shapley(table).values, brute.shapley(table), rtol=0, atol=1e-12)
    assert_allclose(ff.banzhaf(table).values, brute.banzhaf(table), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", range(1, 21))
def test_shapley_by_sizes_is_the_line_integral(n, rng):
    """The paper's ∫ ∇f(t, …, t) dt, exact with ⌈n/2⌉ Gauss–Legendre nodes."""
    game = ff.TableGame(rng.standard_normal(2**n))
    from fairfield.core.extension import Extension
    from fairfield.multilinear.table import TableExtension

    f = TableExtension.of(game)
    assert_allclose(f.shapley(), Extension.shapley(f), rtol=0, atol=1e-12)


def test_the_papers_voting_example():
    assert_allclose(ff.banzhaf(VOTING).values, [3 / 4, 1 / 4, 1 / 4], rtol=1e-15)
    assert_allclose(ff.shapley(VOTING).values, [4 / 6, 1 / 6, 1 / 6], rtol=1e-15)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (4, 1), (1, 16), (0.5, 0.5), (2.5, 3.5)])
def test_beta_values_are_their_definition(a, b, rng):
    table = rng.standard_normal(2**6)
    found = ff.semivalue(table, ff.beta(a, b)).values
    assert_allclose(found, brute.semivalue(table, brute.beta_weights(6, a, b)), atol=1e-12)


def test_beta_nodes_integrate_the_same_value(rng):
    """The quadrature that closed forms use agrees with the size weights."""
    table = rng.standard_normal(2**6)
    from fairfield.multilinear.table import TableExtension

    f = TableExtension.of(ff.TableGame(table))
    for a, b in ((1, 1), (4, 1), (0.5, 2.5)):
        at, shares = ff.beta(a, b).nodes(3)
        integral = sum(w * f.gradient(np.full(6, t)) for t, w in zip(at, shares, strict=True))
        assert_allclose(integral, ff.semivalue(table, ff.beta(a, b)).values, atol=1e-12)


def test_beta_one_one_is_shapley_and_flat_weights_are_banzhaf(rng):
    table = rng.standard_normal(2**7)
    assert_allclose(ff.semivalue(table, ff.beta(1, 1)).values, ff.shapley(table).values, atol=1e-13)
    flat = np.full(7, 2.0**-6)
    assert_allclose(ff.semivalue(table, flat).values, ff.banzhaf(table).values, atol=1e-13)


def test_leave_one_out_is_what_is_lost(rng):
    table = rng.standard_normal(2**5)
    lost = [table[-1] - table[31 - (1 << i)] for i in range(5)]
    assert_allclose(ff.leave_one_out(table).values, lost, atol=1e-14)


@given(WORTHS)
@settings(max_examples=50, deadline=None)
def test_shapley_is_efficient(table):
    assert_allclose(ff.shapley(table).values.sum(), table[-1] - table[0], atol=1e-10)


@given(WORTHS, WORTHS, st.floats(-10, 10))
@settings(max_examples=50, deadline=None)
def test_semivalues_are_linear(one, other, factor):
    for criterion in (ff.shapley, ff.banzhaf, ff.leave_one_out):
        joint = criterion(one + factor * other).values
        apart = criterion(one).values + factor * criterion(other).values
        assert_allclose(joint, apart, atol=1e-9)


@given(WORTHS)
@settings(max_examples=30, deadline=None)
def test_renaming_players_renames_values(table):
    order = np.array([3, 0, 4, 1, 2])
    z = brute.coalitions(5)
    renamed = table[z[:, order] @ (1 << np.arange(5))]
    # In the renamed game, player order[i] plays the part of player i.
    for criterion in (ff.shapley, ff.banzhaf):
        assert_allclose(criterion(renamed).values[order], criterion(table).values, atol=1e-10)


def test_batches_are_games_one_by_one(rng):
    tables = rng.standard_normal((2, 3, 2**6))
    for criterion in (ff.shapley, ff.banzhaf):
        together = criterion(tables)
        assert together.values.shape == (2, 3, 6)
        assert_allclose(together.values[1, 2], criterion(tables[1, 2]).values, atol=1e-13)
        assert_allclose(together[1, 2].values, together.values[1, 2])


def test_thousands_of_tables_share_one_product(rng):
    """Large batches are folded by a matrix of their own: the same values."""
    tables = rng.standard_normal((600, 2**8))
    found = ff.banzhaf(tables).values
    for i in (0, 311, 599):
        assert_allclose(found[i], brute.banzhaf(tables[i]), atol=1e-12)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="2 players need 2 finite weights"):
        ff.semivalue([0, 1, 1, 2], [1.0])
    with pytest.raises(ValueError, match="must be 1, it is 2"):
        ff.semivalue([0, 1, 1, 2], [1.0, 1.0])
    with pytest.raises(ValueError, match="above 0"):
        ff.beta(0, 1)
