"""Sums and multiples of games."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.games.given.convert import as_game
from noisy import linear


def test_sums_and_multiples_of_games(rng):
    one, other = rng.standard_normal((2, 16))
    game = 2 * ff.TableGame(one) + ff.TableGame(other) - ff.TableGame(one) * 0.5
    assert_allclose(ff.shapley(game).values, brute.shapley(1.5 * one + other), atol=1e-12)
    assert "terms" in game.describe()
    games = [ff.TableGame(one), ff.TableGame(other)]
    assert_allclose(
        ff.shapley(-sum(games) / 2).values, brute.shapley(-(one + other) / 2), atol=1e-12
    )
    with pytest.raises(ValueError, match="same players"):
        ff.TableGame(one) + ff.TableGame(np.zeros(4))
    with pytest.raises(ValueError, match="finite"):
        np.nan * ff.TableGame(one)


def test_a_sum_asks_for_no_table_in_vain(monkeypatch):
    asked = []
    monkeypatch.setattr(ff.TableGame, "table", lambda self, progress=None: asked.append(self))
    with_none = as_game(lambda S: S.sum(axis=1), players=2) + ff.TableGame([0, 1, 1, 2])
    assert with_none.table() is None
    assert not asked


def test_sums_of_noisy_games_add_their_variances(noisy_game, rng):
    other = ff.TableGame(rng.standard_normal((2, 16)), variances=rng.random((2, 16)))
    plain = ff.TableGame(rng.standard_normal((2, 16)))
    other.players = plain.players = noisy_game.players
    total = 2 * noisy_game - 3 * other + plain
    coalitions = brute.coalitions(4)
    variances = 4 * noisy_game.measure(coalitions).variances + 9 * other.variances
    found = ff.shapley(total)
    coefficients = linear(lambda e: e.shapley(), 4)
    assert_allclose(found.stderr**2, variances @ coefficients.T**2, atol=1e-16)
    assert_allclose(found.values, total.worths(coalitions) @ coefficients.T, atol=1e-12)


def test_a_game_has_the_same_error_wherever_it_occurs_in_a_sum(noisy_game):
    alone = ff.shapley(noisy_game)
    assert_allclose(ff.shapley((noisy_game + noisy_game) + noisy_game * -1).stderr, alone.stderr)
    assert_allclose(ff.shapley(noisy_game - noisy_game).stderr, 0)
