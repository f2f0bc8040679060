"""Log weights and log-odds are those of the law, from a closed form or from worths alone."""

import numpy as np
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from boltzmann import known_laws
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options
from fairfield.mcmc.landscape import FreePlayers, Landscape, from_extension, from_worths
from fairfield.mean_field.elbo import prior_logits
from fairfield.multilinear.table import TableExtension


def test_offsets_cost_no_digits(rng):
    tables = rng.standard_normal((4, 2**8))
    plain, far = (known_laws.BlocksGame(tables + shift) for shift in (0.0, 1e6))
    laws = [ff.Boltzmann(game, 1.0, budget=25_000) for game in (plain, far)]
    assert_allclose(laws[1].log_z - 4e6, laws[0].log_z, atol=1e-4)
    assert_allclose(laws[1].marginals, laws[0].marginals, atol=1e-4)


def test_log_weights_and_log_odds_are_their_definitions(rng):
    table = brute.mixed(rng, 5)
    game = ff.FunctionGame(lambda z: table[z @ (1 << np.arange(5))], players=5)
    prior = np.array([0.3, 1.0, 0.6, 0.0, 0.5])
    logits = prior_logits(prior, 5)
    free = FreePlayers(logits, 5)
    assert free.places.tolist() == [0, 2, 4]
    coalitions = brute.coalitions(3)
    every = free.among_all(coalitions)
    assert every[:, 1].all()
    assert not every[:, 3].any()
    logs = table / 0.7 + np.log(np.maximum(brute.law(prior), 1e-300))
    rows = every @ (1 << np.arange(5))
    closed = ff.TableGame(table)
    with Evaluator(game, Options()) as evaluator:
        sources = (from_worths(evaluator), from_extension(TableExtension.of(closed)))
        for source in sources:
            landscape = Landscape(source, 0.7, logits, free, centre=1.0)
            log_weights, log_odds = landscape.evaluate(coalitions)
            assert landscape.visits == 8
            assert_allclose(log_weights, logs[rows] - 1.0, rtol=1e-12)
            for k, player in enumerate(free.places):
                step = logs[rows | 1 << player] - logs[rows & ~(1 << player)]
                assert_allclose(log_odds[:, k], step, rtol=1e-12)
