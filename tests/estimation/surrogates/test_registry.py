"""Surrogates by name: the quickest first, and no name is taken twice."""

import numpy as np
import pytest

from estimation.games import SIGNS, sample_of
from fairfield.estimation.surrogates import registry
from fairfield.estimation.surrogates.registry import enough, surrogate, surrogates


@pytest.fixture(autouse=True)
def known(monkeypatch):
    surrogates()  # registers those there are
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def test_the_quickest_surrogate_is_tried_first():
    assert [each.name for each in surrogates()] == ["kernel", "triples", "trees"]

    @surrogate("mine", lambda sample: True, seconds=0.5)
    def mine(sample, diagonal, seed, rival):
        return None

    assert [each.name for each in surrogates()] == ["kernel", "triples", "mine", "trees"]
    assert surrogates()[2].fit is mine


def test_no_name_is_taken_twice():
    def other(sample, diagonal, seed, rival):
        return None

    taken = "there is a surrogate 'kernel' already, kernel_surrogate; choose another name"
    with pytest.raises(ValueError, match=taken):
        surrogate("kernel", lambda sample: True)(other)
    assert surrogates()[0].fit is not other
    surrogate("other", lambda sample: True)(other)
    surrogate("other", lambda sample: False)(other)  # a cell of a notebook that is run again


def test_few_pairs_and_many_games_are_not_fitted_game_by_game():
    sample = sample_of(np.sqrt(np.abs(SIGNS.sum(axis=1))), "shapley", 120)
    assert enough(sample)
    assert not enough(sample_of(np.zeros(2**9), "shapley", 24))
