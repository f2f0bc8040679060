"""The law of a game beside that of independent players, on held-out coalitions."""

import numpy as np
import pytest

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.law import Gain, gain_on
from fairfield.learning.observed import observe


def test_the_gain_is_the_difference_of_the_log_likelihoods(rng):
    pairs = np.triu(rng.normal(size=(4, 4)), 1)
    game = ff.PairwiseGame(rng.normal(size=4), pairs + pairs.T)
    alone = ff.PairwiseGame(rng.normal(size=4), np.zeros((4, 4)))
    rows = rng.random((30, 4)) < 0.4
    every = enumerate_coalitions(4)
    ours, theirs = (
        each.worths(rows) - np.log(np.exp(each.worths(every)).sum()) for each in (game, alone)
    )
    found = gain_on(game, alone, observe(rows))
    assert found.mean == pytest.approx((ours - theirs).mean(), abs=1e-12)
    assert found.error == pytest.approx((ours - theirs).std(ddof=1) / np.sqrt(30))


def test_the_verdict_needs_two_standard_errors():
    for mean, word in ((-0.5, "worse than"), (-0.1, "as good as"), (0.5, "better than")):
        gain = Gain(mean, 0.1)
        assert f"the law is {word} that of independent players" in str(gain)
        assert gain.is_loss == (word == "worse than")
    assert not Gain(-9.0, np.inf).is_loss
