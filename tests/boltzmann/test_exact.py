"""Exact laws against sums over all coalitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import chi2

import brute
import fairfield as ff
from boltzmann.known_laws import entropy


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
