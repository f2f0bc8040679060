"""What worths leave of a prior over games."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fairfield.estimation.prior import posterior as module
from fairfield.estimation.prior.posterior import posterior

PLAYERS = 9
RNG = np.random.default_rng(1)
SLOPES = RNG.normal(size=PLAYERS)
ROWS = np.unique(RNG.random((80, PLAYERS)) < RNG.random((80, 1)), axis=0)
ROWS = RNG.permutation(ROWS)[:40]


def worths(rows):
    total = rows @ SLOPES
    return np.stack([np.sqrt(np.abs(total)) + 3 * total, total**2 / 4 + total])


@pytest.fixture(scope="module")
def found():
    return posterior(ROWS, worths(ROWS))


def test_more_worths_than_are_used_are_predicted(monkeypatch):
    monkeypatch.setattr(module, "FITTED", 30)
    found = posterior(ROWS, worths(ROWS))
    assert len(found.coalitions) == 30


def test_shares_do_not_depend_on_the_scale_of_the_worths():
    first, second = (posterior(ROWS, factor * worths(ROWS) + 7.0) for factor in (1.0, 3.7))
    assert_allclose(second.shares, first.shares, rtol=1e-12)
    every = np.eye(PLAYERS, dtype=bool)
    own, other = (each.predict(every) for each in (first, second))
    assert_allclose(other, 3.7 * (own - 7.0) + 7.0, rtol=1e-6)


def test_predictions_are_those_of_the_mean_given_the_worths(found):
    total = np.linalg.inv(found.inverse)
    centred = (worths(ROWS) - found.centre[:, None]) / found.scale[:, None]
    assert_allclose(found.alpha, np.linalg.solve(total, centred.T).T, atol=1e-6)


def test_constant_worths_are_no_trouble():
    found = posterior(ROWS, np.full((1, len(ROWS)), 2.5))
    assert_allclose(found.predict(ROWS), 2.5, atol=1e-9)
