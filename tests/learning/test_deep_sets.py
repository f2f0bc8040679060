"""Neural set functions as games: their worths, their ground sets, what identifies them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import needs
from fairfield.core.coalitions import enumerate_coalitions


@pytest.fixture(autouse=True)
def torch():
    return needs("torch", "torch")


@pytest.fixture
def network(torch):
    from fairfield.learning.deep_sets import deep_sets

    torch.manual_seed(0)
    return deep_sets(3, 4)


def test_worths_are_those_of_the_sum_of_members(torch, network, rng):
    from fairfield.learning.deep_sets import DeepSetsGame

    features, z = rng.normal(size=(2, 5, 3)), enumerate_coalitions(5)
    game = DeepSetsGame(network, features, players=list("abcde"), note="as it came")
    assert game.batch == (2,)
    assert repr(game).endswith(", as it came")
    each = network.phi(torch.as_tensor(features)).detach().numpy()
    sums = torch.as_tensor(z.astype(float) @ each)
    assert_allclose(game.worths(z), network.rho(sums).detach().numpy()[..., 0], atol=1e-12)
    # The same function on other ground sets: players in another order are worth the same.
    turned = game.on(features[0, ::-1])
    assert turned.batch == ()
    assert_allclose(turned.worths(z[:, ::-1]), game.worths(z)[0], atol=1e-12)
    assert turned.describe() != game.describe()


def test_features_that_do_not_fit_are_refused(rng):
    from fairfield.learning import learn_deep_sets

    seen = rng.random((20, 3)) < 0.5
    game = learn_deep_sets(seen, epochs=1)
    with pytest.raises(ValueError, match="takes 3"):
        game.on(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="one row per player"):
        game.on(np.zeros(3))
