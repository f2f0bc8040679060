"""The free-energy value: log-odds of the true marginals."""

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from boltzmann.known_laws import within


def test_the_free_energy_value_is_the_log_odds_of_the_true_marginals(rng):
    table = brute.mixed(rng, 8)
    for temperature in (0.1, 1.0, 10.0):
        marginals = ff.Boltzmann(table, temperature).marginals
        found = ff.free_energy_value(table, temperature=temperature)
        assert_allclose(found.values, temperature * np.log(marginals / (1 - marginals)), rtol=1e-8)
    for temperature in (1e6, 1e10, 1e100):
        hot = ff.free_energy_value(table, temperature=temperature)
        assert_allclose(hot.values, brute.banzhaf(table), atol=100 / temperature + 1e-12)
    biased = ff.Boltzmann(table, 50.0, prior=np.linspace(0.1, 0.9, 8))
    odds = biased.marginals / (1 - biased.marginals)
    assert_allclose(biased.law.log_odds, np.log(odds), atol=1e-12)
    far = ff.free_energy_value(table + 1e9, temperature=0.5)
    assert_allclose(far.values, ff.free_energy_value(table, temperature=0.5).values, atol=1e-6)
    cold = ff.free_energy_value(table, temperature=1e-9)
    z = brute.coalitions(8)
    best = [table[z[:, i]].max() - table[~z[:, i]].max() for i in range(8)]
    assert_allclose(cold.values, best, atol=1e-7)


def test_free_energy_values_of_many_players_are_sampled(rng):
    tables = rng.normal(size=(10, 8))
    game = known_laws.BlocksGame(tables)
    found = ff.free_energy_value(game, temperature=0.5)
    parts = [ff.free_energy_value(table, temperature=0.5).values for table in tables]
    assert within(found.values, np.concatenate(parts), found.stderr)
    assert found.stderr.max() < 0.1
    assert found.method == "closed form: blocks, its law sampled"
    assert "samples of the law" in found.stop
    within_table = ff.free_energy_value(known_laws.BlocksGame(tables[:2]), temperature=0.5)
    assert within_table.method == "exact table"
    assert within_table.stderr is None
