"""Criteria of one's own."""

import numpy as np
import pytest

import fairfield as ff
from counted import Counted


def test_criteria_of_ones_own_receive_a_game_everywhere():
    seen = []

    def doubled(game):
        seen.append(type(game))
        assert isinstance(game, ff.Game)
        return ff.shapley(game)

    worth = Counted()
    found = ff.compare(worth, players=6, temperature=1.0, criteria={"own": doubled, "s": "shapley"})
    np.testing.assert_allclose(found["own"].values, found["s"].values)
    assert worth.coalitions == 2**6
    assert ff.axioms.check(doubled, [0, 1, 1, 5])["efficiency"].holds
    assert len(set(seen)) == 1


def test_a_criterion_of_ones_own_gets_the_temperature_it_asks_for():
    def index(game, temperature):
        return ff.variational_index(game, temperature=temperature)

    found = ff.compare([0, 1, 1, 5], temperature=0.7, criteria={"own": index})
    assert found["own"].temperature == 0.7


def test_a_criterion_of_ones_own_that_returns_no_valuation_is_named():
    with pytest.raises(TypeError, match="must return a Valuation"):
        ff.compare([0, 1, 1, 5], criteria={"own": lambda game: 3.0})
