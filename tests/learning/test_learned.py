"""What a learned game says of itself, and which players it would add."""

import json
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.learning.law import Gain
from fairfield.reports.summarise import summarise

NAMES = ("tea", "milk", "beer", "bread")


@pytest.fixture
def seen(rng):
    chances = np.where(rng.random((300, 1)) < 0.5, [0.7, 0.7, 0.1, 0.2], [0.1, 0.1, 0.6, 0.6])
    return ff.learning.observe(rng.random((300, 4)) < chances, NAMES)


def test_filling_in_ranks_by_the_probability_given_the_coalition(seen):
    game = ff.learn(seen, strength=1.0)
    found = game.fill_in(["tea"], k=2)
    base, *joined = game.worths(
        np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]) > 0
    )
    chances = 1 / (1 + np.exp(base - np.array(joined)))
    order = np.argsort(-chances)[:2]
    assert [player for player, _ in found] == [NAMES[1 + i] for i in order]
    assert_allclose([chance for _, chance in found], chances[order], rtol=1e-10)
    assert len(game.fill_in(["tea", "beer"], k=9)) == 2
    with pytest.raises(ValueError, match="'wine', who is not among the players"):
        game.fill_in(["wine"])


def test_the_index_starts_at_the_frequencies(seen):
    """Where a law has two modes, the index finds the one near the data."""
    few = seen.coalitions & (seen.coalitions.sum(axis=1) < 2)[:, None]
    game = ff.learn(few, strength=1.0)
    assert_allclose(game.traits.start, few.mean(axis=0), atol=0.1)
    # A law of all or nobody.
    game.form = ff.PairwiseGame(np.full(4, -4.0), 3.0 * (1 - np.eye(4)))
    near = ff.variational_index(game, temperature=1.0)
    assert_allclose(
        near.values, ff.variational_index(game, temperature=1.0, start=game.traits.start).values
    )
    assert near.marginals.max() < 0.1
    assert ff.variational_index(game, temperature=1.0, start=0.9).marginals.min() > 0.9
    pairs = [
        ff.interactions(game, "variational_index", temperature=1.0, **options).values
        for options in ({}, {"start": game.traits.start})
    ]
    assert_allclose(*pairs)


def test_a_law_that_is_worse_is_left_for_nce_or_said_to_be_in_every_form(seen, monkeypatch):
    gains = [Gain(-1.0, 0.1), Gain(0.3, 0.1), Gain(-1.0, 0.1), Gain(-2.0, 0.1)]
    monkeypatch.setattr(
        sys.modules["fairfield.learning.learn"], "gain_on", lambda *given: gains.pop(0)
    )
    better = ff.learn(seen)
    assert (better.objective, better.gain) == ("nce", Gain(0.3, 0.1))
    assert "worse" not in repr(better)
    with pytest.warns(ff.ReliabilityWarning, match="worse than that of independent players, by 1"):
        worse = ff.learn(seen)
    assert worse.objective == "pseudolikelihood"
    v = ff.shapley(worse)
    summary = json.dumps(summarise(v), ensure_ascii=False)
    for said in (repr(worse), repr(v), summary):
        assert "worse than independent players on held-out data" in said
    for said in (repr(v), summary):
        assert "below 0 where a player is in fewer than half" in said
    assert_allclose(v.data, seen.frequencies, atol=1e-4)
