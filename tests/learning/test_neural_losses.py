"""Losses of neural set functions: exact inner steps, and drawn ones without bias."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions


@pytest.fixture(autouse=True)
def torch():
    return needs("torch", "torch")


def small_loss(torch, inference=3, features=3):
    from fairfield.learning.deep_sets import deep_sets
    from fairfield.learning.neural_losses import NeuralLoss

    torch.manual_seed(0)
    network = deep_sets(features, 6)
    return NeuralLoss(network, torch.full((4,), 0.4, dtype=torch.float64), 2, inference)


def test_inference_is_that_of_the_table(torch, rng):
    from fairfield.learning.deep_sets import DeepSetsGame

    loss = small_loss(torch)
    features = rng.normal(size=(2, 4, 3))
    logits = loss.infer(torch.as_tensor(features)).detach().numpy()
    v = ff.variational_values(DeepSetsGame(loss.network, features), steps=3, temperature=1.0)
    assert_allclose(v.values, logits, atol=1e-12)


def test_gains_are_differences_of_worths(torch, rng):
    loss = small_loss(torch)
    features = torch.as_tensor(rng.normal(size=(1, 4, 3)))
    z = enumerate_coalitions(4).astype(float)
    table = loss.network(torch.as_tensor(z), features)[0].detach().numpy()
    gains = loss.gains(torch.as_tensor(z)[None], features)[0].detach().numpy()
    assert_allclose(gains, [brute.gradient(table, row) for row in z], atol=1e-12)


def test_drawn_gradients_and_their_derivatives_are_unbiased(torch, rng):
    """Both, over 2000 repetitions, within 5 standard errors of the exact ones."""
    loss = small_loss(torch)
    features = torch.as_tensor(rng.normal(size=(1, 4, 3)))
    x = torch.as_tensor(rng.random((1, 4)), dtype=torch.float64)

    direction = torch.as_tensor(rng.normal(size=4))

    def read(gradient, at):
        at = at.clone().requires_grad_()
        values = gradient(at)
        (derivatives,) = torch.autograd.grad((values @ direction).sum(), at)
        return values.detach(), derivatives

    torch.manual_seed(1)
    drawn = read(loss._drawn(features.expand(2000, -1, -1)), x.expand(2000, -1))
    for estimates, exact in zip(drawn, read(loss._summed(features), x), strict=True):
        error = estimates.std(0) / np.sqrt(len(estimates))
        assert (abs(estimates.mean(0) - exact[0]) < 5 * error).all()
