"""log Z from draws, with and without a surrogate, against the sum over all coalitions."""

import numpy as np
import pytest
from scipy.special import logsumexp

import brute
import fairfield as ff
from conftest import draws
from estimation.games import hidden


@pytest.mark.parametrize("sampler", ["auto", "least-squares"])
def test_log_z_is_within_its_errors(sampler, rng):
    table = brute.flid(rng, 11)
    exact = logsumexp(table / 0.5)
    asked = {"players": 11, "temperature": 0.5, "budget": 250, "decoupling": True}
    scores = []
    for seed in range(draws(3, 20)):
        found = ff.variational_index(hidden(table), seed=seed, sampler=sampler, **asked)
        scores.append((found.log_z - exact) / found.log_z_stderr)
    assert np.abs(scores).max() <= 5


def test_a_recovered_game_needs_no_draws_of_its_own(rng):
    S = brute.coalitions(12)
    table = S @ rng.normal(size=12) + 2.0 * (S[:, 0] & S[:, 5])
    asked = {"players": 12, "temperature": 2.0, "budget": 250, "decoupling": True}
    found = ff.variational_index(hidden(table), **asked)
    assert "exact" in found.stop
    assert found.stderr.max() == 0
    assert abs(found.log_z - logsumexp(table / 2.0)) <= 5 * found.log_z_stderr < 0.05


def test_a_mode_far_from_the_index_is_seen():
    """The free draws of a recovered game were all made at its index: off by 18 standard errors of the draws."""

    def worth(S):
        return 2 * np.prod(np.where(S[:, :2], 1, -1), axis=1) + S[:, :2] @ [0.3, 0.3]

    table = worth(brute.coalitions(12))
    found = ff.variational_index(worth, players=12, temperature=0.5, budget=240, decoupling=True)
    assert abs(found.log_z - logsumexp(table / 0.5)) <= 5 * found.log_z_stderr


def test_draws_that_are_all_alike_are_not_enough():
    """From a corner that holds the first draws nothing could be estimated."""
    slopes = np.linspace(-0.2, 0.2, 9)

    def worth(S):
        return S.all(axis=1) * 3.0 + S @ slopes

    for start in (0.0, 1.0):
        found = ff.variational_index(worth, players=9, temperature=0.1, budget=450, start=start)
        assert found.evaluations >= 20
