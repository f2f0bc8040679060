"""The Boltzmann law of a game against sums over all coalitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import chi2

import brute
import fairfield as ff


def entropy(p):
    return -np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0))


@pytest.fixture(params=[None, "prior"])
def case(request, rng):
    table = brute.mixed(rng, 7)
    prior = None if request.param is None else rng.uniform(0.05, 0.95, 7)
    return table, prior, ff.Boltzmann(table, 0.6, prior), brute.boltzmann(table, 0.6, prior)


def test_sums_are_their_definitions(case):
    table, prior, law, p = case
    z = brute.coalitions(7).astype(float)
    log_weights = table / 0.6 + (0 if prior is None else np.log(brute.law(prior)))
    assert_allclose(law.log_z, logsumexp(log_weights), rtol=1e-13)
    assert_allclose(law.probability(z), p, rtol=1e-11)
    assert_allclose(law.marginals, p @ z, rtol=1e-12)
    assert_allclose(law.pair_marginals, (z * p[:, None]).T @ z, rtol=1e-12)
    assert_allclose(law.entropy, entropy(p), rtol=1e-12)
    assert_allclose(law.mean, p @ table, rtol=1e-12)
    apart = sum(entropy(np.array([m, 1 - m])) for m in p @ z)
    assert_allclose(law.total_correlation, apart - entropy(p), rtol=1e-10)


def test_twelve_players_are_summed_to_full_accuracy(rng):
    table = brute.mixed(rng, 12)
    law, p, z = ff.Boltzmann(table, 2.0), brute.boltzmann(table, 2.0), brute.coalitions(12)
    assert_allclose(law.marginals, p @ z, rtol=1e-12)
    assert_allclose(law.pair_marginals, (z * p[:, None]).T @ z.astype(float), rtol=1e-12)
    assert_allclose(law.entropy, entropy(p), rtol=1e-12)


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


def test_the_free_energy_value_is_the_log_odds_of_the_true_marginals(rng):
    table = brute.mixed(rng, 8)
    for temperature in (0.1, 1.0, 10.0):
        marginals = ff.Boltzmann(table, temperature).marginals
        found = ff.free_energy_value(table, temperature=temperature)
        assert_allclose(found.values, temperature * np.log(marginals / (1 - marginals)), rtol=1e-8)
    for temperature in (1e6, 1e10, 1e100):
        hot = ff.free_energy_value(table, temperature=temperature)
        assert_allclose(hot.values, brute.banzhaf(table), atol=100 / temperature + 1e-12)
    tilted = ff.Boltzmann(table, 50.0, prior=np.linspace(0.1, 0.9, 8))
    odds = tilted.marginals / (1 - tilted.marginals)
    assert_allclose(tilted.law.log_odds, np.log(odds), atol=1e-12)
    far = ff.free_energy_value(table + 1e9, temperature=0.5)
    assert_allclose(far.values, ff.free_energy_value(table, temperature=0.5).values, atol=1e-6)
    cold = ff.free_energy_value(table, temperature=1e-9)
    z = brute.coalitions(8)
    best = [table[z[:, i]].max() - table[~z[:, i]].max() for i in range(8)]
    assert_allclose(cold.values, best, atol=1e-7)


def test_conditioning_is_slicing(case):
    _, _, law, p = case
    z = brute.coalitions(7)
    some = z[:, 2] & ~z[:, 5]
    rest = [0, 1, 3, 4, 6]
    given = p * some / p[some].sum()
    conditional = law.condition(inside=[2], outside=[5])
    assert conditional.game.players == (0, 1, 3, 4, 6)
    assert_allclose(conditional.marginals, (given @ z)[rest], rtol=1e-11)


def test_a_prior_of_zero_or_one_is_conditioning(rng):
    table = brute.mixed(rng, 5)
    prior = np.array([0.5, 1.0, 0.5, 0.0, 0.5])
    fixed = ff.Boltzmann(table, 0.7, prior)
    sliced = ff.Boltzmann(table, 0.7).condition([1], [3])
    assert_allclose(fixed.marginals[[0, 2, 4]], sliced.marginals, rtol=1e-12)
    assert_allclose(fixed.marginals[[1, 3]], [1, 0], atol=1e-15)
    v = ff.variational_index(table, temperature=0.7, prior=prior)
    assert v.converged
    assert_allclose(v.marginals[[1, 3]], [1, 0], atol=1e-15)


def test_marginalising_keeps_log_z_and_the_law_of_the_rest(case):
    _, _, law, p = case
    rest = law.marginalise([1, 4])
    z = brute.coalitions(7)
    assert_allclose(rest.log_z, law.log_z, rtol=1e-12)
    assert_allclose(rest.marginals, law.marginals[[0, 2, 3, 5, 6]], rtol=1e-11)
    small = brute.coalitions(5)
    joint = [p[(z[:, [0, 2, 3, 5, 6]] == s).all(axis=1)].sum() for s in small]
    assert_allclose(rest.probability(small), joint, rtol=1e-10)


def test_draws_follow_the_law(case):
    _, _, law, p = case
    drawn = law.draw(40_000, seed=3)
    rows = drawn @ (1 << np.arange(7))
    seen, expected = np.bincount(rows, minlength=128), 40_000 * p
    large = expected > 5
    # Rare coalitions are pooled: the chi-squared law needs a few of each.
    observed = np.append(seen[large], seen[~large].sum())
    wanted = np.append(expected[large], max(expected[~large].sum(), 1e-9))
    keep = wanted > 5
    statistic = np.sum((observed[keep] - wanted[keep]) ** 2 / wanted[keep])
    assert statistic < chi2.ppf(1 - 1e-6, keep.sum())
    assert (law.draw(100, seed=5) == law.draw(100, seed=5)).all()


def test_log_determinant_games_have_known_sums(rng):
    """F(S) = log det L_S at T = 1: Z = det(L + I), marginals diag L(L+I)⁻¹."""
    a = rng.standard_normal((6, 6))
    kernel = a @ a.T + 0.1 * np.eye(6)
    z = brute.coalitions(6)
    table = np.array([np.linalg.slogdet(kernel[np.ix_(s, s)])[1] if s.any() else 0.0 for s in z])
    law = ff.Boltzmann(table, 1.0)
    assert_allclose(law.log_z, np.linalg.slogdet(kernel + np.eye(6))[1], rtol=1e-12)
    k = kernel @ np.linalg.inv(kernel + np.eye(6))
    assert_allclose(law.marginals, np.diag(k), rtol=1e-10)
    pairs = np.outer(np.diag(k), np.diag(k)) - k * k.T
    off = ~np.eye(6, dtype=bool)
    assert_allclose(law.pair_marginals[off], pairs[off], rtol=1e-9)


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


def test_batches_are_games_one_by_one(rng):
    tables, temperature = rng.standard_normal((3, 2**5)), np.array([0.3, 1.0, 4.0])
    law = ff.Boltzmann(tables, temperature)
    for i in range(3):
        one = ff.Boltzmann(tables[i], temperature[i])
        for name in (
            "log_z",
            "marginals",
            "pair_marginals",
            "entropy",
            "mean",
            "total_correlation",
        ):
            assert_allclose(getattr(law, name)[i], getattr(one, name), rtol=1e-11, err_msg=name)
        assert_allclose(law.marginalise([0]).log_z[i], one.log_z, rtol=1e-12)
    assert law.draw(4).shape == (3, 4, 5)


@pytest.mark.parametrize("temperature", [1e-3, 1e-200])
def test_cold_laws_do_not_overflow(temperature, rng):
    table = brute.mixed(rng, 6) * 100
    law = ff.Boltzmann(table, temperature)
    assert_allclose(law.log_z * temperature, table.max(), rtol=1e-12)
    assert_allclose(law.marginals, brute.coalitions(6)[table.argmax()], atol=1e-12)
    assert (law.draw(5) == brute.coalitions(6)[table.argmax()]).all()
    assert_allclose(law.entropy, 0, atol=1e-9)
