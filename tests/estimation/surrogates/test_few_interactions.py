"""Games of few interactions are recovered whole from some of their worths."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff

PLAYERS = 16
RNG = np.random.default_rng(0)
MEMBERS = [RNG.choice(PLAYERS, size, replace=False) for size in (1, 1, 2, 2, 3, 3, 4)]
GAINS = RNG.normal(size=(2, len(MEMBERS)))


def programs(S):
    """Two games that pay for what some coalitions bring about."""
    met = np.stack([S[:, each].all(axis=1) for each in MEMBERS], axis=1)
    return GAINS @ met.T


class Programs(ff.Game):
    players = tuple(range(PLAYERS))
    batch = (2,)

    def worths(self, coalitions):
        return programs(coalitions)


def held_back(stop):
    """How many worths vouch for a game, and a third of these is what stop says of rare ones."""
    said = r"exact: (\d+) worths that were held back are predicted to rounding; "
    found = re.search(said + r"what fewer than 1 coalition in (\d+) shows may be missing", stop)
    assert int(found[2]) == int(found[1]) // 3
    return int(found[1])


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_games_of_few_interactions_are_exact(criterion):
    every = (np.arange(2**PLAYERS)[:, None] >> np.arange(PLAYERS) & 1).astype(bool)
    exact = getattr(ff, criterion)(ff.TableGame(programs(every)))
    found = getattr(ff, criterion)(Programs(), budget=400, seed=2)
    assert_allclose(found.values, exact.values, atol=1e-12)
    assert found.stderr.max() == 0
    assert held_back(found.stop) >= 100


def test_a_tolerance_ends_where_the_game_is_recovered():
    found = ff.shapley(lambda S: programs(S)[0], players=PLAYERS, tolerance=1e-9)
    assert found.evaluations < 1000
    assert found.stop.startswith("every 95 % interval is within")


def test_what_has_many_interactions_is_not_called_exact():
    def worths(S):
        return programs(S)[0] + 1e-3 * np.sqrt(S @ np.arange(1.0, PLAYERS + 1))

    found = ff.shapley(worths, players=PLAYERS, budget=240)
    assert "exact" not in found.stop
    assert (found.stderr > 0).all()


def test_votes_that_look_alike_are_not_called_exact():
    game = ff.VotingGame([1] * PLAYERS, PLAYERS)
    assert "exact" not in ff.shapley(game.worths, players=PLAYERS, budget=200).stop


def test_single_players_do_not_vouch_for_what_some_have_and_others_lack():
    def worths(S):
        leaf = S[:, 0] & S[:, 1] & ~S[:, 2] & ~S[:, 3]
        return 5.0 * (S[:, 0] & S[:, 1]) + S[:, 7] + 2.0 * S[:, 8] + 8.0 * leaf

    for seed in range(3):
        assert "exact" not in ff.shapley(worths, players=30, budget=62, seed=seed).stop


def test_one_large_worth_does_not_make_others_rounding():
    def worths(S):
        return 1e9 * S[:, 0] + 0.3 * np.sin(S @ np.arange(20.0))

    assert "exact" not in ff.shapley(worths, players=20, budget=400).stop


def test_a_vote_is_not_taken_for_a_smaller_one():
    """Of 80 coalitions all are as a majority of three players has them, which says little of ten."""
    weights = np.array([12, 10, 8, 7, 6, 5, 4, 3, 2, 1])
    exact = ff.shapley(ff.VotingGame(weights, 30))
    found = ff.shapley(lambda S: 1.0 * (S @ weights >= 30), players=10, budget=80, seed=2)
    assert (np.abs(found.values - exact.values) < 5 * found.stderr).all()


def rare(S):
    """A linear game, and a bonus of one coalition in 64."""
    leaf = S[:, [0, 3, 5]].all(axis=1) & ~S[:, [1, 2, 4]].any(axis=1)
    return S @ np.arange(12.0) + 5.0 * leaf


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf", "variational_index"])
def test_a_bonus_that_was_missed_is_as_rare_as_stop_says(criterion):
    options = {} if criterion != "variational_index" else {"temperature": 50.0}
    exact = getattr(ff, criterion)(rare, players=12, **options)
    said = []
    for seed in range(4):
        found = getattr(ff, criterion)(rare, players=12, budget=100, seed=seed, **options)
        if "exact" in found.stop and np.abs(found.values - exact.values).max() > 1e-9:
            said.append(held_back(found.stop))
    assert said
    assert max(said) // 3 < 64


def test_most_worths_vouch_for_a_game_that_few_are_enough_to_find():
    found = ff.shapley(lambda S: S @ np.arange(12.0), players=12, budget=400)
    assert held_back(found.stop) >= 250


def test_interactions_that_are_recovered_say_what_may_be_missing():
    found = ff.interactions(lambda S: programs(S)[0], players=PLAYERS, budget=400)
    assert held_back(found.stop) > 60


def test_errors_that_are_rounding_say_what_may_be_missing():
    found = ff.shapley(lambda S: S @ np.arange(12.0), players=12, budget=80)
    assert found.stderr.max() < 1e-12
    assert "what fewer than 1 coalition in 26 shows may be missing" in found.stop
