"""Closed forms agree with tables, and with the answers of the textbooks."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.games.given.table import TableGame
from games.examples import GAMES, assert_same, table_of

rng = np.random.default_rng(7)


def closed_form(game: Game) -> Extension:
    extension = game.extension()
    assert extension is not None
    return extension


def some_points(players: int, count: int = 20) -> np.ndarray:
    """Random points, with players who are surely in or out."""
    x = rng.random((count, players))
    kind = rng.integers(0, 6, x.shape)
    return np.where(kind == 0, 0.0, np.where(kind == 1, 1.0, x))


@pytest.mark.parametrize("name", GAMES)
def test_closed_forms_equal_their_tables(name: str) -> None:
    game = GAMES[name]()
    players = len(game.players)
    closed, table = closed_form(game), table_of(game)
    assert (closed.players, closed.batch) == (players, ())
    x = some_points(players)
    assert_same(closed.value(x), table.value(x))
    assert_same(closed.gradient(x), table.gradient(x))
    assert_same(closed.hessian(x), table.hessian(x))
    assert_same(closed.shapley(), table.shapley())
    # Banzhaf
    half = np.full(players, 0.5)
    assert_same(closed.gradient(half), table.gradient(half))


@pytest.mark.parametrize("name", GAMES)
def test_the_variational_index_equals_that_of_the_table(name: str) -> None:
    game = GAMES[name]()
    table = TableGame(game.worths(enumerate_coalitions(len(game.players))), game.players)
    closed, exact = (ff.variational_index(each, temperature=0.7) for each in (game, table))
    assert closed.converged
    assert closed.method.startswith("closed form")
    assert_same(closed.values, exact.values)
    assert_same(closed.marginals, exact.marginals)


@pytest.mark.parametrize("name", GAMES)
def test_points_may_have_any_leading_axes(name: str) -> None:
    closed = closed_form(GAMES[name]())
    n = closed.players
    x = some_points(n, 6)
    for read, tail in ((closed.value, ()), (closed.gradient, (n,)), (closed.hessian, (n, n))):
        all_at_once = read(x.reshape(3, 2, n))
        assert all_at_once.shape == (3, 2, *tail)
        one_by_one = np.stack([read(point) for point in x])
        assert_same(all_at_once.reshape(one_by_one.shape), one_by_one, within=1e-13)
    value, gradient = closed.centred(x)
    assert_same(value + closed.offset, closed.value(x), within=1e-13)
    assert_same(gradient, closed.gradient(x), within=1e-13)


@pytest.mark.parametrize("name", ["pairs", "pairs, sparse", "cut", "voting", "FLID"])
def test_a_sweep_lets_each_player_see_those_before_him(name: str) -> None:
    closed = closed_form(GAMES[name]())
    x = rng.random((2, closed.players))
    swept = closed.sweep(x, lambda player, slope: 1 / (1 + np.exp(-slope)))
    expected = x.copy()
    for i in range(closed.players):
        expected[:, i] = 1 / (1 + np.exp(-closed.gradient(expected)[:, i]))
    assert_same(swept, expected, within=1e-13)


@pytest.mark.parametrize("name", GAMES)
def test_degree_bounds_the_polynomial(name: str) -> None:
    # The default way to Shapley values trusts it.
    closed = closed_form(GAMES[name]())
    assert_same(Extension.shapley(closed), closed.shapley())


@pytest.mark.parametrize("name", GAMES)
def test_a_point_of_the_wrong_length_is_refused(name: str) -> None:
    closed = closed_form(GAMES[name]())
    with pytest.raises(ValueError, match="one probability per player"):
        closed.gradient(np.zeros(closed.players + 1))


@pytest.mark.parametrize("name", GAMES)
def test_games_are_told_apart_by_their_description(name: str) -> None:
    game, other = GAMES[name](), GAMES["unanimity"]()
    assert game.describe() == game.describe()
    if name != "unanimity":
        assert game.describe() != other.describe()


def test_cut_pairs_and_coverage_mean_what_they_say() -> None:
    n = 7
    arcs, linear, chances = rng.random((n, n)), rng.normal(size=n), rng.random((5, n))
    half = np.triu(rng.normal(size=(n, n)), 1)
    importance = rng.random(5)
    for coalition in enumerate_coalitions(n):
        inside, outside = np.flatnonzero(coalition), np.flatnonzero(~coalition)
        row = coalition[None]
        cut = sum(arcs[i, j] for i in inside for j in outside)
        pairs = sum(linear[inside]) + sum(half[i, j] for i in inside for j in inside if i < j)
        covered = importance @ (1 - np.prod(1 - chances[:, inside], axis=1))
        assert ff.CutGame(arcs).worths(row)[0] == pytest.approx(cut, abs=1e-12)
        assert ff.PairwiseGame(linear, half + half.T).worths(row)[0] == pytest.approx(pairs)
        assert ff.CoverageGame(chances, importance).worths(row)[0] == pytest.approx(covered)


def test_flid_worths_with_ties_negative_weights_and_nobody() -> None:
    gains, weights = rng.normal(size=6), rng.integers(-2, 2, (6, 3)).astype(float)
    game = ff.FLIDGame(gains, weights)
    for coalition in enumerate_coalitions(6):
        own = weights[coalition]
        best = own.max(axis=0) if coalition.any() else np.zeros(3)
        expected = gains[coalition].sum() + (best - own.sum(axis=0)).sum()
        assert game.worths(coalition[None])[0] == pytest.approx(expected, abs=1e-12)


def test_sparse_matrices_change_nothing() -> None:
    cover = rng.random((6, 8)) * (rng.random((6, 8)) < 0.4)
    arcs = rng.random((8, 8)) * (rng.random((8, 8)) < 0.4)
    x = rng.random(8)
    for kind, rest in ((lambda a: ff.CoverageGame(a, np.ones(6)), cover), (ff.CutGame, arcs)):
        dense, sparse = kind(rest), kind(csr_array(rest))
        assert_same(closed_form(dense).gradient(x), closed_form(sparse).gradient(x), within=1e-14)


def test_a_sum_of_games_has_the_sum_of_their_extensions() -> None:
    flid = ff.FLIDGame(rng.normal(size=8), rng.normal(size=(8, 3)))
    half = np.triu(rng.normal(size=(8, 8)), 1)
    both = 2 * flid + ff.PairwiseGame(rng.normal(size=8), half + half.T)
    closed, table = closed_form(both), table_of(both)
    x = some_points(8)
    assert_same(closed.value(x), table.value(x))
    assert_same(closed.gradient(x), table.gradient(x))
    assert_same(closed.hessian(x), table.hessian(x))
    assert_same(closed.shapley(), table.shapley())
    assert closed.degree == 8


# ---------------------------------------------------------------- textbook answers


def test_an_airport_shares_each_piece_of_runway_among_its_users() -> None:
    # Littlechild and Owen: 12 users share the first 12, three the next 18, one the last 9.
    costs = [12] * 9 + [30] * 2 + [39]
    shares = closed_form(ff.AirportGame(costs)).shapley()
    np.testing.assert_allclose(shares, [1.0] * 9 + [7.0] * 2 + [16.0])
    assert shares.sum() == pytest.approx(39)


def test_gloves_reward_the_short_side() -> None:
    np.testing.assert_allclose(closed_form(ff.GlovesGame(1, 2)).shapley(), [2 / 3, 1 / 6, 1 / 6])
    np.testing.assert_allclose(closed_form(ff.GlovesGame(3, 3)).shapley(), [0.5] * 6)
    many = closed_form(ff.GlovesGame(100, 101)).shapley()
    # Shapley and Shubik: with a hundred and one against a hundred the short side gains.
    assert many[0] > 0.5 > many[-1]
    assert many.sum() == pytest.approx(100)


def test_bankruptcy_divides_by_random_arrival() -> None:
    # O'Neill: the Shapley value pays claimants in a random order of arrival.
    claims, estate = [100, 200, 300], 400
    paid = np.zeros(3)
    for order in permutations(range(3)):
        left = estate
        for claimant in order:
            taken = min(left, claims[claimant])
            paid[claimant] += taken / 6
            left -= taken
    np.testing.assert_allclose(closed_form(ff.BankruptcyGame(claims, estate)).shapley(), paid)


def test_unanimity_shares_equally_among_the_carrier() -> None:
    game = ff.UnanimityGame({"b", "d"}, players=["a", "b", "c", "d"])
    closed = closed_form(game)
    np.testing.assert_allclose(closed.shapley(), [0, 0.5, 0, 0.5])
    np.testing.assert_allclose(closed.gradient([0.5, 0.25, 0.5, 0.75]), [0, 0.75, 0, 0.25])


def test_rounded_claims_equal_their_table_and_keep_the_bound() -> None:
    game = ff.BankruptcyGame(rng.random(9), estate=2.0, resolution=50)
    assert game.unit == pytest.approx(game.claims.sum() / 50)
    closed, rounded, given = closed_form(game), table_of(game.rounded), table_of(game)
    x = some_points(9)
    assert_same(closed.gradient(x), rounded.gradient(x))
    off, bound = np.abs(closed.value(x) - given.value(x)), game.error_bound(x)
    assert (off <= bound + 1e-12).all()
    assert (bound <= 9 * game.unit / 2).all()
    assert off.max() > 0
    whole = ff.BankruptcyGame([1, 2, 3], 2)
    assert whole.error_bound([0.5, 0.5, 0.5]) == 0


# ---------------------------------------------------------------- large games


def test_large_games_stay_accurate() -> None:
    # A unanimity game of a thousand, three ways.
    n = 1000
    x = 1 - rng.random(n) / n
    alone = closed_form(ff.UnanimityGame(range(n), players=n))
    counted = closed_form(ff.CardinalityGame(np.arange(n + 1) == n))
    missed = closed_form(ff.CoverageGame(np.ones((1, n)), [1.0]))
    np.testing.assert_allclose(counted.value(x), alone.value(x), rtol=1e-10)
    np.testing.assert_allclose(counted.gradient(x), alone.gradient(x), rtol=1e-10)
    np.testing.assert_allclose(missed.gradient(1 - x), alone.gradient(x), rtol=1e-10)


def test_the_best_of_many_is_the_maximum() -> None:
    n = 5000
    x, costs = rng.random(n), rng.random(n)
    airport = closed_form(ff.AirportGame(costs))
    best = np.argmax(costs)
    x[best] = 1.0
    gradient = airport.gradient(x)
    assert airport.value(x) == pytest.approx(costs[best])
    assert np.count_nonzero(gradient) == 1
    x[best] = 0.0
    assert gradient[best] == pytest.approx(costs[best] - airport.value(x))


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.FLIDGame([1.0], [[1.0], [2.0]]), "one row per player"),
        (lambda: ff.FLIDGame([1.0, np.nan], np.ones((2, 1))), r"gains\[1\] is nan"),
        (lambda: ff.FacilityLocationGame([1.0, 2.0]), "2 axes"),
        (lambda: ff.PairwiseGame([1, 2], [[0, 1], [2, 0]]), "symmetric"),
        (lambda: ff.PairwiseGame([1, 2], [[1, 1], [1, 0]]), "diagonal"),
        (lambda: ff.PairwiseGame([1, 2, 3], [[0, 1], [1, 0]]), "same players"),
        (lambda: ff.PairwiseGame([1, 2], csr_array([[0, np.inf], [np.inf, 0]])), "finite"),
        (lambda: ff.CutGame(np.ones((2, 3))), "square"),
        (lambda: ff.CoverageGame([[0.5, 1.5]], [1.0]), "outside"),
        (lambda: ff.CoverageGame([[0.5, 0.5]], [1.0, 2.0]), "one row per element"),
        (lambda: ff.CoverageGame(csr_array([[0.5, np.nan]]), [1.0]), "outside"),
        (lambda: ff.CardinalityGame([1.0]), "at least one"),
        (lambda: ff.CardinalityGame([0, 1, 2], players=["a"]), "1 players were named"),
        (lambda: ff.AirportGame([1, -2]), "negative"),
        (lambda: ff.AirportGame(["a", "b"]), "array of numbers"),
        (lambda: ff.GlovesGame(0, 3), "left=0"),
        (lambda: ff.GlovesGame(1, 2.5), "right=2.5"),  # type: ignore[arg-type]
        (lambda: ff.BankruptcyGame([1, -1], 1), "negative"),
        (lambda: ff.BankruptcyGame([1, 1], -1), "negative"),
        (lambda: ff.BankruptcyGame([0.1, 0.2], 1, resolution=0), "resolution=0"),
        (lambda: ff.UnanimityGame([], players=3), "carrier is empty"),
        (lambda: ff.UnanimityGame([5], players=3), "no player 5"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
