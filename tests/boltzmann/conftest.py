"""A law of seven players with its definition, with and without a prior."""

import pytest

import brute
import fairfield as ff


@pytest.fixture(params=[None, "prior"])
def case(request, rng):
    table = brute.mixed(rng, 7)
    prior = None if request.param is None else rng.uniform(0.05, 0.95, 7)
    return table, prior, ff.Boltzmann(table, 0.6, prior), brute.boltzmann(table, 0.6, prior)
