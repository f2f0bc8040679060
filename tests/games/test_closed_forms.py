"""Closed forms of all games agree with the tables of their worths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.core.extension import Extension
from fairfield.games.given.table import TableGame
from games.examples import GAMES, assert_same, closed_form, some_points, table_of

rng = np.random.default_rng(7)


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
