"""Harsanyi's dividends."""

from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_moebius_is_its_definition(rng):
    table = rng.standard_normal(2**6)
    assert_allclose(ff.moebius(table), brute.moebius(table), atol=1e-12)
    tables = rng.standard_normal((2, 2**4))
    assert_allclose(ff.moebius(tables)[1], brute.moebius(tables[1]), atol=1e-12)
