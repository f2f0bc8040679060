"""Interactions of surrogates, against tables of what they predict."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from fairfield.criteria.interactions.criterion import registry
from fairfield.estimation.interactions.sections import Along
from fairfield.estimation.interactions.surrogates import boosted_trees, few_interactions


@pytest.mark.parametrize("fit", [few_interactions, boosted_trees])
def test_interactions_are_those_of_the_table_it_predicts(fit, rng):
    every = enumerate_coalitions(7)
    worths = np.sin(every @ rng.standard_normal(7)) + rng.standard_normal(128)
    found = fit(every, worths, np.arange(128) // 2, 0, np.inf)
    predicted = worths - found.inside
    for name, size in (("shapley", 2), ("fsii", 1), ("stii", 3)):
        kind, order = registry()[name](), max(size, 2)
        along = Along(7, size, *kind.rule(size, order, 7 - size))
        sets = np.array(list(combinations(range(7), size)))
        wanted = ff.interactions(predicted, name, order=order).of_size(size).values
        assert_allclose(found.read(along, sets), wanted, atol=1e-10)


def test_a_rival_that_predicts_far_better_ends_the_fit(rng):
    rows = rng.random((80, 6)) < 0.5
    assert boosted_trees(rows, rng.standard_normal(80), np.arange(80), 0, 0.01) is None
