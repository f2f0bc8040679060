"""Parallel tempering samples p at its coldest rung."""

import numpy as np
import pytest

import brute
import fairfield as ff
from boltzmann.known_laws import within
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mcmc.ladder import Ladder
from fairfield.mcmc.landscape import FreePlayers, Landscape, from_extension
from fairfield.mcmc.tempering import steps_of, temper
from fairfield.multilinear.table import TableExtension


@pytest.mark.parametrize("bases", [1, 2])
def test_the_coldest_rung_follows_the_law(bases, rng):
    table = brute.mixed(rng, 5)
    source = from_extension(TableExtension.of(ff.TableGame(table)))
    landscape = Landscape(source, 0.7, None, FreePlayers(None, 5))
    logits = rng.normal(size=(2, 5))
    mixed = Mixture(np.array([logits[0], -logits[1]]), np.array([0.3, 0.7]))
    paths = [Path(landscape, each) for each in (Mixture.product(np.zeros(5)), mixed)][:bases]
    ladder, ladders = Ladder(np.array([0.0, 0.4, 1.0]), np.full(3, 0.5)), 40
    # p is on the ladder of the first base alone.
    starts = [path.draw((3 - k) * ladders, rng) for k, path in enumerate(paths)]
    found = temper(paths, starts, [ladder] * bases, 250, rng)
    assert landscape.visits == (3 if bases == 1 else 5) * ladders * steps_of(250)
    p, z = brute.boltzmann(table, 0.7), brute.coalitions(5)
    for seen, exact in (
        (found.marginals, p @ z),
        (found.log_weights.mean(axis=0), p @ table / 0.7),
    ):
        estimate = Jackknifed.mean(seen)
        assert within(estimate.estimate, exact, estimate.stderr)
    # Every third of 250 iterations, so that at most 100 are kept.
    assert found.log_odds.shape == (84, ladders, 5)
    inside = found.coalitions[::3].reshape(-1, 5)
    rows = inside @ (1 << np.arange(5))
    for i in range(5):
        odds = (table[rows | 1 << i] - table[rows & ~(1 << i)]) / 0.7
        assert np.allclose(found.log_odds[..., i].ravel(), odds)
    half = found.among(slice(0, None, 2))
    assert (half.log_odds == found.log_odds[:, ::2]).all()
    assert (half.marginals == found.marginals[::2]).all()
