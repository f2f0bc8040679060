"""Sums of products over players."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.games.set_functions.products import ProductsExtension
from games.examples import some_points, table_of


def test_products_equal_their_table_with_factors_of_zero(rng):
    has = rng.random((9, 6)) < 0.5
    has[0], has[1] = False, True  # a product of nobody, and one of everybody
    out, inside = rng.integers(-1, 3, (2, 9, 6)) * 1.0
    coefficients = rng.standard_normal(9)
    pattern = csr_array(has.astype(float))
    closed = ProductsExtension(
        pattern, out[has], inside[has], coefficients, method="products", constant=2.0
    )

    def worths(coalitions):
        factors = np.where(has, np.where(coalitions[:, None, :], inside, out), 1.0)
        return 2.0 + factors.prod(axis=-1) @ coefficients

    table = table_of(ff.FunctionGame(worths, 6))
    assert_allclose(closed.value(enumerate_coalitions(6)), worths(enumerate_coalitions(6)))
    x = some_points(6)
    for of in ("value", "gradient", "hessian"):
        assert_allclose(getattr(closed, of)(x), getattr(table, of)(x), atol=1e-11)
    assert closed.degree == 6
