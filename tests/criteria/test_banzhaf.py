"""Banzhaf's value, and Shapley's beside it, of renamed players and of batches."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

import brute
import fairfield as ff

WORTHS = arrays(float, 2**5, elements=st.floats(-100, 100))


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
