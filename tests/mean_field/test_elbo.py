"""The ELBO of a product law against its definition, and in the tails."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
from fairfield.core.special import expit
from fairfield.mean_field.elbo import CERTAIN, elbo, entropy, log_odds, prior_logits


def test_the_elbo_is_its_definition(rng):
    table, x, prior = rng.normal(size=32), rng.random(5), rng.uniform(0.1, 0.9, 5)
    q = brute.law(x)
    wanted = q @ (table / 0.7 - np.log(q) + np.log(brute.law(prior)))
    found = elbo(brute.value(table, x), log_odds(x), 0.7, prior_logits(prior, 5))
    assert_allclose(found, wanted, rtol=1e-12)
    assert_allclose(entropy(log_odds(x)), -q @ np.log(q), rtol=1e-12)


def test_certain_players_have_no_entropy():
    logits = log_odds([0.0, 1.0, 0.5])
    assert logits.tolist() == [-CERTAIN, CERTAIN, 0.0]
    assert expit(logits).tolist() == [0.0, 1.0, 0.5]
    assert_allclose(entropy(logits), np.log(2))
    assert_allclose(entropy(np.array([800.0, -800.0])), 0)


@pytest.mark.parametrize("prior", [1.5, -0.1, np.nan, [0.5, 0.5]])
def test_what_is_no_prior_is_refused(prior):
    with pytest.raises(ValueError, match="each of the 3 players"):
        prior_logits(prior, 3)
