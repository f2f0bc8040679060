"""Fits reach the truth from endless data, and the better of several minima."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.learning.fitting import STRENGTHS, Penalised, minimise, redraw, search
from fairfield.learning.learn import OBJECTIVES
from fairfield.learning.members import Members
from fairfield.learning.models import Diversity, Pairwise
from fairfield.learning.objectives import Contrast, Flips
from fairfield.learning.observed import Observed, observe

N = 5
ALL = enumerate_coalitions(N)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_endless_data_give_the_truth(objective, rng):
    """Every objective is smallest at the truth when coalitions come exactly as often as it says."""
    pairs = np.triu(rng.normal(0, 0.7, (N, N)), 1)
    game = ff.PairwiseGame(rng.normal(-0.5, 0.7, N), pairs + pairs.T)
    model = Pairwise(N)
    law = brute.boltzmann(game.worths(ALL), 1.0)
    seen = Observed(ALL, 1e12 * law, tuple(range(N)))
    if objective == "nce":
        share = seen.shrunk_frequencies()
        noise = np.where(ALL, share, 1 - share).prod(axis=1)
        drawn = Members.of(ALL, 5e12 * noise)
        loss = Contrast(model, Members.of(seen.coalitions, seen.counts), drawn, share)
    else:
        loss = OBJECTIVES[objective](model, seen, 1, rng)
    start = loss.start(np.zeros(N + model.interactions))
    fit = minimise(Penalised(loss, 0.0), start, 2000, tolerance=1e-14)
    learned = model.game(fit.theta[: N + model.interactions], seen)
    assert_allclose(learned.linear, game.linear, atol=2e-5)
    assert_allclose(learned.quadratic, game.quadratic, atol=2e-5)
    if objective == "nce":
        assert_allclose(fit.theta[-1], -ff.Boltzmann(game, 1.0).log_z, atol=2e-5)


def test_redrawn_columns_only_lower_the_loss(rng):
    """From a poor minimum, where two columns are alike, redrawing one finds a better one."""
    game = ff.FLIDGame(rng.normal(0.5, 0.5, 6), 3 * np.kron(np.eye(2), np.ones((3, 1))))
    law = brute.boltzmann(game.worths(enumerate_coalitions(6)), 1.0)
    seen = Observed(enumerate_coalitions(6), 1e5 * law, tuple(range(6)))
    model = Diversity(6, 2)
    penalised = Penalised(OBJECTIVES["likelihood"](model, seen, 1, rng), 0.1)
    alike = np.concatenate([game.gains, np.repeat([3.0, 3.0, 3.0, 0.0, 0.0, 0.0], 2)])
    poor = minimise(penalised, alike, 500)
    better = redraw(penalised, poor, 8, rng, 500)
    assert better.losses[-1] < poor.losses[-1] - 0.01
    best = minimise(penalised, np.concatenate([game.gains, game.weights.ravel()]), 500)
    assert better.losses[-1] == pytest.approx(best.losses[-1], abs=1e-5)
    assert redraw(penalised, best, 3, rng, 500).losses[-1] <= best.losses[-1]
    assert redraw(penalised, poor, 0, rng, 500) is poor


def test_the_search_ends_where_laws_are_no_longer_sound(rng):
    model = Pairwise(5)
    train, rest = (Flips(model, observe(rng.random((400, 5)) < 0.4)) for _ in range(2))
    asked = []

    def sound(theta):
        asked.append(theta)
        return len(asked) < 2

    found = search(train, rest, np.zeros(5 + model.interactions), 100, int, sound)
    assert list(found.held_out) == list(STRENGTHS[:2])
    assert len(asked) == 2
