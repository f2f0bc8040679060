"""A surrogate for games in which some players matter much more than others."""

from dataclasses import replace

import numpy as np
import pytest

import brute
import fairfield as ff
from estimation.games import errors, sample_of
from fairfield.estimation.along import Along
from fairfield.estimation.surrogates import unequal
from fairfield.estimation.surrogates.registry import tell_of_surrogates
from fairfield.evaluation.threads import one_blas_thread

PLAYERS = 12
ROWS = brute.coalitions(PLAYERS).astype(bool)


def few_matter(S):
    """A program with if-statements: five of the players decide."""
    branch = np.where(S[:, 0], 2.0 * S[:, 3] - S[:, 5], 3.0 * (S[:, 5] & ~S[:, 7]))
    return branch + np.where(S[:, 7], 1.5 * (S[:, 9] & S[:, 3]), 0.5)


TABLE = few_matter(ROWS)


def fitted(budget=60, seed=0):
    sampled = sample_of(TABLE, "banzhaf", budget, seed)
    with one_blas_thread():
        return sampled, unequal.unequal_players(sampled, seed, np.inf)


def test_players_who_matter_are_found_and_unseen_worths_predicted():
    _, found = fitted()
    (game,) = found.parts
    assert {0, 3, 5, 7} <= set(game.players[game.rates > 0.01]) <= {0, 3, 5, 7, 9}
    left = TABLE - game.predict(ROWS)
    assert np.std(left - left.mean()) < 0.2 * np.std(TABLE)


def test_what_is_left_of_a_worth_is_what_a_fit_without_it_leaves():
    sampled, found = fitted()
    evidence = unequal.Evidence.of(sampled, len(sampled.rows))
    with one_blas_thread():
        shares, rates = evidence.on(np.arange(len(sampled.rows))).likeliest()
    whole = unequal.Fit.of(evidence, shares, rates)
    outside = whole.outside(sampled.worths[0], sampled.twins)
    np.testing.assert_allclose(outside, found.outside, atol=1e-9 * np.ptp(TABLE))
    for pair in (0, 7, 20):
        some = sampled.groups != pair
        # Shares, rates and units stay what they are.
        without = unequal.Fit.of(evidence.on(np.flatnonzero(some)), shares, rates).game
        left = sampled.worths[0, ~some] - without.predict(sampled.rows[~some])
        np.testing.assert_allclose(outside[~some], left, atol=1e-5 * np.ptp(TABLE))


def test_estimates_of_such_games_are_close_and_their_errors_honest():
    exact, off, squares = ff.banzhaf(ff.TableGame(TABLE)).values, [], []
    for seed in range(6):
        found = ff.banzhaf(few_matter, players=PLAYERS, budget=75, seed=seed)
        off.append(errors(found, exact))
        squares.append(np.sum((found.values - exact) ** 2) / np.sum(exact**2))
    assert np.max(off) < 5
    # The prior alone, which tells no players apart, leaves a hundred times as much.
    assert np.mean(squares) < 0.001


def test_errors_are_those_of_the_worths_that_are_not_known():
    _, found = fitted(200)
    _, fewer = fitted(40)
    along, sets = Along.banzhaf(PLAYERS), np.arange(PLAYERS)[:, None]
    many, few = (each.answer(along, sets, whole=True) for each in (found, fewer))
    assert 0 <= many.spread() < few.spread()
    apart = found.answer(along, sets, whole=False)
    np.testing.assert_allclose(apart.values, many.values, atol=1e-12)
    np.testing.assert_allclose(apart.errors, many.variances, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("budget", [60, 120])
def test_players_who_matter_alike_are_left_to_the_prior(budget):
    alike = np.sqrt(ROWS.sum(axis=1))
    sampled = sample_of(alike, "banzhaf", budget)
    with one_blas_thread():
        assert unequal.unequal_players(sampled, 0, np.inf) is None


def test_votes_and_coalitions_of_extreme_sizes_tell_nothing():
    votes = sample_of((ROWS[:, :3].sum(axis=1) > 1) * 1.0, "banzhaf", 100)
    assert not unequal.tells_players_apart(votes)
    some = sample_of(TABLE, "banzhaf", 60)
    assert unequal.tells_players_apart(some)
    extreme = np.abs(ROWS.sum(axis=1) - PLAYERS / 2) >= PLAYERS / 2 - 1
    singles = replace(some, rows=ROWS[extreme], worths=TABLE[None, extreme], pairs=0)
    assert tell_of_surrogates(some)
    assert not tell_of_surrogates(singles)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_intervals_hold_where_few_worths_are_taken_for_those_of_a_smoother_game(criterion):
    """Worths that are clipped, and a bonus that few coalitions have: players of small rates seemed certain."""
    slopes = np.random.default_rng(1).normal(size=10)
    games = [
        (12, lambda S: np.clip(S @ np.append([4.0, 4.0], np.ones(10)) - 6, 0, 6)),
        (10, lambda S: S @ slopes + 3 * S[:, :5].all(axis=1)),
    ]
    inside = []
    for players, worth in games:
        exact = criterion(ff.TableGame(worth(brute.coalitions(players).astype(bool)))).values
        for seed in range(4):
            found = criterion(worth, players=players, budget=8 * players, seed=seed)
            inside.append(np.mean(errors(found, exact) < 1.96))
    assert np.mean(inside) > 0.85


def test_players_whom_the_first_worths_did_not_show_are_sought_in_others(rng, monkeypatch):
    """Worths that five players explain to the last digit left no room for a sixth, and no surrogate."""
    rows = rng.random((300, 40)) < 0.5
    chosen_by = np.unique(np.linspace(0, 299, unequal.CHOOSING).astype(int))
    rows[chosen_by, 7] = False
    smooth = rows[:, :5] @ [1.0, 0.7, 1.3, 0.5, 0.9]
    worths = 3 * np.cos(smooth) + 2 * rows[:, 7] * np.sin(smooth)
    drawn = sample_of(TABLE, "banzhaf", 60)
    reach = Along.banzhaf(40).reach
    sampled = replace(
        drawn, rows=rows, worths=worths[None], pairs=0, every=np.full(41, 1e9), reach=reach
    )
    with one_blas_thread():
        found = unequal.unequal_players(sampled, 0, np.inf)
        monkeypatch.setattr(unequal, "ROUNDS", 1)
        assert unequal.unequal_players(sampled, 0, np.inf) is None
    (game,) = found.parts
    assert set(game.players[game.rates > 0.01]) == {0, 1, 2, 3, 4, 7}
    assert np.std(found.outside) < 0.2 * np.std(worths)
