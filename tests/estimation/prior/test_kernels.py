"""Kernels of a prior over games: their closed forms against sums over all coalitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.prior.kernels import Alike, Slopes, kernels

PLAYERS = 5
EVERY = np.asarray(enumerate_coalitions(PLAYERS), dtype=bool)
KERNELS = kernels(PLAYERS, 10 * PLAYERS)
each = pytest.mark.parametrize("kernel", KERNELS, ids=str)


@each
def test_a_kernel_is_symmetric_and_has_no_negative_variance(kernel):
    gram = kernel.gram(Alike.of(EVERY, EVERY))
    assert_allclose(gram, gram.T, atol=1e-14)
    assert np.linalg.eigvalsh(gram).min() > -1e-12


@each
def test_no_kernel_tells_players_apart(kernel):
    order = [3, 0, 4, 1, 2]
    first, second = (kernel.gram(Alike.of(EVERY[:, o], EVERY[:, o])) for o in (range(5), order))
    assert_allclose(first, second, atol=1e-14)


def test_fading_slopes_are_larger_among_few_players():
    heights = Slopes(10, 5.0).by_size()
    assert heights[0, 0] == 1.0
    assert_allclose(heights[-1, 0], np.exp(-5.0))


def test_slopes_vary_with_the_size_where_there_are_many_coalitions():
    few, many = (len(kernels(10, count)) for count in (99, 100))
    assert many == few + 1
    near, far = Slopes(10, length=0.2).by_size()[5, [6, 10]]
    assert far < 0.1 < near
