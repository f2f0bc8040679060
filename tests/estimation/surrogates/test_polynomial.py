"""What surrogates are read to be, against tables of what they predict."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from estimation.games import sample_of
from fairfield.core.coalitions import enumerate_coalitions, rows_of
from fairfield.criteria.interactions.criterion import registry
from fairfield.estimation.along import Along
from fairfield.estimation.surrogates.few_interactions import few_interactions
from fairfield.estimation.surrogates.trees import boosted_trees


@pytest.mark.parametrize("fit", [few_interactions, boosted_trees])
def test_interactions_are_those_of_the_table_it_predicts(fit, rng):
    every = enumerate_coalitions(7)
    worths = np.sin(every @ rng.standard_normal(7)) + rng.standard_normal(128)
    sampled = sample_of(worths, "banzhaf", 128)
    found = fit(sampled, 0, np.inf)
    predicted = np.empty(128)
    predicted[rows_of(sampled.rows)] = sampled.worths[0] - found.inside
    for name, size in (("shapley", 2), ("fsii", 1), ("stii", 3)):
        kind, order = registry()[name](), max(size, 2)
        along = Along(7, size, *kind.rule(size, order, 7 - size))
        sets = np.array(list(combinations(range(7), size)))
        wanted = ff.interactions(predicted, name, order=order).of_size(size).values
        assert_allclose(found.read(along, sets), wanted, atol=1e-10)


def test_a_rival_that_predicts_far_better_ends_the_fit(rng):
    sampled = sample_of(rng.standard_normal(256), "banzhaf", 80)
    assert boosted_trees(sampled, 0, 0.01) is None


def test_what_is_not_looked_at_is_left_to_the_correction(rng, monkeypatch):
    from fairfield.estimation.surrogates import few_interactions as few
    from fairfield.estimation.surrogates import trees

    monkeypatch.setattr(few, "LOOKED_AT", 60)
    monkeypatch.setattr(trees, "FITTED", 60)
    sampled = sample_of(np.tanh(enumerate_coalitions(8) @ rng.standard_normal(8)), "shapley", 120)
    for fit in (few_interactions, boosted_trees):
        found = fit(sampled, 0, np.inf)
        assert_allclose(found.inside[60:], found.outside[60:])
        assert (found.inside[:60] != found.outside[:60]).any()
