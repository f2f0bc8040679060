"""What values and interactions read of kernels and of worths, against tables of all coalitions."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.criteria.interactions.criterion import registry
from fairfield.estimation.along import Along, overlaps
from fairfield.estimation.prior.kernels import Alike, Pairs, Products, Size, Slopes

PLAYERS = 5
KERNELS = (
    Size(PLAYERS, 0.3),
    Slopes(PLAYERS, 5.0),
    Slopes(PLAYERS, length=0.2),
    Pairs(PLAYERS),
    Products(PLAYERS, 1.5),
    Products(PLAYERS, 6.0, 5.0),
)
NAMES = ("shapley", "banzhaf", "moebius", "k_sii", "stii", "fsii", "fbii")


@pytest.mark.parametrize("name", NAMES)
def test_tables_hold_what_is_read_of_sections_and_worths(name, rng):
    every = enumerate_coalitions(PLAYERS)
    sizes = every.sum(axis=1)[:, None]
    alike = Alike.of(every, every)
    worths = rng.standard_normal(2**PLAYERS)
    for order in (1, 2, 3):
        kind = registry()[name]()
        for size in range(1 if kind.every_size else order, order + 1):
            along = Along(PLAYERS, size, *kind.rule(size, order, PLAYERS - size))
            sets = np.array(list(combinations(range(PLAYERS), size)))
            inside = overlaps(every, sets)

            def exact(tables, size=size, order=order):
                return ff.interactions(tables, name, order=order).of_size(size).values

            stands = along.stands[inside, sizes] / [[comb(PLAYERS, s)] for s in sizes.ravel()]
            assert_allclose(worths @ stands, exact(worths), atol=1e-12)
            squares = [np.mean(along.stands[inside[sizes.ravel() == s], s] ** 2) for s in range(6)]
            assert_allclose(along.reach, np.sqrt(squares), atol=1e-12)
            for kernel in KERNELS:
                table = along.sections([kernel], np.ones(1))
                sections = table[inside, sizes]
                assert_allclose(sections, exact(kernel.gram(alike)), atol=1e-12)
                # What is read of a section is a game, of which the same is read again.
                assert_allclose(along.of(table), exact(sections[:, 0])[0], atol=1e-12)


def test_a_kernel_without_known_interactions_is_refused():
    along = Along(3, 2, np.array([0.5]), np.ones(1))
    with pytest.raises(TypeError, match="not known"):
        along.sections([object()], np.ones(1))


SEMIVALUES = {
    "shapley": (Along.shapley(PLAYERS), ff.shapley),
    "banzhaf": (Along.banzhaf(PLAYERS), ff.banzhaf),
    "by size": (
        Along.semivalue(np.array([0.5, 0.3, 0.1, 0.1, 0.0])),
        lambda game: ff.semivalue(game, [0.5, 0.3 / 4, 0.1 / 6, 0.1 / 4, 0.0]),
    ),
}


@pytest.mark.parametrize("name", SEMIVALUES)
def test_values_are_readings_of_single_players(name, rng):
    along, value = SEMIVALUES[name]
    every = enumerate_coalitions(PLAYERS)
    alike, single = Alike.of(every, every), np.arange(PLAYERS)[:, None]
    inside, sizes = overlaps(every, single), every.sum(axis=1)[:, None]
    for kernel in KERNELS:
        table = along.sections([kernel], np.ones(1))
        sections = table[inside, sizes]
        assert_allclose(sections, value(kernel.gram(alike)).values, atol=1e-12)
        # Values of values: how those of two players vary together in games of this kernel.
        both = value(ff.TableGame(sections.T)).values
        assert_allclose(along.covariance(table), both, atol=1e-12)


def test_thousands_of_players_are_no_trouble():
    along = Along.shapley(5000)
    assert len(along.nodes) < 500
    assert_allclose(along.shares.sum(), 1.0)
    assert np.isfinite(along.reach).all()
    assert np.isfinite(along.stands).all()


def test_weights_that_no_points_stand_for_have_no_reading():
    shares = np.zeros(40)
    shares[20] = 1.0
    assert Along.semivalue(shares) is None
