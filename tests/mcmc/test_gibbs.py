"""Steps of blocks leave every distribution along the path as it is."""

import numpy as np
import pytest
from scipy.stats import chi2

import brute
import fairfield as ff
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.gibbs import Path, adapted
from fairfield.mcmc.landscape import FreePlayers, Landscape, from_extension
from fairfield.multilinear.table import TableExtension


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rate", [0.25, 1.0])
def test_a_step_leaves_the_law_as_it_is(beta, rate, rng):
    table, logits = brute.mixed(rng, 4), rng.normal(size=4)
    source = from_extension(TableExtension.of(ff.TableGame(table)))
    path = Path(Landscape(source, 1.0, None, FreePlayers(None, 4)), Mixture.product(logits))
    log_q = np.log(brute.law(1 / (1 + np.exp(-logits))))
    p = np.exp((1 - beta) * log_q + beta * table)
    p /= p.sum()
    count = 40_000
    start = brute.coalitions(4)[rng.choice(16, count, p=p)]
    moved, accepted = path.step(path.at(start), np.full(count, beta), np.full(count, rate), rng)
    seen = np.bincount(moved.inside @ (1 << np.arange(4)), minlength=16)
    keep = count * p > 5
    statistic = np.sum((seen[keep] - count * p[keep]) ** 2 / (count * p[keep]))
    assert statistic < chi2.ppf(1 - 1e-6, keep.sum())
    # What a chain carries along is what the landscape has at the coalition it is at.
    assert np.allclose(moved.log_weights, table[moved.inside @ (1 << np.arange(4))])
    assert accepted.all() == (beta == 0.0)


def test_block_rates_stay_between_one_player_and_all():
    rates = adapted(np.array([0.5, 0.1, 1.0]), np.array([0.6, 0.0, 1.0]), 10, 1.0)
    assert rates.tolist() == [0.5, 0.1, 1.0]
    assert adapted(np.array([0.5]), np.array([0.9]), 10, 1.0) > 0.5
