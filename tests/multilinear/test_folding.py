"""Products of factors, folded player by player."""

from numpy.testing import assert_allclose

import brute
from fairfield.multilinear import folding


def test_product_laws_are_products_of_factors(rng):
    x = rng.random(6)
    assert_allclose(folding.Factors(folding.probabilities(x)).product, brute.law(x), rtol=1e-14)
