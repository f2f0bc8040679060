"""Neural set functions are learned by all objectives, and valued in one call."""

import numpy as np
import pytest

import brute
import fairfield as ff
from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions


@pytest.fixture(autouse=True)
def torch():
    return needs("torch", "torch")


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
    with pytest.raises(ValueError, match=r"all 2\^20"):
        learn_deep_sets(rng.random((20, 20)) < 0.5, "likelihood", epochs=1)
