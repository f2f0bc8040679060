"""Ladders: rungs from 0 to 1, equally hard to climb, found by a pilot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from boltzmann import known_laws
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.ladder import MOVES, effective_share, pilot, resample
from fairfield.mcmc.landscape import FreePlayers, Landscape, from_extension


@pytest.fixture
def path(rng):
    game = known_laws.two_modes(rng, blocks=4, each=5)
    landscape = Landscape(from_extension(game.extension()), 0.3, None, FreePlayers(None, 20))
    return Path(landscape, Mixture.product(np.zeros(20)))


def test_a_pilot_climbs_from_the_base_to_the_law(path, rng):
    ladder, ends = pilot(path, 32, rng)
    assert ladder.betas[0] == 0
    assert ladder.betas[-1] == 1
    assert (np.diff(ladder.betas) > 0).all()
    assert ((ladder.rates >= 1 / 20) & (ladder.rates <= 1)).all()
    assert path.landscape.visits == 32 * (1 + MOVES * (len(ladder.betas) - 1))
    assert ends.inside.shape == (32, 20)
    finer = ladder.rungs(3 * len(ladder.betas))
    assert_allclose(finer.betas[[0, -1]], [0, 1])
    assert (np.diff(finer.betas) > 0).all()


def test_a_pilot_ends_early_where_it_must(path, rng):
    ladder, _ = pilot(path, 16, rng, most=2)
    assert len(ladder.betas) == 3
    assert ladder.betas[-1] == 1
    assert path.landscape.visits == 16 * (1 + 2 * MOVES)


def test_resampling_is_in_proportion(rng):
    logs = np.log([1.0, 2.0, 5.0])
    assert np.bincount(resample(logs, 800, rng)).tolist() == pytest.approx([100, 200, 500], abs=1)
    assert_allclose(effective_share(np.zeros(7)), 1.0)
    assert_allclose(effective_share(np.array([0.0, -1e3, -1e3, -1e3])), 0.25)
