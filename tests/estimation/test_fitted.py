"""Surrogates chosen by what they predict, read exactly, corrected by what they leave."""

import numpy as np
import pytest

import brute
import fairfield as ff
from conftest import needs
from estimation.games import PLAYERS, SIGNS, Batch, sample_of
from fairfield.estimation.fitted import MOST_GAMES, Fitter

TREE = (SIGNS[:, 0] > 0) * 2.0 + (SIGNS[:, :4] > 0).all(axis=1) * 3.0 + np.sin(SIGNS.sum(axis=1))


def test_the_surrogate_that_predicts_best_is_used(rng):
    needs("sklearn", "ml")
    smooth = np.exp(-0.3 * (SIGNS + 0.5) @ np.arange(1.0, PLAYERS + 1))
    rough = 5.0 * SIGNS[:, :4].prod(axis=1) + 0.01 * rng.standard_normal(2**PLAYERS)
    names = [
        fit.surrogate.name
        for table in (smooth, rough)
        for fit in Fitter(0).fits(sample_of(table, "shapley", 200))
    ]
    assert names[0] == ""
    assert names[1].startswith("a polynomial in ")


def test_many_games_are_fitted_together():
    """One prior serves all of them; surrogates are fitted to few games."""
    tables = np.outer(np.arange(1.0, MOST_GAMES + 2), TREE)
    few, many = (
        Fitter(0).fits(sample_of(tables[:count], "shapley", 100)) for count in (3, len(tables))
    )
    assert [len(fit.sampled.worths) for fit in few] == [1, 1, 1]
    assert [len(fit.sampled.worths) for fit in many] == [MOST_GAMES + 1]


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_games_of_a_batch_have_the_values_that_they_have_alone(criterion):
    tables = np.stack([TREE, -2.0 * TREE])
    together = getattr(ff, criterion)(Batch(tables), budget=100)
    for values, table in zip(together.values, tables, strict=True):
        alone = getattr(ff, criterion)(Batch(table), budget=100)
        np.testing.assert_allclose(values, alone.values, rtol=1e-6)


def test_votes_are_not_read_from_a_prior_alone():
    """A vote jumps where no coalition was seen: corrected by its own errors, the truth is inside."""
    table = (brute.coalitions(PLAYERS) @ np.arange(1.0, PLAYERS + 1) >= 36) * 1.0
    exact = brute.banzhaf(table)
    for seed in range(5):
        found = ff.banzhaf(Batch(table), budget=120, seed=seed)
        assert "corrected" in found.method or "regression" in found.method
        assert (np.abs(found.values - exact) <= 5 * found.stderr).all()
