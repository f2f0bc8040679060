"""Saddles, other answers, uniqueness."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_diagnosis_of_a_saddle():
    table = [0.0, 1.0, 1.0, 0.0]
    cold = ff.diagnose(table, ff.variational_index(table, temperature=0.2))
    assert cold.saddle_eigenvalue > 0
    assert cold.unique is False
    assert cold.better > 0.5
    assert cold.modularity == "submodular"
    # Δ_12 F = -2, so T_D = ¼·2: the saddle appears exactly below it.
    assert_allclose(cold.uniqueness_temperature, 0.5)
    warm = ff.diagnose(table, ff.variational_index(table, temperature=0.6))
    assert warm.unique is True
    assert warm.saddle_eigenvalue < 0
    assert "the only fixed point" in repr(warm)
    assert "saddle" in repr(cold)


def test_what_is_no_fixed_point_is_called_so(rng):
    table = brute.mixed(rng, 5)
    found = ff.diagnose(table, ff.banzhaf(table, temperature=1.0))
    assert not found.fixed
    assert "not a fixed point" in repr(found)
    assert found.better > 0


def test_a_prior_is_remembered(rng):
    table = brute.mixed(rng, 5)
    v = ff.variational_index(table, temperature=5.0, prior=0.9)
    found = ff.diagnose(table, v)
    assert found.fixed
    assert found.better < 1e-9
    assert_allclose(v.prior, 0.9)


def test_brackets_hold_every_fixed_point(rng):
    for family in ("flid", "supermodular"):
        table = brute.FAMILIES[family](rng, 6)
        for temperature in (0.05, 0.3, 3.0):
            v = ff.variational_index(table, temperature=temperature, starts=4)
            low, high = ff.diagnose(table, v).bracket
            assert (low <= v.marginals + 1e-9).all()
            assert (v.marginals <= high + 1e-9).all()
        assert np.max(high - low) < 1e-9  # hot: one fixed point, and proven


def test_cycles_are_foreseen():
    z = brute.coalitions(3)
    redundancy = z.any(axis=1) - 0.2 * z.sum(axis=1)
    for temperature, cycles in ((0.3, False), (0.2, True)):
        found = ff.diagnose(redundancy, ff.variational_index(redundancy, temperature=temperature))
        assert (found.cycle_eigenvalue < -1) == cycles


def test_diagnosis_needs_a_temperature_and_one_game(rng):
    table = rng.standard_normal((2, 8))
    with pytest.raises(ValueError, match="temperature"):
        ff.diagnose(table[0], ff.shapley(table[0]))
    with pytest.raises(ValueError, match="game by game"):
        ff.diagnose(table, ff.variational_index(table))
