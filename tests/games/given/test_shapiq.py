"""Games travel to shapiq and back with their worths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

shapiq = pytest.importorskip("shapiq")


class Offset(shapiq.Game):
    """A game whose empty coalition is worth something, which shapiq hides."""

    def __init__(self, table):
        self.worth = table
        super().__init__(
            n_players=4, normalization_value=float(table[0]), player_names=list("abcd")
        )

    def value_function(self, coalitions):
        return self.worth[np.asarray(coalitions) @ [1, 2, 4, 8]]


def test_normalisation_is_undone(rng):
    table = rng.standard_normal(16) + 5
    theirs = Offset(table)
    game = ff.from_shapiq(theirs)
    assert game.players == ("a", "b", "c", "d")
    z = brute.coalitions(4)
    assert_allclose(game.worths(z), table)
    assert_allclose(theirs(z), table - table[0])
    assert_allclose(ff.shapley(game).values, brute.shapley(table), atol=1e-12)


def test_there_and_back(rng):
    table = rng.standard_normal(16) + 5
    there = ff.to_shapiq(ff.TableGame(table, ["w", "x", "y", "z"]))
    z = brute.coalitions(4)
    assert_allclose(there(z), table - table[0], atol=1e-14)
    back = ff.from_shapiq(there)
    assert back.players == ("w", "x", "y", "z")
    assert_allclose(back.worths(z), table, atol=1e-14)


def test_values_agree_with_shapiqs_exact_computer(rng):
    game = ff.TableGame(rng.standard_normal(2**6))
    exact = shapiq.ExactComputer(n_players=6, game=ff.to_shapiq(game))
    for index, criterion in (("SV", ff.shapley), ("BV", ff.banzhaf)):
        theirs = exact(index)
        values = [theirs[(i,)] for i in range(6)]
        assert_allclose(criterion(game).values, values, atol=1e-10)
    theirs = exact("SII", order=2)
    found = ff.interactions(game, "shapley")
    assert_allclose(found.values, [theirs[pair] for pair in found.coalitions], atol=1e-10)
    theirs = exact("BII", order=2)
    found = ff.interactions(game, "banzhaf")
    assert_allclose(found.values, [theirs[pair] for pair in found.coalitions], atol=1e-10)


def test_a_batch_stays_here(rng):
    with pytest.raises(ValueError, match="one game at a time"):
        ff.to_shapiq(ff.TableGame(rng.standard_normal((2, 4))))
