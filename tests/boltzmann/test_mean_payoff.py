"""The temperature of a mean payoff, or of observed coalitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from boltzmann.known_laws import entropy


@given(st.floats(0.05, 0.95))
@settings(max_examples=30, deadline=None)
def test_the_temperature_of_a_mean_payoff_gives_it_back(share):
    table = brute.mixed(np.random.default_rng(4), 6)
    mean = table.mean() + share * (table.max() - table.mean())
    law = ff.Boltzmann.from_mean(table, mean)
    assert_allclose(law.mean, mean, rtol=1e-9)
    # Maximum entropy: other laws of the same mean have less.
    p = law.probability(brute.coalitions(6))
    rng = np.random.default_rng(5)
    away = rng.standard_normal(64)
    fixed = np.linalg.qr(np.stack([np.ones(64), table], axis=1))[0]
    away -= fixed @ (fixed.T @ away)
    other = p + 0.5 * away * np.min(p / np.maximum(np.abs(away), 1e-12))
    assert_allclose([other.sum(), other @ table], [1, mean], rtol=1e-9)
    assert entropy(other) < entropy(p)


def test_means_out_of_reach_are_refused(rng):
    table = brute.mixed(rng, 4)
    for mean in (table.mean() - 0.1, table.max(), table.max() + 1):
        with pytest.raises(ValueError, match="must lie between"):
            ff.Boltzmann.from_mean(table, mean)


def test_the_temperature_of_a_mean_payoff_is_found_by_sampling():
    game, _ = known_laws.ferromagnet(60, coupling=1.0, field=0.4)
    law = ff.Boltzmann.from_mean(game, 5.0, budget=25_000)
    size = np.arange(61)
    worth = game.linear[0] * size + game.quadratic[0, 1] * size * (size - 1) / 2
    from scipy.special import gammaln

    logs = -gammaln(size + 1) - gammaln(61 - size) + worth / law.temperature
    weights = np.exp(logs - logs.max())
    exact = weights @ worth / weights.sum()
    assert abs(exact - law.mean) <= 5 * law.stderr("mean")
    assert abs(exact - 5.0) <= 6 * law.stderr("mean")
    with pytest.raises(ValueError, match="must lie above"):
        ff.Boltzmann.from_mean(game, -100.0)
    alike = ff.PairwiseGame(np.ones(26), np.zeros((26, 26)))
    with pytest.raises(ValueError, match="no temperature was found"):
        ff.Boltzmann.from_mean(alike, 27.0, budget=40_000)


def test_observed_coalitions_set_the_temperature_of_largest_likelihood(rng):
    table = brute.mixed(rng, 6)
    seen = ff.Boltzmann(table, 0.8).draw(500, seed=1)
    law = ff.Boltzmann.from_coalitions(table, seen)
    best = law.log_likelihood(seen).mean()
    for factor in (0.99, 1.01):
        other = ff.Boltzmann(table, factor * law.temperature)
        assert other.log_likelihood(seen).mean() < best
    assert 0.6 < law.temperature < 1.1
    with pytest.raises(ValueError, match="with 6 columns"):
        law.log_likelihood([[0, 1]])


def test_no_coalitions_set_no_temperature():
    with pytest.raises(ValueError, match="no coalitions were given"):
        ff.Boltzmann.from_coalitions([0.0, 1.0], np.zeros((0, 1)))
