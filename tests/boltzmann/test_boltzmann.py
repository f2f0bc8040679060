"""Divergences of product laws from a Boltzmann law, valuations as product laws, coalitions seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from counted import Counted


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


SEEN = np.array([[1, 1, 1, 1], [1, 1, 1, 0]])


def test_observed_coalitions_are_read_from_the_table(tmp_path, recwarn):
    worth, path = Counted(), tmp_path / "worths.db"
    law = ff.Boltzmann.from_coalitions(worth, SEEN, players=4, store=path)
    assert worth.coalitions == 2**4
    assert_allclose(law.mean, 1.3, rtol=1e-9)
    assert ff.describe_store(path).worths == 2**4
    assert not recwarn.list


def test_a_law_out_of_reach_is_refused_before_observed_coalitions_are_evaluated():
    worth = Counted()
    with pytest.raises(MemoryError, match=r"all 2\^30 worths"):
        ff.Boltzmann.from_coalitions(worth, np.eye(30), players=30)
    with pytest.raises(ValueError, match="neither a table nor a closed form; give temperature="):
        ff.Boltzmann.from_coalitions(worth, np.eye(30), players=30, budget=200_000)
    assert worth.coalitions == 0


class Broken(ff.PairwiseGame):
    """A closed form whose worths are no numbers."""

    def worths(self, coalitions):
        return np.full(len(coalitions), np.nan)


def test_observed_coalitions_of_a_closed_form_are_evaluated_like_all_others():
    with pytest.raises(ff.WorthError, match=r"coalition \{0\} is nan"):
        ff.Boltzmann.from_coalitions(Broken(np.ones(30), np.zeros((30, 30))), np.eye(30))
    game = ff.PairwiseGame(np.ones(30), np.zeros((30, 30)))
    with pytest.raises(ValueError, match="30 coalitions are needed, the budget allows 20"):
        ff.Boltzmann.from_coalitions(game, np.eye(30), budget=20)
