"""A bound of log Z detects laws with weight far from the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.learning.soundness import bound_of_log_z, is_sound


@pytest.mark.parametrize("coupling", [0.2, 1.0, 3.0])
def test_the_bound_is_below_log_z(rng, coupling):
    pairs = np.triu(rng.normal(0, coupling, (8, 8)), 1)
    game = ff.PairwiseGame(rng.normal(size=8), pairs + pairs.T)
    log_z = ff.Boltzmann(game, 1.0).log_z
    assert bound_of_log_z(game) <= log_z + 1e-9
    assert is_sound(game, np.array([-log_z]))


def test_independent_players_are_bounded_exactly(rng):
    game = ff.PairwiseGame(rng.normal(size=30), np.zeros((30, 30)))
    assert_allclose(bound_of_log_z(game), np.logaddexp(0, game.linear).sum())


def test_a_mode_far_from_the_data_is_found_out():
    """Small baskets alone say log Z ≈ 60·e⁻⁴, but all sixty items together outweigh them."""
    attraction = 0.3 * (1 - np.eye(60))
    game = ff.PairwiseGame(np.full(60, -4.0), attraction)
    assert not is_sound(game, np.array([-60 * np.exp(-4)]))
    assert is_sound(ff.PairwiseGame(np.full(60, -4.0), attraction / 10), np.array([-1.2]))
    # Objectives without a constant say nothing of log Z.
    assert is_sound(game, np.zeros(0))
