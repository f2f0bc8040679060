"""Kernels at points, against means over all coalitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.prior.at_points import at_point, chances_of_sizes, shared, without_each
from fairfield.estimation.prior.kernels import Alike, Pairs, Products, Size, Slopes

PLAYERS = 5
EVERY = enumerate_coalitions(PLAYERS)
KERNELS = [
    Size(PLAYERS, 0.3),
    Slopes(PLAYERS),
    Slopes(PLAYERS, 5.0),
    Pairs(PLAYERS),
    Products(PLAYERS, 1.5),
    Products(PLAYERS, 4.0, 5.0),
]


def law(x):
    """The chance of every coalition at x."""
    return np.prod(np.where(EVERY, x, 1 - x), axis=1)


def slopes_of(function, x):
    """Differences of a function between a player in and out: (n, …)."""
    found = []
    for i in range(len(x)):
        inside, outside = x.copy(), x.copy()
        inside[i], outside[i] = 1.0, 0.0
        found.append(function(inside) - function(outside))
    return np.array(found)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("edge", [False, True])
def test_kernels_at_points_are_means_over_coalitions(kernel, edge, rng):
    x, other = rng.random((2, PLAYERS))
    if edge:
        x[:2], other[1:3] = [0, 1], [1, 0]
    some, weights = EVERY[rng.choice(len(EVERY), 7, replace=False)], rng.normal(size=7)
    gram, whole = kernel.gram(Alike.of(EVERY, some)), kernel.gram(Alike.of(EVERY, EVERY))
    found = at_point(kernel, x)
    assert_allclose(found.means(some), law(x) @ gram, atol=1e-12)
    assert_allclose(found.slopes(some).T, slopes_of(lambda y: law(y) @ gram, x), atol=1e-12)
    twice = slopes_of(lambda y: slopes_of(lambda z: law(z) @ gram @ weights, y), x)
    assert_allclose(found.curvature(some, weights), twice, atol=1e-12)
    both = slopes_of(lambda y: slopes_of(lambda z: law(y) @ whole @ law(z), other), x)
    assert_allclose(shared(kernel, x, other), both, atol=1e-12)


def test_a_chances_of_sizess_without_each_player(rng):
    x = np.append(rng.random(40), [0.0, 1.0, 0.5])
    found = without_each(chances_of_sizes(x)[:, None], x)
    exact = np.stack([chances_of_sizes(np.delete(x, i)) for i in range(len(x))], axis=1)
    assert_allclose(found, exact, atol=1e-14)
