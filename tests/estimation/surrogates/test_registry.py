"""Surrogates by name: the quickest first, and no name is taken twice."""

import pytest

from fairfield.estimation.surrogates import registry
from fairfield.estimation.surrogates.registry import surrogate, surrogates


@pytest.fixture(autouse=True)
def known(monkeypatch):
    surrogates()  # registers those there are
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def test_the_quickest_surrogate_is_tried_first():
    assert [each.name for each in surrogates()] == ["few interactions", "unequal players", "trees"]

    @surrogate("mine", lambda sampled: True, seconds=0.4)
    def mine(sampled, seed, rival):
        return None

    names = [each.name for each in surrogates()]
    assert names == ["few interactions", "mine", "unequal players", "trees"]
    assert surrogates()[1].fit is mine


def test_no_name_is_taken_twice():
    def other(sampled, seed, rival):
        return None

    taken = "there is a surrogate 'trees' already, boosted_trees; choose another name"
    with pytest.raises(ValueError, match=taken):
        surrogate("trees", lambda sampled: True)(other)
    assert surrogates()[2].fit is not other
    surrogate("other", lambda sampled: True)(other)
    surrogate("other", lambda sampled: False)(other)  # a cell of a notebook that is run again
