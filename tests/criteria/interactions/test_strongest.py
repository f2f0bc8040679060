"""Comparison, annealing, diagnosis and the sample bound."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_compare_shares_worths_between_criteria(rng):
    calls = []

    def worth(coalitions):
        calls.append(len(coalitions))
        return coalitions @ [3.0, 1.0, 2.0]

    found = ff.compare(
        worth, players=3, temperature=1.0, criteria=["variational_index", ff.shapley, "banzhaf"]
    )
    assert list(found) == ["variational_index", "shapley", "banzhaf"]
    assert sum(calls) == 8
    assert_allclose(found["shapley"].values, [3, 1, 2])


def test_a_criterion_of_ones_own_joins_the_comparison(rng):
    def early(game):
        return ff.semivalue(game, ff.beta(4, 1))

    found = ff.compare(rng.standard_normal(16), criteria=["banzhaf", early])
    assert list(found) == ["banzhaf", "beta(4, 1)"]
    with pytest.raises(ValueError, match="no criterion 'owen'"):
        ff.compare(np.arange(4.0), criteria=["owen"])
    with pytest.raises(ValueError, match="at least one"):
        ff.compare(np.arange(4.0), criteria=[])


def test_keywords_of_ones_own_are_honoured(rng):
    table = brute.mixed(rng, 4)
    cold = partial(ff.variational_index, temperature=0.01)
    found = ff.compare(table, temperature=1.0, criteria=["variational_index", cold, "shapley"])
    assert list(found) == ["variational_index", "variational_index (2)", "shapley"]
    assert found["variational_index (2)"].temperature == 0.01
    assert found["shapley"].temperature == 1.0
    named = ff.compare(table, criteria={"late": partial(ff.semivalue, weights=ff.beta(1, 4))})
    assert list(named) == ["late"]
    assert list(ff.compare(table, criteria="shapley")) == ["shapley"]


def test_annealing_runs_from_banzhaf_to_zero_or_one(rng):
    table = brute.supermodular(rng, 5)
    path = ff.annealing(table, temperatures=[0.01, 100.0, 1.0])
    assert_allclose(path.temperatures, [100.0, 1.0, 0.01])
    assert path.values().shape == (3, 5)
    assert_allclose(path.values()[0], brute.banzhaf(table), atol=0.05)
    assert_allclose(path.marginals()[-1], np.round(path.marginals()[-1]), atol=1e-3)
    assert (path.decoupling_errors() >= 0).all()
    assert (path.decoupling_errors() <= path.decoupling_errors("shapley") + 1e-9).all()
    assert "temperature" in repr(path)
    default = ff.annealing(table)
    assert len(default.temperatures) == 21
    assert (np.diff(default.temperatures) < 0).all()
    pytest.importorskip("pandas")
    assert path.to_frame().shape == (15, 3)


def test_annealing_follows_one_answer_down(rng):
    """Each temperature starts from the answer above it, not from ½ again."""
    table = brute.mixed(np.random.default_rng(22), 4)
    path = ff.annealing(table, temperatures=[3.0, 1.0, 0.5, 0.2, 0.1], criteria="variational_index")
    fresh = ff.variational_index(table, temperature=0.1)
    assert np.abs(path.marginals()[-1] - fresh.marginals).max() > 0.5
    followed = ff.variational_index(table, temperature=0.1, start=path.marginals()[-2])
    assert_allclose(path.marginals()[-1], followed.marginals, atol=1e-9)


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


def test_the_sample_bound_holds_with_both_tails():
    assert ff.samples_needed(0.1, 0.05) == int(np.ceil(200 * np.log(2 / 0.05)))
    assert ff.samples_needed(0.1, 0.05, players=10) > ff.samples_needed(0.1, 0.05)
    with pytest.raises(ValueError, match="epsilon"):
        ff.samples_needed(0, 0.1)
