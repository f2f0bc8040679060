"""Sums of maxima."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.games.set_functions.maxima import MaximaExtension
from games.examples import assert_same_game, some_points, table_of


def test_sums_of_maxima_on_any_device(xp, rng):
    gains, weights = rng.standard_normal(7), rng.standard_normal((7, 3))
    here, there = ff.FLIDGame(gains, weights), ff.FLIDGame(gains, xp.asarray(weights))
    assert_same_game(here, there, rng)
    assert there.describe() == here.describe()


def test_ties_and_players_who_are_surely_in(rng):
    weights = rng.integers(-2, 3, (6, 4)) * 1.0
    closed = MaximaExtension(np.zeros(6), weights)
    table = table_of(ff.FacilityLocationGame(weights))
    x = some_points(6)
    for of in ("value", "gradient", "hessian"):
        assert_allclose(getattr(closed, of)(x), getattr(table, of)(x), atol=1e-12)
    assert_allclose(closed.shapley(), table.shapley(), atol=1e-12)
