"""Surrogates are chosen by what they predict."""

import numpy as np

from conftest import needs
from estimation.games import PLAYERS, SIGNS, TREE, sample_of
from fairfield.estimation.designs.design import Plan
from fairfield.estimation.fitter import MOST_GAMES, Fitter


def test_the_surrogate_that_predicts_best_is_used(rng):
    needs("sklearn", "ml")
    smooth = np.exp(-0.3 * (SIGNS + 0.5) @ np.arange(1.0, PLAYERS + 1))
    four = 5.0 * SIGNS[:, :4].prod(axis=1) + 0.01 * rng.standard_normal(2**PLAYERS)
    rough = (
        sum(SIGNS[:, [i, (i + 5) % PLAYERS]].prod(axis=1) for i in range(PLAYERS)) + 0.002 * four
    )
    names = [
        fit.surrogate.name
        for table in (smooth, four, rough)
        for fit in Fitter(0).fits(sample_of(table, "shapley", 240, plan=Plan(followed=False)))
    ]
    assert names[:2] == ["", "players of unequal weight"]
    assert names[2].startswith("a polynomial in ")


def test_many_games_are_fitted_together():
    """One prior serves all of them; surrogates are fitted to few games."""
    tables = np.outer(np.arange(1.0, MOST_GAMES + 2), TREE)
    few, many = (
        Fitter(0).fits(sample_of(tables[:count], "shapley", 100)) for count in (3, len(tables))
    )
    assert [len(fit.sampled.worths) for fit in few] == [1, 1, 1]
    assert [len(fit.sampled.worths) for fit in many] == [MOST_GAMES + 1]
