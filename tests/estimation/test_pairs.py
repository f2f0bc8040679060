"""Designs of pairs: every stratum listed once, drawn without replacement, by need."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fairfield.estimation.pairs import Design, Pairs, Strata, Stratum


@pytest.mark.parametrize(("players", "size"), [(6, 0), (6, 2), (6, 3), (7, 3)])
def test_a_stratum_lists_every_pair_once(players, size):
    stratum = Stratum(players, size)
    every = stratum.every()
    assert len(every) == stratum.pairs == comb(players, size) / (2 if 2 * size == players else 1)
    both = np.concatenate([every, ~every])
    assert len(np.unique(both, axis=0)) == len(both)
    drawn = stratum.draw(50, np.random.default_rng(0))
    assert {row.tobytes() for row in drawn} <= {row.tobytes() for row in every}


@pytest.mark.parametrize("make", [Strata.shapley, Strata.banzhaf])
def test_a_design_draws_no_pair_twice_and_ends_with_all(make):
    design, drawn = Design(7, [make(7)], 0), []
    while True:
        pairs, strata = design.next(20, design.shares(None, 20))
        if not len(pairs):
            break
        assert_array_equal(np.array([s.size for s in design.strata])[strata], pairs.sum(axis=1))
        drawn.append(pairs)
    together = np.concatenate(drawn)
    both = np.concatenate([together, ~together])
    assert len(np.unique(both, axis=0)) == len(both) == design.pairs.sum() * 2


def test_a_large_stratum_draws_no_pair_twice():
    design = Design(40, [Strata.banzhaf(40)], 3)
    pairs, _ = design.next(3000, design.shares(None, 3000))
    assert len(np.unique(pairs, axis=0)) == 3000


def test_strata_with_more_left_to_explain_are_drawn_from_more():
    design = Design(20, [Strata.shapley(20)], 0)
    left = np.ones(10)
    left[3] = 100.0
    shares = design.shares(left[None], 10_000)
    assert shares[3] > 2 * design.shares(None, 10_000)[3]
    assert_allclose(shares.sum(), 1.0)


def test_one_design_serves_both_criteria():
    alone = [Strata.shapley(12), Strata.banzhaf(12)]
    design = Design(12, alone, 0)
    assert_array_equal(design.sizes, np.arange(7))
    assert_allclose(design.masses.sum(axis=1), 1.0)
    assert design.masses[0, 0] == 0  # Shapley's values do not depend on ∅ but through N
    assert_allclose(design.masses[1] * 2**12, [2 * comb(12, s) for s in range(6)] + [comb(12, 6)])


def test_what_was_received_comes_with_its_law():
    pairs = Pairs(8, ["shapley"], 3, noisy=False)
    asked = pairs.ask(41)
    pairs.tell(asked, asked.sum(axis=1) * 1.0)
    coalitions, logs = pairs.received()
    assert_array_equal(coalitions, asked)
    assert logs.shape == (9,)
    assert_allclose(sum(comb(8, s) * np.exp(logs[s]) for s in range(9)), 1.0)
    sample = pairs.sample("shapley")
    assert_array_equal(sample.coalitions, asked[2:40:2])  # whole pairs, after both ends
    assert_allclose(sample.odd[0], sample.coalitions.sum(axis=1) - 4.0)
    assert_allclose(sample.weights.sum(), 1.0)


@pytest.mark.parametrize(("most", "whole"), [(2 + 12, 0), (2 + 12 + 5, 5), (2 + 24 + 7, 15)])
def test_complements_of_the_first_draws_for_banzhaf_follow_all_of_these(most, whole):
    pairs = Pairs(8, ["banzhaf"], 3, noisy=False)
    asked = pairs.ask(most)
    pairs.tell(asked, asked @ 2.0 ** np.arange(8))
    if len(asked) < most:
        asked = np.concatenate([asked, pairs.ask(most - len(asked))])
        pairs.tell(asked[26:], asked[26:] @ 2.0 ** np.arange(8))
    later = asked[14:26]
    assert_array_equal(later, ~asked[2 : 2 + len(later)])
    assert_array_equal(pairs.received()[0], asked)
    sample = pairs.sample("banzhaf")
    assert len(sample.coalitions) == len(sample.places) == whole
    assert_allclose(sample.odd[0], (sample.coalitions - 0.5) @ 2.0 ** np.arange(8))


def test_the_first_draws_for_banzhaf_follow_its_law_on_both_sides():
    sizes = np.array([Pairs(12, ["banzhaf"], k, noisy=False).ask(20)[2:].sum(1) for k in range(60)])
    assert abs(sizes.mean() - 6) <= 5 * sizes.std() / sizes.size**0.5
    design = Design(12, [Strata.banzhaf(12)], 0)
    assert_allclose(design.shares(None, 48), design.masses[0])
    assert design.shares(None, 49)[1] > design.masses[0, 1]  # single players early after that


def test_a_prior_is_fitted_to_both_coalitions_of_pairs_or_to_none():
    assert Design(499, [Strata.banzhaf(499)], 0).apart == 749
    assert Design(500, [Strata.banzhaf(500)], 0).apart == 0
