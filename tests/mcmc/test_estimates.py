"""Estimates from a run: what they must have in common, and their errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from scipy.stats import t as student

import fairfield as ff
from boltzmann import known_laws


@pytest.fixture(scope="module")
def estimates():
    rng = np.random.default_rng(20220425)
    game = known_laws.two_modes(rng, blocks=6, each=5)
    return ff.Boltzmann(game, 1.0, budget=25_000).law.estimates


def test_pairs_are_means_over_groups(estimates):
    groups = np.array(list(estimates.pairs()))
    mean, error = estimates.pair_marginals
    off = ~np.eye(30, dtype=bool)
    assert_allclose(mean[off], groups.mean(axis=0)[off], rtol=1e-12)
    assert_allclose(error[off], (groups.std(axis=0) / np.sqrt(len(groups) - 1))[off], rtol=1e-6)
    assert_allclose(np.diag(mean), estimates.marginals.estimate)
    assert (mean == mean.T).all()


def test_entropy_is_what_is_left_of_log_z(estimates):
    left = estimates.log_z.estimate - estimates.log_weight.estimate
    assert_allclose(estimates.entropy.estimate, left)
    assert estimates.count == estimates.samples.log_weights.size


def test_errors_are_inflated_and_never_below_one_sample(estimates):
    """Also for the few groups that they are seen in, by Student's law."""
    groups = estimates.samples.log_odds.shape[1]
    wider = student.ppf(0.975, groups - 1) / norm.ppf(0.975)
    assert 1 < wider < 1.1
    for reading in ("log_z", "mean", "entropy", "total_correlation"):
        error = wider * estimates.run.trusted.inflation * getattr(estimates, reading).stderr
        assert_allclose(estimates.stderr(reading), error)
    for reading in ("marginals", "pair_marginals"):
        assert (estimates.stderr(reading) >= 1 / estimates.count).all()
    assert (estimates.stderr("log_odds") > 0).all()
