"""Shapley's value against its definitions."""

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


@given(WORTHS)
@settings(max_examples=50, deadline=None)
def test_shapley_is_efficient(table):
    assert_allclose(ff.shapley(table).values.sum(), table[-1] - table[0], atol=1e-10)
