"""Models have the worths and the gains of their games."""

import numpy as np
from numpy.testing import assert_allclose

import brute
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.members import Members
from fairfield.learning.models import Pairwise
from fairfield.learning.observed import observe

N = 6


def all_seen():
    return observe(enumerate_coalitions(N))


def test_worths_and_gains_are_those_of_the_game(model, theta):
    seen = all_seen()
    game = model.game(theta, seen)
    inside = seen.coalitions.astype(float)
    table = game.worths(enumerate_coalitions(N))
    assert_allclose(
        model.worths(theta, Members.of(seen.coalitions))[0],
        game.worths(seen.coalitions),
        atol=1e-12,
    )
    gains = np.array([brute.gradient(table, row) for row in inside])
    assert_allclose(model.gains(theta, inside)[0], gains, atol=1e-12)


def test_few_members_and_many_are_worth_the_same(monkeypatch, rng):
    model = Pairwise(N)
    theta, gradient = rng.normal(size=N + model.interactions), rng.normal(size=2**N)
    every = Members.of(enumerate_coalitions(N))
    answers = []
    for dense in (0, 10**9):
        monkeypatch.setattr("fairfield.learning.models.DENSE", dense)
        worths, pullback = model.worths(theta, every)
        answers.append((worths, pullback(gradient)))
    for one, other in zip(*answers, strict=True):
        assert_allclose(one, other, atol=1e-12)
