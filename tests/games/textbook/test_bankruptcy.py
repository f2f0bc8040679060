"""Bankruptcy games: exact for whole claims, rounded within a stated bound for real ones."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import fairfield as ff
from games.examples import assert_same, closed_form, some_points, table_of

rng = np.random.default_rng(7)


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


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: ff.BankruptcyGame([1, -1], 1), "negative"),
        (lambda: ff.BankruptcyGame([1, 1], -1), "negative"),
        (lambda: ff.BankruptcyGame([0.1, 0.2], 1, resolution=0), "resolution=0"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(build: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        build()  # type: ignore[operator]
