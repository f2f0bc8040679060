"""What surrogates have in common: values that add up, folds that are left out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import brute
import fairfield as ff
from estimation.games import DIAGONALS, PLAYERS, SIGNS, sample_of, sampled
from fairfield.estimation.surrogates import kernels, triples
from fairfield.estimation.surrogates import sample as surrogates
from fairfield.estimation.surrogates import trees as boosting
from fairfield.estimation.surrogates.sample import Diagonal


@pytest.mark.parametrize("law", DIAGONALS)
@pytest.mark.parametrize("surrogate", ["kernel", "triples", "trees"])
def test_a_surrogate_adds_up(surrogate, law, rng):
    """Values of the surrogate, and of what it leaves of the game, are those of the game."""
    table = np.tanh(SIGNS @ rng.standard_normal(PLAYERS)) + SIGNS[:, :3].prod(axis=1)
    sample = sample_of(table, law, 240)
    fits = {
        "kernel": lambda: kernels.kernel_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
        "triples": lambda: triples.triple_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
        "trees": lambda: boosting.tree_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
    }
    fit = fits[surrogate]()
    exact = getattr(brute, law)(table)
    linear = np.linalg.lstsq(sample.signs, sample.odd[0])[0]
    assert np.abs(fit.values[0] - exact).max() < np.abs(exact).max()
    assert np.mean(fit.outside**2) < np.mean((sample.odd[0] - sample.signs @ linear) ** 2)
    assert np.mean(fit.inside**2) <= np.mean(fit.outside**2)


def test_more_pairs_than_are_fitted_are_left_to_the_correction(rng, monkeypatch):
    table = np.tanh(SIGNS @ rng.standard_normal(PLAYERS)) + SIGNS[:, :3].prod(axis=1)
    monkeypatch.setattr(surrogates, "FITTED", 120)
    sample = sample_of(table, "shapley", 200)
    fit = triples.triple_surrogate(sample, Diagonal.shapley(PLAYERS), 0, sample.odd)
    assert_array_equal(fit.inside[:, 120:], fit.outside[:, 120:])
    assert (fit.inside[:, :120] != fit.outside[:, :120]).all()
    found = sampled(ff.shapley, table, budget=402)
    exact = ff.shapley(table).values
    assert (np.abs(found.values - exact) <= 5 * found.stderr).all()
