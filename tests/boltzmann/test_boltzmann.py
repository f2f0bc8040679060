"""Divergences of product laws from a Boltzmann law, and valuations as product laws."""

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_both_divergences_are_their_definitions(case, rng):
    _, _, law, p = case
    x = rng.random(7)
    q = brute.law(x)
    assert_allclose(law.decoupling_error(x), q @ np.log(q / p), rtol=1e-11)
    assert_allclose(law.reverse_error(x), p @ np.log(p / q), rtol=1e-11)
    assert_allclose(law.elbo(x), law.log_z - q @ np.log(q / p), rtol=1e-11)
    assert_allclose(law.reverse_error(law.marginals), law.total_correlation, rtol=1e-9)


def test_a_valuation_stands_for_its_marginals(rng):
    table = brute.mixed(rng, 6)
    law = ff.Boltzmann(table, 0.5)
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index, ff.free_energy_value):
        v = criterion(table, temperature=0.5)
        assert_allclose(v.marginals, 1 / (1 + np.exp(-v.values / 0.5)), rtol=1e-9)
        assert_allclose(law.decoupling_error(v), v.decoupling_error, rtol=1e-9)
        assert_allclose(law.decoupling_error(v.marginals), v.decoupling_error, rtol=1e-9)
        assert_allclose(v.log_z - v.elbo, v.decoupling_error, rtol=1e-9)


def test_the_index_has_the_lowest_decoupling_error(rng):
    for _ in range(10):
        table = brute.flid(rng, 8)
        found = ff.compare(table, temperature=1.0)
        errors = {name: v.decoupling_error for name, v in found.items()}
        assert errors["variational_index"] == min(errors.values())
