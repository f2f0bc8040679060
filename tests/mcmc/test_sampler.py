"""Runs keep their budget, whatever the game; where it is short they do less."""

import warnings

import numpy as np
import pytest

import fairfield as ff
from boltzmann import known_laws
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.landscape import FreePlayers, Landscape, from_extension
from fairfield.mcmc.sampler import LEAST_GROUPS, LEAST_VISITS, Sampler


@pytest.mark.parametrize("budget", [10_000, 60_000])
def test_the_budget_is_kept(budget, rng):
    asked = []
    game = known_laws.two_modes(rng, blocks=6, each=5)
    extension = game.extension()

    def contributions(coalitions):
        asked.append(len(coalitions))
        return extension.centred(coalitions.astype(float))

    game.contributions = contributions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ff.ReliabilityWarning)
        law = ff.Boltzmann(game, 1.0, budget=budget)
        assert np.isfinite(law.log_z)
    assert sum(asked) - 1 <= budget  # one more tells the offset
    assert law.law.evaluations == sum(asked) - 1


HARD = {
    "two modes": (lambda rng: known_laws.two_modes(rng, blocks=6, each=5), 1.0),
    "two modes, cold": (lambda rng: known_laws.two_modes(rng, blocks=6, each=5), 0.02),
    "rugged, cold": (lambda rng: known_laws.random_blocks(rng, blocks=4, each=8), 0.02),
    "needles": (lambda rng: known_laws.needles(rng, blocks=4, each=8), 0.1),
    "ferromagnet": (lambda rng: known_laws.ferromagnet(100, 16.0, -0.1)[0], 1.0),
}


@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("budget", [LEAST_VISITS, 2500, 3000, 4000, 7000, 12_000, 33_000])
def test_a_run_that_starts_ends_within_its_budget(kind, budget, rng):
    make, temperature = HARD[kind]
    game = make(rng)
    count = len(game.players)
    free = FreePlayers(None, count)
    landscape = Landscape(from_extension(game.extension()), temperature, None, free)
    hot = Mixture.product(np.zeros(count))
    run = Sampler(landscape, hot, None, budget).run(1.0, rng)
    assert landscape.visits <= budget
    assert run.tempered.log_weights.shape[1] >= LEAST_GROUPS
    assert np.isfinite([float(bridge.log_z.estimate) for bridge in run.bridges]).all()


def test_repeated_runs_share_the_budget(rng):
    game, count = known_laws.needles(rng, blocks=4, each=8), 32
    free = FreePlayers(None, count)
    landscape = Landscape(from_extension(game.extension()), 0.1, None, free)
    sampler = Sampler(landscape, Mixture.product(np.zeros(count)), None, 40_000)
    for effort in (1.0, 4.0, 16.0):
        if sampler.left() >= LEAST_VISITS:
            sampler.run(effort, rng)
    assert landscape.visits <= 40_000
