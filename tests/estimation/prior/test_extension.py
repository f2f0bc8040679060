"""The extension of a mean game, against that of its table and the literal posterior."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff
from estimation.games import sample_of
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.estimation.designs.design import Plan
from fairfield.estimation.prior.extension import MeanExtension
from fairfield.estimation.prior.kernels import Alike
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.prior.posterior import COMMON
from fairfield.multilinear.table import TableExtension

PLAYERS = 6
EVERY = enumerate_coalitions(PLAYERS)


def extension_of(seed=0, count=40):
    rng = np.random.default_rng(seed)
    total = EVERY @ rng.normal(size=PLAYERS)
    tables = np.stack([total + 0.2 * total**2, np.sqrt(np.abs(total)) * 5 + total])
    sampled = replace(sample_of(tables, "banzhaf", count, seed, Plan()), anywhere=True)
    mean = MeanGame.given(sampled, sampled.worths)
    return [MeanExtension(mean, game) for game in range(2)]


def test_the_extension_is_that_of_the_predicted_worths(rng):
    for each in extension_of():
        exact = TableExtension.of(ff.TableGame(each.predict(EVERY)))
        x = rng.random(PLAYERS)
        assert_allclose(each.value(x), exact.value(x), rtol=1e-9)
        assert_allclose(each.gradient(x), exact.gradient(x), atol=1e-8)
        assert_allclose(each.hessian(x), exact.hessian(x), atol=1e-8)


def test_covariances_are_those_of_the_games_left_possible(rng):
    """Slopes as sums over all worths, whose covariance given some of them is a formula."""
    each = extension_of(1)[0]
    posed = each.posterior
    points, matrices = rng.random((2, PLAYERS)), rng.normal(size=(2, PLAYERS, PLAYERS))
    steps = list(zip(points, matrices, strict=True))
    slopes = [
        np.stack([np.where(EVERY[:, i], 1.0, -1.0) * np.prod(np.where(EVERY, x, 1 - x)[:, others], 1)
                  for i in range(PLAYERS) for others in [np.arange(PLAYERS) != i]])
        for x in points
    ]  # fmt: skip
    reading = sum(matrix @ slope for matrix, slope in zip(matrices, slopes, strict=True))

    def covariance(rows, others):
        alike = Alike.of(rows, others)
        parts = zip(posed.wide, posed.kernels, strict=True)
        return COMMON + sum(share * kernel.gram(alike) for share, kernel in parts)

    across = reading @ covariance(EVERY, posed.coalitions)
    given = posed.wide_factor.solve(across.T)
    left = reading @ covariance(EVERY, EVERY) @ reading.T - across @ given
    assert_allclose(each.covariance(steps), each.variance * left, rtol=1e-6, atol=1e-9)


def test_weights_of_worths_make_the_slopes(rng):
    each = extension_of(2)[1]
    x, matrix = rng.random(PLAYERS), rng.normal(size=(PLAYERS, PLAYERS))
    seen = each.alpha @ (each.posterior.factor.lower @ each.posterior.factor.lower.T)
    read = each.scale * seen @ each.weights([(x, matrix)])
    assert_allclose(read, matrix @ each.gradient(x), rtol=1e-6)
