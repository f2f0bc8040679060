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
