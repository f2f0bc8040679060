"""Sums whose weights depend on the size of the coalition."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
from fairfield import TableGame
from fairfield.core.extension import legendre
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.table import TableExtension

PLAYERS = range(1, 13)


def extension(worths):
    return TableExtension.of(TableGame(worths))


def close(found, wanted, scale):
    assert_allclose(found, wanted, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("n", PLAYERS)
def test_semivalues_by_size_are_their_definition(n, rng):
    worths, weights = rng.standard_normal(2**n), rng.random(n)
    wanted = brute.semivalue(worths, weights)
    close(by_size.semivalue(extension(worths), weights), wanted, 2**n)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_pair_semivalues_are_their_definition(n, rng):
    worths, weights = rng.standard_normal(2**n), rng.random(n - 1)
    found = by_size.pair_semivalue(extension(worths), weights)
    z = brute.coalitions(n)
    for i in range(n):
        assert found[i, i] == 0
        for j in range(i):
            rows = np.flatnonzero(~z[:, i] & ~z[:, j])
            one, other = 1 << i, 1 << j
            change = (
                worths[rows + one + other]
                - worths[rows + one]
                - worths[rows + other]
                + worths[rows]
            )
            close(found[i, j], weights[z[rows].sum(axis=1)] @ change, 2**n)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [5, 9, 12])
def test_interactions_by_size_are_their_definition(n, size, rng):
    worths, weights = rng.standard_normal((2, 2**n)), rng.random(n - size + 1)
    found = by_size.interactions(extension(worths), weights, size)
    rows = np.arange(2**n)
    for k, members in enumerate(combinations(range(n), size)):
        if k % 37:
            continue
        apart = rows[rows & sum(1 << i for i in members) == 0]
        change = brute.discrete_derivative(worths[1], members, apart)
        close(found[1, k], weights[np.bitwise_count(apart)] @ change, 2**n)


def test_weights_along_the_diagonal_are_shapleys(rng):
    at, shares = legendre(6)
    assert_allclose(by_size.diagonal_weights(9, at, shares, 3), by_size.shapley_weights(9, 3))
