"""Surrogates are read exactly, and corrected by what they leave."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from conftest import needs
from estimation.games import PLAYERS, TREE, Batch
from fairfield.estimation.fitter import MOST_GAMES


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_games_of_a_batch_have_the_values_that_they_have_alone(criterion):
    tables = np.stack([TREE, -2.0 * TREE])
    together = getattr(ff, criterion)(Batch(tables), budget=100)
    for values, table in zip(together.values, tables, strict=True):
        alone = getattr(ff, criterion)(Batch(table), budget=100)
        np.testing.assert_allclose(values, alone.values, rtol=1e-6)


def test_votes_are_not_read_from_a_prior_alone():
    """A vote jumps where no coalition was seen: corrected by its own errors, the truth is inside."""
    table = (brute.coalitions(PLAYERS) @ np.arange(1.0, PLAYERS + 1) >= 36) * 1.0
    exact = brute.banzhaf(table)
    for seed in range(5):
        found = ff.banzhaf(Batch(table), budget=120, seed=seed)
        assert "corrected" in found.method or "regression" in found.method
        assert (np.abs(found.values - exact) <= 5 * found.stderr).all()


def test_a_surrogate_has_errors_of_its_own():
    """Of semivalues, too, the prior given what trees leave is too sure: these are corrected."""
    needs("sklearn", "ml")
    skill = np.linspace(0, 2, 12) ** 2
    table = (brute.coalitions(12) * skill).max(axis=1)
    late = ff.beta(4, 1)
    exact = ff.semivalue(table, late).values
    for seed in range(3):
        found = ff.semivalue(Batch(table), late, budget=300, seed=seed)
        assert "corrected" in found.method
        assert (np.abs(found.values - exact) <= 5 * found.stderr).all()


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
@pytest.mark.parametrize("budget", [80, 100])
def test_votes_that_hardly_anybody_wins_keep_their_errors(criterion, budget):
    """Where all worths of a size agree, no residual tells of those that were not seen."""
    weights = np.array([12, 10, 8, 7, 6, 5, 4, 3, 2, 1])
    table = (brute.coalitions(10) @ weights >= 50) * 1.0
    exact = getattr(brute, criterion)(table)
    for seed in range(4):
        found = getattr(ff, criterion)(Batch(table), budget=budget, seed=seed)
        assert (np.abs(found.values - exact) <= 5 * found.stderr).all()


def test_votes_of_which_little_is_known_are_shared_evenly():
    """An equal share is the trivial answer: from 3n coalitions one of these seeds was twice as far off."""
    weights = np.random.default_rng(4).integers(1, 40, 30)
    game = ff.VotingGame(weights, weights.sum() // 2 + 1)
    exact = ff.shapley(game).values
    trivial = np.sum((exact - exact.mean()) ** 2)
    for seed in range(4):
        found = ff.shapley(ff.FunctionGame(game.worths, 30), budget=90, seed=seed)
        assert np.sum((found.values - exact) ** 2) <= 1.05 * trivial


@pytest.mark.parametrize("budget", [200, 400])
def test_noise_does_not_move_all_values_the_same_way(budget, rng):
    """What ∅, the only one of its size, leaves of a prior that was not given it was added to every value."""
    cover = 2 * rng.random((20, 8))
    game = ff.FLIDGame(np.full(20, (cover.sum() - cover.max(axis=0).sum()) / 20), cover)
    weights = ff.beta(4, 1)
    exact, deviation = (
        ff.semivalue(game, weights).values,
        game.worths(rng.random((99, 20)) < 0.5).std(),
    )
    for _ in range(2):
        noisy = ff.FunctionGame(
            lambda S: game.worths(S) + 0.1 * deviation * rng.normal(size=len(S)), 20, random=True
        )
        found = ff.semivalue(noisy, weights, budget=budget, seed=0)
        assert (np.abs(found.values - exact) <= 5 * found.stderr).all()
        # Errors are of the noise, and not of sizes that were drawn whole.
        assert np.sqrt(np.mean(found.stderr**2)) <= 0.2 * deviation


def test_pairs_of_votes_of_which_little_is_known_are_nothing_or_shared_evenly():
    """Shapley and Taylor's pairs of this vote were up to 50 times as far off as 0."""
    weights = np.random.default_rng(4).integers(1, 40, 30)
    game = ff.VotingGame(weights, weights.sum() // 2 + 1)
    exact = ff.interactions(game, "stii").of_size(2).values
    worths = ff.FunctionGame(game.worths, 30)
    for seed in range(2):
        found = ff.interactions(worths, "stii", budget=600, seed=seed).of_size(2)
        assert np.sum((found.values - exact) ** 2) <= np.sum(exact**2)


def test_a_polynomial_that_no_worth_confirms_is_not_used():
    """A tree that 100 of 1024 coalitions let look like another had no error at all."""
    s = brute.coalitions(10).astype(float)
    high = np.where(s[:, 3] > 0, 2, 0.5) * s[:, 5]
    low = np.where(s[:, 7] > 0, 1, -1) * (1 + s[:, 2])
    table = np.where(s[:, 0] > 0, high, low) + 0.3 * s[:, 1] * s[:, 4] * s[:, 6]
    exact = brute.banzhaf(table)
    for seed in (33, 35):
        found = ff.banzhaf(Batch(table), budget=100, seed=seed)
        assert (np.abs(found.values - exact) <= 5 * found.stderr + 1e-9).all()


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_votes_of_a_large_batch_are_read_as_those_of_a_small_one(criterion, rng):
    """Of more games than surrogates are fitted to; a smooth game among them keeps its own errors."""
    weights = rng.integers(1, 10, 14)
    coalitions = brute.coalitions(14)
    vote = 1.0 * (coalitions @ weights >= 0.93 * weights.sum())
    few, many = (
        criterion(Batch(np.tile(vote, (count, 1))), budget=100) for count in (3, MOST_GAMES + 1)
    )
    assert_allclose(many.values[0], few.values[0], atol=1e-9)
    assert_allclose(many.stderr[0], few.stderr[0], rtol=1e-6)
    mixed = np.tile(np.tanh(coalitions @ weights / 20), (MOST_GAMES + 1, 1))
    mixed[-1] = vote
    beside = criterion(Batch(mixed), budget=100)
    assert np.mean(beside.stderr[0]) < 0.2 * np.mean(beside.stderr[-1])
    exact = criterion(vote).values
    assert (np.abs(beside.values[-1] - exact) <= 5 * beside.stderr[-1]).all()
