"""Sums of tables over few players read as the table of all worths does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.core.parts import Part
from fairfield.multilinear.parts import PartsExtension
from fairfield.multilinear.size_weights import semivalue
from fairfield.multilinear.table import TableExtension

PLAYERS = 7


def divided(rng, games):
    """Parts of 1, 3 and 4 players, several for each game, and the tables that they add up to."""
    coalitions = brute.coalitions(PLAYERS)
    tables, parts = np.zeros((games, 2**PLAYERS)), []
    for size, count in ((1, 2 * games), (3, 3 * games), (4, games)):
        owners = rng.permutation(np.arange(count) % games)
        players = np.stack([rng.permutation(PLAYERS)[:size] for _ in owners])
        # Far from 0, so that tables are centred on the way.
        worths = rng.standard_normal((count, 2**size)) + 1000.0 * (size == 3)
        parts.append(Part(owners, players, worths))
        for game, own, table in zip(owners, players, worths, strict=True):
            tables[game] += table[coalitions[:, own] @ (1 << np.arange(size))]
    return parts, tables


@pytest.fixture(name="both", params=[(), (3,), (2, 2)])
def both_ways(request, rng):
    batch = request.param
    parts, tables = divided(rng, int(np.prod(batch, dtype=int)))
    whole = TableExtension.of(ff.TableGame(tables.reshape((*batch, -1))))
    return PartsExtension.of(parts, PLAYERS, batch), whole


def close(found, wanted):
    assert found.shape == wanted.shape
    assert_allclose(found, wanted, atol=1e-10)


def test_every_reading_is_that_of_the_table(both, rng):
    parts, whole = both
    assert parts.degree == 4
    for shape in ((), parts.batch, (5, *parts.batch)):
        x = rng.random((*shape, PLAYERS))
        close(parts.value(x), whole.value(x))
        close(parts.gradient(x), whole.gradient(x))
        close(parts.hessian(x), whole.hessian(x))
        close(parts.derivative((0, 2, 5), x), whole.derivative((0, 2, 5), x))
    for ours, theirs in zip(parts.ends(), whole.ends(), strict=True):
        close(ours, theirs)
    close(parts.shapley(), whole.shapley())
    at, shares = np.array([0.2, 0.7]), np.array([0.4, 0.6])
    close(parts.along_diagonal(at, shares), whole.along_diagonal(at, shares))
    close(parts.hessian_along_diagonal(at, shares), whole.hessian_along_diagonal(at, shares))
    weights = rng.random(PLAYERS)
    close(parts.semivalue(weights), semivalue(whole, weights))


def test_some_games_of_a_batch(rng):
    parts, tables = divided(rng, 4)
    whole = PartsExtension.of(parts, PLAYERS, (4,))
    some = whole.rows(np.array([3, 1]))
    close(some.shapley(), TableExtension.of(ff.TableGame(tables[[3, 1]])).shapley())
    close(whole.rows(slice(2)).shapley(), whole.shapley()[:2])


def test_points_must_fit_the_batch(rng):
    parts, _ = divided(rng, 3)
    extension = PartsExtension.of(parts, PLAYERS, (3,))
    with pytest.raises(ValueError, match="do not match a batch"):
        extension.gradient(np.full((2, PLAYERS), 0.5))
    with pytest.raises(ValueError, match="for 7 players"):
        extension.gradient(np.full(6, 0.5))
