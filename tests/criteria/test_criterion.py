"""Criteria of one's own."""

from dataclasses import dataclass

import numpy as np
import pytest

import fairfield as ff
from counted import Counted
from fairfield.criteria.banzhaf import Banzhaf
from fairfield.criteria.criterion import Criterion, plain_names, register
from fairfield.criteria.shapley import Shapley


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


CALLS = {
    "surplus": (lambda: ff.stream("shapley", [0, 1, 1, 5], 3), "takes none by position, 1"),
    "two": (
        lambda: ff.stream("variational_values", [0, 1, 1, 5], 2, 0.5, 3),
        "takes steps, start by position, 3",
    ),
    "twice": (
        lambda: ff.stream("variational_values", [0, 1, 1, 5], 2, steps=3),
        "steps by position and as steps=",
    ),
    "of an object": (lambda: ff.stream(Banzhaf(), [0, 1, 1, 5], 3), "has its arguments already"),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_arguments_too_many_or_given_twice_are_refused(call, message):
    with pytest.raises(TypeError, match=message):
        list(call())


def test_a_criterion_that_is_no_dataclass_is_not_registered():
    class Plain(Criterion):
        name, meaning = "plain", "Nothing."

        def exact(self, problem):
            raise NotImplementedError

    with pytest.raises(TypeError, match="Plain is no dataclass"):
        register(Plain)
    assert "plain" not in plain_names()


def test_an_estimate_of_ones_own_settles_no_relative_temperature():
    @dataclass(frozen=True)
    class Mine(Criterion):
        name, meaning = "mine", "What Shapley says."

        def exact(self, problem):
            return Shapley().exact(problem)

        def estimator(self, problem):
            return Shapley().estimator(problem)

    worth = Counted()
    options = {"players": 12, "budget": 200}
    with pytest.raises(ValueError, match="which mine under a budget does not estimate"):
        list(ff.stream(Mine(), worth, temperature=ff.relative(1), **options))
    assert worth.coalitions == 0
    *_, found = ff.stream(Mine(), worth, temperature=1.0, **options)
    assert found.marginals is not None
