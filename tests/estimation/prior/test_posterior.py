"""What worths leave of a prior over games."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.estimation.prior import posterior as module
from fairfield.estimation.prior.posterior import posterior
from fairfield.estimation.surrogates.sample import Diagonal

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


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_values_are_those_of_the_mean_game(found, criterion):
    diagonal = getattr(Diagonal, criterion)(PLAYERS)
    every = (np.arange(2**PLAYERS)[:, None] >> np.arange(PLAYERS) & 1).astype(bool)
    expected = getattr(ff, criterion)(ff.TableGame(found.predict(every))).values
    assert_allclose(found.values(diagonal).values, expected, atol=1e-8)


def test_what_the_others_predict_is_what_they_predict_without_it(found):
    inside, outside = found.left(ROWS, worths(ROWS))
    assert_allclose(inside, worths(ROWS) - found.predict(ROWS))
    kept = np.arange(len(ROWS)) != 3
    total = np.linalg.inv(found.inverse)
    centred = worths(ROWS) - found.centre[:, None]
    guess = total[3, kept] @ np.linalg.solve(total[np.ix_(kept, kept)], centred[:, kept].T)
    assert_allclose(outside[:, 3], centred[:, 3] - guess, atol=1e-7)


def test_more_worths_than_are_used_are_predicted(monkeypatch):
    monkeypatch.setattr(module, "FITTED", 30)
    found = posterior(ROWS, worths(ROWS))
    assert len(found.coalitions) == 30
    inside, outside = found.left(ROWS, worths(ROWS))
    assert inside.shape == (2, len(ROWS))
    expected = worths(ROWS)[:, 30:] - found.predict(ROWS[30:])
    assert_allclose(inside[:, 30:], expected)
    assert_allclose(outside[:, 30:], expected)


def test_a_game_of_pairs_is_recovered_from_few_coalitions():
    quadratic = np.triu(RNG.normal(size=(PLAYERS, PLAYERS)), 1)
    game = ff.PairwiseGame(SLOPES, quadratic + quadratic.T)
    rows = np.concatenate([ROWS, ~ROWS])
    found = posterior(rows, game.worths(rows)[None])
    values, covariance, *_ = found.values(Diagonal.shapley(PLAYERS))
    assert_allclose(values[0], ff.shapley(game).values, atol=1e-4)
    assert np.trace(covariance[0]) < 1e-4


def test_shares_do_not_depend_on_the_scale_of_the_worths():
    first, second = (posterior(ROWS, factor * worths(ROWS) + 7.0) for factor in (1.0, 3.7))
    assert_allclose(second.shares, first.shares, rtol=1e-12)
    own, other = (each.values(Diagonal.shapley(PLAYERS))[0] for each in (first, second))
    assert_allclose(other, 3.7 * own, rtol=1e-6)


def test_noise_widens_the_errors():
    clear = posterior(ROWS, worths(ROWS)).values(Diagonal.shapley(PLAYERS))[1]
    noise = np.full((2, len(ROWS)), 0.5) * np.var(worths(ROWS), axis=1, keepdims=True)
    noisy = posterior(ROWS, worths(ROWS), noise).values(Diagonal.shapley(PLAYERS))[1]
    assert (np.trace(noisy, axis1=1, axis2=2) > np.trace(clear, axis1=1, axis2=2)).all()


def test_where_no_coalition_of_middle_size_is_known_errors_are_wide():
    ends = np.repeat([[False], [True]], PLAYERS, axis=1)
    single = np.eye(PLAYERS, dtype=bool)
    rows = np.concatenate([ends, single, ~single])
    game = ff.VotingGame([1] * PLAYERS, 5)  # nothing is won or lost by one at either end
    found = posterior(rows, game.worths(rows).astype(float)[None])
    values, covariance, *_ = found.values(Diagonal.shapley(PLAYERS))
    assert_allclose(values[0], 1 / PLAYERS, atol=1e-3)
    assert np.sqrt(covariance[0].diagonal()).min() > 0.01


def test_differences_that_may_be_noise_are_shrunk():
    noise = RNG.normal(size=(1, len(ROWS)))
    found = posterior(ROWS, noise).values(Diagonal.shapley(PLAYERS))
    centre = found.values.mean()
    assert found.kept[0] < 1
    assert_allclose(found.shrunk()[0] - centre, found.kept[0] * (found.values[0] - centre))


def test_constant_worths_are_no_trouble():
    found = posterior(ROWS, np.full((1, len(ROWS)), 2.5))
    assert_allclose(found.values(Diagonal.shapley(PLAYERS))[0], 0.0, atol=1e-12)
    assert_allclose(found.predict(ROWS), 2.5, atol=1e-9)
