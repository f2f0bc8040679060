"""Kernels of a prior over games: their closed forms against sums over all coalitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.prior.kernels import Alike, Slopes, kernels
from fairfield.estimation.surrogates.sample import Diagonal

PLAYERS = 5
EVERY = np.asarray(enumerate_coalitions(PLAYERS), dtype=bool)
RNG = np.random.default_rng(0)
SOME, WEIGHTS = EVERY[RNG.choice(32, 7, replace=False)], RNG.normal(size=7)
KERNELS = kernels(PLAYERS)
each = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def section(kernel):
    """The worths of Σ_j weights_j k(·, S_j) of all coalitions."""
    return kernel.gram(Alike.of(EVERY, SOME)) @ WEIGHTS


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


@each
@pytest.mark.parametrize(
    "diagonal",
    [
        Diagonal.shapley(PLAYERS),
        Diagonal.banzhaf(PLAYERS),
        Diagonal.of_sizes(np.array([0.5, 0.3, 0.1, 0.1, 0.0])),
    ],
    ids=["shapley", "banzhaf", "by size"],
)
def test_slopes_are_the_values_of_sections(kernel, diagonal):
    worths, sizes = section(kernel), EVERY.sum(axis=1)
    joined = {tuple(row): worth for row, worth in zip(EVERY.tolist(), worths, strict=True)}
    brute = np.zeros(PLAYERS)
    for i in range(PLAYERS):
        for row, size in zip(EVERY[~EVERY[:, i]], sizes[~EVERY[:, i]], strict=True):
            with_i = row.copy()
            with_i[i] = True
            gain = joined[tuple(with_i.tolist())] - joined[tuple(row.tolist())]
            brute[i] += diagonal.shares[size] / [1, 4, 6, 4, 1][size] * gain
    outside, inside = kernel.slopes(diagonal)
    own = SOME.sum(axis=1)
    found = WEIGHTS @ np.where(SOME, inside[own, None], outside[own, None])
    assert_allclose(found, brute, atol=1e-12)


def test_fading_slopes_are_larger_among_few_players():
    heights = Slopes(10, 5.0).by_size()
    assert heights[0] == 1.0
    assert_allclose(heights[-1], np.exp(-5.0))
