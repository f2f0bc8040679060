"""Losses agree with their definitions, and their gradients with differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

import brute
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.fitting import Penalised
from fairfield.learning.members import Members
from fairfield.learning.models import Pairwise
from fairfield.learning.objectives import Contrast, Flips, Likelihood
from fairfield.learning.observed import observe

N = 6
OBJECTIVES = {
    "pseudolikelihood": lambda model, seen: Flips(model, seen),
    "ratio-matching": lambda model, seen: Flips(model, seen, squared=True),
    "nce": lambda model, seen: Contrast.of(model, seen, 3, np.random.default_rng(0)),
    "likelihood": Likelihood,
}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_are_differences(model, theta, objective, rng):
    seen = observe(rng.random((40, N)) < rng.random(N))
    # Nudged off zero, where a maximum has a kink.
    theta = theta + 0.01 * rng.random(len(theta))
    loss = OBJECTIVES[objective](model, seen)
    at = loss.start(theta)
    penalised = Penalised(loss, 2.5)
    gradient = penalised(at)[1]
    differences = approx_fprime(at, lambda t: penalised(t)[0], 1e-7)
    assert_allclose(gradient, differences, atol=2e-6 * (1 + abs(gradient).max()))


def test_losses_are_their_definitions(rng):
    model, seen = Pairwise(N), observe(rng.random((30, N)) < 0.4)
    theta = rng.normal(size=N + model.interactions)
    table = model.worths(theta, Members.of(enumerate_coalitions(N)))[0]
    law = brute.boltzmann(table, 1.0)
    rows = seen.coalitions @ (1 << np.arange(N))
    flips = rows[:, None] ^ (1 << np.arange(N))
    stay = law[rows][:, None] / (law[rows][:, None] + law[flips])
    share = seen.counts / seen.total
    assert_allclose(Flips(model, seen)(theta)[0], -share @ np.log(stay).sum(axis=1))
    assert_allclose(
        Flips(model, seen, squared=True)(theta)[0], share @ ((1 - stay) ** 2).sum(axis=1)
    )
    assert_allclose(Likelihood(model, seen)(theta)[0], -share @ np.log(law[rows]))
    contrast = Contrast.of(model, seen, 4, np.random.default_rng(1))
    assert contrast.noise.total == 4 * seen.total
    noise = np.where(
        enumerate_coalitions(N), seen.shrunk_frequencies(), 1 - seen.shrunk_frequencies()
    )
    c = 0.3
    real = np.exp(table + c) / (np.exp(table + c) + 4 * noise.prod(axis=1))
    others = np.concatenate(
        [some.matrix().astype(int) @ (1 << np.arange(N)) for some in contrast.noise.blocks()]
    )
    expected = -share @ np.log(real[rows])
    expected -= contrast.noise.counts / seen.total @ np.log(1 - real[others])
    assert_allclose(contrast(np.append(theta, c))[0], expected)


def test_many_blocks_give_one_answer(monkeypatch, rng, model, theta):
    seen = observe(rng.random((200, N)) < 0.4)
    losses = [make(model, seen) for make in OBJECTIVES.values()]
    whole = [loss(loss.start(theta)) for loss in losses]
    monkeypatch.setattr("fairfield.learning.objectives.BLOCK", 60)
    monkeypatch.setattr("fairfield.learning.members.BLOCK", 60)
    for loss, (value, gradient) in zip(losses, whole, strict=True):
        in_blocks = loss(loss.start(theta))
        assert_allclose(in_blocks[0], value)
        assert_allclose(in_blocks[1], gradient, atol=1e-12)
