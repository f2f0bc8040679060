"""The strongest pairs of many players."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff


@pytest.mark.parametrize("criterion", ["banzhaf", "variational_index", "shapley"])
def test_the_strongest_pairs_are_found_without_all(criterion, rng):
    n = 60
    scale = np.exp(rng.normal(size=n) * 1.5)
    half = np.triu(rng.normal(size=(n, n)) * np.outer(scale, scale), 1) / n
    game = ff.PairwiseGame(rng.normal(size=n), half + half.T)
    every = ff.interactions(game, criterion, temperature=1.0).top(8)
    found = ff.interactions(game, criterion, top=8, temperature=1.0)
    assert found.coalitions == [pair for pair, _ in every]
    assert_allclose(found.values, [value for _, value in every], rtol=1e-9)


def test_the_strongest_pairs_of_many_players_are_not_listed(rng, monkeypatch):
    n = 3000
    weights = np.zeros((n, 2))
    weights[rng.choice(n, 40, replace=False)] = rng.random((40, 2))
    game = ff.FacilityLocationGame(weights)
    asked = []
    gradient = type(game.extension()).gradient

    def counted(self, x):
        asked.append(np.asarray(x).size // n)
        return gradient(self, x)

    monkeypatch.setattr(type(game.extension()), "gradient", counted)
    found = ff.interactions(game, "banzhaf", top=3)
    assert len(found.coalitions) == 3
    assert sum(asked) < n / 4
    busy = np.flatnonzero(weights.any(axis=1))
    small = ff.interactions(ff.FacilityLocationGame(weights[busy]), "banzhaf").top(3)
    assert found.coalitions == [(busy[i], busy[j]) for (i, j), _ in small]
    with pytest.raises(ValueError, match="leave out"):
        ff.interactions(game, "banzhaf", top=3, order=3)
    with pytest.raises(ValueError, match="looks for pairs"):
        ff.interactions(game, "log_odds", top=3)
