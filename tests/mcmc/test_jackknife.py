"""Jackknifed estimates: the textbook formulas for means, and the bias of curved functions."""

import numpy as np
from numpy.testing import assert_allclose

from fairfield.mcmc.jackknife import Jackknifed


def test_a_mean_has_the_usual_standard_error(rng):
    groups = rng.normal(size=(30, 4))
    found = Jackknifed.mean(groups)
    assert_allclose(found.estimate, groups.mean(axis=0))
    assert_allclose(found.stderr, groups.std(axis=0, ddof=1) / np.sqrt(30))
    assert_allclose((found.times(-3.0) + 2.0).stderr, 3 * found.stderr)
    assert_allclose((found - found).stderr, 0, atol=1e-15)
    assert_allclose(Jackknifed(0.0, np.zeros(5), least=0.25).stderr, 0.25)


def test_the_bias_of_a_square_is_taken_out(rng):
    groups = rng.normal(size=25)
    squared = Jackknifed.mean(groups).through(lambda mean: mean**2).unbiased()
    assert_allclose(squared.estimate, groups.mean() ** 2 - groups.var(ddof=1) / 25)
