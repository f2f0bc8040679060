"""Neural set functions: exact inner steps, all objectives, and the index in one call."""

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


def test_drawn_gradients_and_their_slopes_are_unbiased(torch, rng):
    """Both, over 2000 repetitions, within 5 standard errors of the exact ones."""
    loss = small_loss(torch)
    features = torch.as_tensor(rng.normal(size=(1, 4, 3)))
    x = torch.as_tensor(rng.random((1, 4)), dtype=torch.float64)

    direction = torch.as_tensor(rng.normal(size=4))

    def read(gradient, at):
        at = at.clone().requires_grad_()
        values = gradient(at)
        (slopes,) = torch.autograd.grad((values @ direction).sum(), at)
        return values.detach(), slopes

    torch.manual_seed(1)
    drawn = read(loss._drawn(features.expand(2000, -1, -1)), x.expand(2000, -1))
    for estimates, exact in zip(drawn, read(loss._summed(features), x), strict=True):
        error = estimates.std(0) / np.sqrt(len(estimates))
        assert (abs(estimates.mean(0) - exact[0]) < 5 * error).all()


@pytest.mark.parametrize("objective", ["pseudolikelihood", "nce", "ratio-matching", "likelihood"])
def test_objectives_learn_a_law(objective, rng):
    from fairfield.learning import learn_deep_sets

    pairs = np.zeros((4, 4))
    pairs[0, 1] = pairs[1, 0] = 3.0
    truth = ff.PairwiseGame(np.full(4, -1.0), pairs, players=list("abcd"))
    seen = ff.Boltzmann(truth, 1.0).draw(1000, seed=1)
    game = learn_deep_sets(seen, objective, players=truth.players, epochs=20, rate=1e-2, seed=1)
    z = enumerate_coalitions(4)
    p = brute.boltzmann(truth.worths(z), 1.0)
    q = brute.boltzmann(game.worths(z), 1.0)
    alone = np.where(z, seen.mean(axis=0), 1 - seen.mean(axis=0)).prod(axis=1)
    assert p @ np.log(p / q) < p @ np.log(p / alone) / 4
    v = ff.variational_index(game, temperature=1.0)
    assert v.players == truth.players
    assert objective in repr(game)


@pytest.mark.parametrize("players", [5, 10])
def test_mean_field_learns_which_coalition_is_right(players, rng):
    """The right coalition holds the players with a positive first feature."""
    from fairfield.learning import learn_deep_sets

    features = rng.normal(size=(400, players, 2))
    right = features[..., 0] > 0
    game = learn_deep_sets(
        right[:300], "mean-field", features=features[:300], epochs=15, width=16, inference=2
    )
    assert game.batch == (300,)
    fresh = game.on(features[300:])
    v = ff.variational_index(fresh, temperature=1.0)
    assert ((v.marginals > 0.5) == right[300:]).mean() > 0.9


def test_the_same_seed_gives_the_same_network_and_leaves_others_alone(torch, rng):
    from fairfield.learning import learn_deep_sets

    seen = rng.random((40, 3)) < 0.5
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, same = (learn_deep_sets(seen, epochs=2, seed=3) for _ in range(2))
    assert one.describe() == same.describe()
    assert (torch.get_rng_state() == before).all()


def test_what_does_not_fit_is_refused(rng):
    from fairfield.learning import learn_deep_sets

    seen = rng.random((20, 3)) < 0.5
    for keywords, message in [
        ({"objective": "luck"}, "no objective 'luck'"),
        ({"features": np.zeros((4, 2))}, "features of 4 players"),
        ({"features": np.full((3, 2), np.nan)}, "finite number"),
        ({"features": np.zeros((19, 3, 2))}, "20 coalitions and 19 ground sets"),
        ({"held_out": 1.0}, "held_out=1.0 was given; it must lie between 0 and 1"),
        ({"held_out": -1}, "held_out=-1"),
        ({"held_out": 0.99}, "none to learn from"),
        ({"epochs": 0}, "epochs=0"),
        ({"patience": 0}, "patience=0"),
        ({"width": 0}, "width=0"),
        ({"objective": "nce", "noise": 0}, "noise=0"),
        ({"objective": "mean-field", "inference": 0}, "inference=0"),
        ({"objective": "nce", "features": np.zeros((20, 3, 2))}, "every ground set has its own"),
    ]:
        with pytest.raises(ValueError, match=message):
            learn_deep_sets(seen, **keywords)
    game = learn_deep_sets(seen, epochs=1)
    with pytest.raises(ValueError, match="takes 3"):
        game.on(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="one row per player"):
        game.on(np.zeros(3))
    with pytest.raises(ValueError, match=r"all 2\^20"):
        learn_deep_sets(rng.random((20, 20)) < 0.5, "likelihood", epochs=1)
