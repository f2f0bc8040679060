"""Games that depend on a sum of whole weights."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from fairfield.games.given.conditioned import ConditionedExtension
from fairfield.games.textbook.voting import whole_votes
from fairfield.games.textbook.weighted_sums import WeightedSumExtension, WeightedSums
from games.examples import assert_same, some_points, table_of


def test_a_common_factor_costs_nothing() -> None:
    game = ff.VotingGame([3_000_000, 2_000_000, 1_000_000], quota=3_500_000)
    assert game.unit == 1_000_000
    assert_same(game.extension().shapley(), table_of(game).shapley(), within=1e-12)


def test_whole_weights_beyond_memory_are_refused_with_a_way_out() -> None:
    votes = np.array([10**9 + 1, 10**9 + 3, 10**9 + 7])
    with pytest.raises(ValueError, match="divide whole weights"):
        ff.VotingGame(votes, 2 * 10**9)
    with pytest.raises(ValueError, match="divide whole weights"):
        ff.VotingGame([1e300, 1], 1)
    shares = ff.VotingGame(votes / votes.sum(), 2e9 / votes.sum())
    assert_same(shares.extension().shapley(), [1 / 3] * 3)


def test_a_sum_of_games_in_which_some_count_when_absent(rng) -> None:
    weights, absent = rng.integers(0, 4, (3, 5)), rng.random((3, 5)) < 0.5
    # The worth of the last sum is that of all greater ones.
    by_sum = rng.standard_normal((3, 7))

    def worths(coalitions: np.ndarray) -> np.ndarray:
        sums = ((coalitions[:, None, :] ^ absent) * weights).sum(axis=-1)
        return by_sum[np.arange(3), np.minimum(sums, 6)].sum(axis=-1)

    closed = WeightedSumExtension([WeightedSums(weights, absent, by_sum)], "sums")
    table, x = table_of(ff.FunctionGame(worths, 5)), some_points(5)
    for of in ("value", "gradient", "hessian"):
        assert_same(getattr(closed, of)(x), getattr(table, of)(x), within=1e-12)


def test_the_face_of_a_vote_is_a_shorter_vote(rng: np.random.Generator) -> None:
    weights = rng.integers(-3, 8, (6, 7)).astype(float)
    closed = whole_votes(weights, rng.integers(-4, 20, 6), 100).extension("", rng.random(6))
    fixed, inside = np.arange(7) % 3 == 1, np.arange(7) == 4
    short = closed.face(inside, fixed)
    long = ConditionedExtension(closed, inside, fixed)
    x = rng.random((5, 5))
    x[0, :2], x[1, 2:] = 0.0, 1.0
    assert short.players == short.degree == 5
    assert_same(short.value(x), long.value(x))
    assert_same(short.gradient(x), long.gradient(x))
    assert_same(short.hessian(x), long.hessian(x))
    assert closed.face(fixed, np.ones(7, dtype=bool)) is None
