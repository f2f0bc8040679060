"""The mean game of the prior: what is read of it, and how sure that is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from estimation.games import sample_of
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.along import Along
from fairfield.estimation.designs.design import Plan
from fairfield.estimation.prior.mean_game import MeanGame

PLAYERS = 9
SINGLE = np.arange(PLAYERS)[:, None]
SLOPES = np.random.default_rng(1).normal(size=PLAYERS)
TOTAL = enumerate_coalitions(PLAYERS) @ SLOPES
TABLES = np.stack([np.sqrt(np.abs(TOTAL)) + 3 * TOTAL, TOTAL**2 / 4 + TOTAL])


def mean_game(tables, budget=60, seed=0, noise=None):
    """The mean games given some worths of tables."""
    sampled = sample_of(tables, "shapley", budget, seed, Plan(first=True))
    if noise is not None:
        from dataclasses import replace

        sampled = replace(sampled, noise=np.full(sampled.worths.shape, noise), noisy=True)
    return MeanGame.given(sampled, sampled.worths)


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_values_are_those_of_the_mean_game(criterion):
    found = mean_game(TABLES)
    predicted = ff.TableGame(found.posterior.predict(enumerate_coalitions(PLAYERS)))
    along = getattr(Along, criterion)(PLAYERS)
    exact = getattr(ff, criterion)(predicted).values
    assert_allclose(found.values(along, SINGLE), exact, atol=1e-8)
    # The same as weights of the worths that were given.
    posed = found.posterior
    centred = found.worths - posed.centre[:, None]
    assert_allclose(centred @ found.weights(along, SINGLE), exact, atol=1e-6)


def test_a_worth_is_predicted_without_it_and_its_complement():
    found = mean_game(TABLES)
    total = np.linalg.inv(found.posterior.inverse)
    centred = found.worths - found.posterior.centre[:, None]
    pair = np.array([6, 7])
    kept = np.setdiff1d(np.arange(len(total)), pair)
    guess = total[np.ix_(pair, kept)] @ np.linalg.solve(
        total[np.ix_(kept, kept)], centred[:, kept].T
    )
    assert_allclose(found.outside[:, pair], centred[:, pair] - guess.T, atol=1e-6)
    assert_allclose(found.inside, found.worths - found.posterior.predict(found.sampled.rows))


def test_more_worths_than_are_used_are_predicted(monkeypatch):
    from fairfield.estimation.prior import posterior as module

    monkeypatch.setattr(module, "FITTED", 30)
    found = mean_game(TABLES)
    assert len(found.posterior.coalitions) == 30
    assert_allclose(found.outside[:, 30:], found.inside[:, 30:])
    assert found.inside.shape == (2, 60)


def test_a_game_of_pairs_is_recovered_from_few_coalitions(rng):
    quadratic = np.triu(rng.normal(size=(PLAYERS, PLAYERS)), 1)
    game = ff.PairwiseGame(SLOPES, quadratic + quadratic.T)
    found = mean_game(game.worths(enumerate_coalitions(PLAYERS)), budget=88)
    answer = found.read(Along.shapley(PLAYERS), SINGLE, PLAYERS, whole=True)
    exact = ff.shapley(game).values
    assert_allclose(answer.values[0], exact, atol=3e-4)
    assert answer.spread()[0] < 1e-4 * np.sum(exact**2)


def test_noise_widens_the_errors():
    along = Along.shapley(PLAYERS)
    clear, noisy = (
        mean_game(TABLES, noise=noise).read(along, SINGLE, PLAYERS, whole=True).spread()
        for noise in (None, 0.5 * np.var(TABLES))
    )
    assert (noisy > clear).all()


def test_where_no_coalition_of_middle_size_is_known_errors_are_wide():
    """Nothing is won or lost by one player at either end."""
    table = (enumerate_coalitions(PLAYERS).sum(axis=1) >= 5) * 1.0
    found = mean_game(table, budget=2 * PLAYERS + 2)
    answer = found.read(Along.shapley(PLAYERS), SINGLE, PLAYERS, whole=True)
    assert_allclose(answer.values[0] - answer.values[0].mean(), 0.0, atol=1e-3)
    assert np.sqrt(answer.variances).min() > 0.01


def test_values_that_may_be_noise_are_drawn_to_nothing(rng):
    along, kept = Along.banzhaf(PLAYERS), []
    for _ in range(12):
        found = mean_game(rng.normal(size=2**PLAYERS), budget=40)
        answer, bare = found.read(along, SINGLE, PLAYERS, whole=True), found.values(along, SINGLE)
        kept.append(np.sum(np.abs(answer.values)) / np.sum(np.abs(bare)))
    assert max(kept) <= 1
    assert np.mean(kept) < 0.9


def test_variances_of_interactions_allow_for_what_is_drawn_to_others():
    """Beside those of the covariance: by as much as nothing is known of a reading, it is drawn to the others."""
    found, along = mean_game(TABLES), Along.shapley(PLAYERS)
    one, whole = (found.read(along, SINGLE, PLAYERS, whole=each) for each in (False, True))
    assert one.errors.shape == (2, PLAYERS)
    assert whole.errors.shape == (2, PLAYERS, PLAYERS)
    more = one.variances - whole.variances
    assert (more > 0).all()
    shares = more / found.values(along, SINGLE) ** 2
    assert_allclose(shares, np.broadcast_to(shares[:1, :1], shares.shape), rtol=1e-3)
