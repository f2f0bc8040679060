"""Choosing a temperature, and following the index as it falls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_concentration_is_reached(share, rng):
    tables = rng.standard_normal((3, 2**6))
    v = ff.banzhaf(tables, temperature=ff.concentrated(share))
    x = v.marginals
    open_share = -(x * np.log2(x) + (1 - x) * np.log2(1 - x))
    weights = np.abs(v.values) / np.abs(v.values).sum(axis=1, keepdims=True)
    assert_allclose(np.sum(weights * (1 - open_share), axis=1), share, atol=1e-9)


def test_null_players_and_the_unit_of_worth_do_not_matter(rng):
    table = rng.standard_normal(2**5)
    temperature = ff.banzhaf(table, temperature=ff.concentrated(0.5)).temperature
    grown = ff.banzhaf(np.concatenate([table, table]), temperature=ff.concentrated(0.5))
    assert_allclose(grown.temperature, temperature, rtol=1e-9)
    scaled = ff.banzhaf(1e6 * table, temperature=ff.concentrated(0.5))
    assert_allclose(scaled.temperature, 1e6 * temperature, rtol=1e-9)


def test_concentrations_that_cannot_be_reached_are_refused():
    for share in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            ff.concentrated(share)
    with pytest.raises(ValueError, match="Banzhaf value"):
        ff.banzhaf(np.array([0.0, 1.0, 1.0, 0.0]), temperature=ff.concentrated(0.5))
    # Worths that are the same of a coalition and of all others: only rounding is left.
    half = np.random.default_rng(0).random((5, 2**6))
    for table in (half + half[:, ::-1]) / 3:
        with pytest.raises(ValueError, match="every Banzhaf value is 0"):
            ff.banzhaf(table, temperature=ff.concentrated(0.5))
