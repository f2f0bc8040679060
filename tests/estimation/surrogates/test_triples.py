"""A surrogate of triples: those that matter are found."""

from itertools import combinations

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff
from estimation.games import PLAYERS, SIGNS, sample_of, sampled
from fairfield.estimation.surrogates import triples
from fairfield.estimation.surrogates.sample import Diagonal


def test_a_hopeless_surrogate_is_given_up(rng):
    sample = sample_of(np.tanh(SIGNS @ rng.standard_normal(PLAYERS)), "shapley", 240)
    law = Diagonal.shapley(PLAYERS)
    assert triples.triple_surrogate(sample, law, 0, sample.odd) is not None
    assert triples.triple_surrogate(sample, law, 0, sample.odd * 1e-6) is None


def test_triples_are_found_and_their_values_exact(rng, monkeypatch):
    # A polynomial in few interactions would be exact before them.
    monkeypatch.setattr("fairfield.estimation.samplers.paired.recovered", lambda *given: None)
    chosen = list(combinations(range(PLAYERS), 3))[::9]
    table = SIGNS @ rng.standard_normal(PLAYERS)
    for triple in chosen:
        table = table + rng.standard_normal() * 8 * SIGNS[:, triple].prod(axis=1)
    for criterion in (ff.shapley, ff.banzhaf):
        found = sampled(criterion, table, budget=220)
        assert "triples" in found.method
        assert_allclose(found.values, criterion(table).values, atol=1e-10)
