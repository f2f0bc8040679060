"""Mixtures of product laws: log q, log-odds and draws."""

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.mcmc.bases import Mixture, mean_field_modes
from fairfield.mean_field.solvers import start_points


def test_a_mixture_is_its_definition(rng):
    logits, shares = rng.normal(size=(3, 5)), np.array([0.5, 0.3, 0.2])
    mixture, z = Mixture(logits, shares), brute.coalitions(5)
    q = shares @ np.array([brute.law(1 / (1 + np.exp(-each))) for each in logits])
    log_q, log_odds = mixture.evaluate(z)
    assert_allclose(log_q, np.log(q), rtol=1e-12)
    rows = np.arange(32)
    for i in range(5):
        assert_allclose(
            log_odds[:, i], np.log(q[rows | 1 << i] / q[rows & ~(1 << i)]), rtol=1e-10, atol=1e-12
        )
    drawn = mixture.draw(20_000, rng)
    seen = np.bincount(drawn @ (1 << np.arange(5)), minlength=32) / 20_000
    assert (np.abs(seen - q) <= 5 * np.sqrt(q * (1 - q) / 20_000)).all()


def test_one_component_is_a_product(rng):
    logits = rng.normal(size=4)
    log_q, log_odds = Mixture.product(logits).evaluate(brute.coalitions(4))
    assert_allclose(np.exp(log_q), brute.law(1 / (1 + np.exp(-logits))))
    assert_allclose(log_odds, np.broadcast_to(logits, (16, 4)))
    around = Mixture.around(np.array([[0.0, 100.0], [0.0, 100.0]]))
    assert_allclose(around.logits, [[0.0, 7.0]])


def test_both_mean_field_modes_of_a_ferromagnet_are_found():
    game = ff.PairwiseGame(np.full(10, -9.0), 2.0 * (1 - np.eye(10)))
    modes = mean_field_modes(game.extension(), np.asarray(1.0), None, start_points(5, 10, 0))
    sides = sorted(np.sign(modes.logits[:, 0]).tolist())
    assert sides[0] == -1
    assert sides[-1] == 1
    assert_allclose(modes.shares.sum(), 1.0)
