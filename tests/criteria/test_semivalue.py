"""Values with weights by size, against their definitions and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import brute
import fairfield as ff

WORTHS = arrays(float, 2**5, elements=st.floats(-100, 100))


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


@given(WORTHS, WORTHS, st.floats(-10, 10))
@settings(max_examples=50, deadline=None)
def test_semivalues_are_linear(one, other, factor):
    for criterion in (ff.shapley, ff.banzhaf, ff.leave_one_out):
        joint = criterion(one + factor * other).values
        apart = criterion(one).values + factor * criterion(other).values
        assert_allclose(joint, apart, atol=1e-9)


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="2 players need 2 finite weights"):
        ff.semivalue([0, 1, 1, 2], [1.0])
    with pytest.raises(ValueError, match="must be 1, it is 2"):
        ff.semivalue([0, 1, 1, 2], [1.0, 1.0])
    with pytest.raises(ValueError, match="above 0"):
        ff.beta(0, 1)
