"""Sums of products with a rate for each player, beside tables of their worths."""

from itertools import combinations

import numpy as np
import pytest

import brute
import fairfield as ff
from fairfield.estimation.along import Along
from fairfield.estimation.prior.kernels import signs_of
from fairfield.estimation.surrogates.products import Unequal, kernel
from fairfield.multilinear.table import TableExtension

PLAYERS, COUNTED = 6, np.array([0, 2, 3, 5])
ROWS = brute.coalitions(PLAYERS).astype(bool)
SETS = np.array(list(combinations(range(PLAYERS), 2)))
TRIPLES = np.array(list(combinations(range(PLAYERS), 3)))
ALONE = np.arange(PLAYERS)[:, None]


@pytest.fixture
def game():
    rng = np.random.default_rng(0)
    signs = signs_of(rng.random((9, len(COUNTED))) < 0.5)
    return Unequal(PLAYERS, COUNTED, signs, rng.random(4) * 2, rng.normal(size=9))


def midpoint(size):
    return Along(PLAYERS, size, np.array([0.5]), np.ones(1))


def test_values_and_interactions_are_those_of_the_table(game):
    table = ff.TableGame(game.predict(ROWS))
    for criterion in ("shapley", "banzhaf"):
        found = game.read(getattr(Along, criterion)(PLAYERS), ALONE)
        np.testing.assert_allclose(found, getattr(ff, criterion)(table).values, atol=1e-13)
        assert (found[[1, 4]] == 0).all()  # those that have no rate
    pairs = ff.interactions(table, "banzhaf").values
    np.testing.assert_allclose(game.read(midpoint(2), SETS), pairs, atol=1e-13)
    triples = ff.interactions(table, "banzhaf", order=3).values
    np.testing.assert_allclose(game.read(midpoint(3), TRIPLES), triples, atol=1e-13)


def test_the_extension_is_that_of_the_table(game):
    table, x = (
        TableExtension.of(ff.TableGame(game.predict(ROWS))),
        np.random.default_rng(1).random(PLAYERS),
    )
    np.testing.assert_allclose(game.extension().value(x), table.value(x), atol=1e-13)
    np.testing.assert_allclose(game.extension().gradient(x), table.gradient(x), atol=1e-13)


def readings(read):
    """The matrix of a linear reading, (k, 2^n)."""
    return np.stack([read(ff.TableGame(row)).values for row in np.eye(2**PLAYERS)], axis=1)


def test_variances_are_those_of_random_games_with_the_kernel(game):
    signs = signs_of(ROWS[:, COUNTED])
    worths = kernel(signs, signs, game.rates)
    for criterion in ("shapley", "banzhaf"):
        read = readings(getattr(ff, criterion))
        found = game.covariance(getattr(Along, criterion)(PLAYERS), ALONE, whole=True)
        np.testing.assert_allclose(found, read @ worths @ read.T, atol=1e-12)
    pairs = readings(lambda table: ff.interactions(table, "banzhaf"))
    found = game.covariance(midpoint(2), SETS, whole=False)
    np.testing.assert_allclose(found, np.diagonal(pairs @ worths @ pairs.T), atol=1e-12)
