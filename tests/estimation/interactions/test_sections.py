"""What interactions read of kernels and of worths, against tables of all coalitions."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.criteria.interactions.criterion import registry
from fairfield.estimation.interactions.sections import Along, overlaps
from fairfield.estimation.prior.kernels import Alike, Pairs, Products, Size, Slopes

PLAYERS = 5
KERNELS = (
    Size(PLAYERS, 0.3),
    Slopes(PLAYERS, 5.0),
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

            assert_allclose(worths @ along.own[inside, sizes], exact(worths), atol=1e-12)
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
