"""Which coalitions are asked for, and how they were drawn."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare

from fairfield.estimation.along import Along
from fairfield.estimation.designs import balance
from fairfield.estimation.designs.design import Design, Plan

BANZHAF, SHAPLEY = Plan(odd=lambda sampled: 0.0), Plan(first=True)


def told(design, budget):
    """All that a design asks for, up to a budget."""
    asked = []
    while budget and len(some := design.ask(budget)):
        design.tell(some, some @ 2.0 ** np.arange(some.shape[1]))
        asked.append(some)
        budget -= len(some)
    return np.concatenate(asked)


DESIGNS = {
    "shapley": lambda n, seed=0: Design(n, [Along.shapley(n)], seed, SHAPLEY),
    "banzhaf": lambda n, seed=0: Design(n, [Along.banzhaf(n)], seed, BANZHAF),
    "beta": lambda n, seed=0: Design(
        n, [Along.semivalue(np.arange(n) * 2.0 / n / (n - 1))], seed, Plan()
    ),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_no_coalition_is_asked_for_twice_and_all_are_in_the_end(name):
    asked = told(DESIGNS[name](7), 1000)
    assert_array_equal(asked[:2].sum(axis=1), [0, 7])
    assert len(np.unique(asked, axis=0)) == len(asked) == 2**7


@pytest.mark.parametrize("name", DESIGNS)
def test_a_larger_budget_continues_where_a_smaller_one_stopped(name):
    few, many = (told(DESIGNS[name](12), budget) for budget in (50, 200))
    assert_array_equal(many[:50], few)


def test_of_halves_neither_comes_first_by_who_is_in_it():
    """A budget that ends between the two of a pair would else read the first player's side alone."""
    lone = [told(DESIGNS["shapley"](4, seed), 2 + 8 + 1)[-1] for seed in range(200)]
    assert {int(each.sum()) for each in lone} == {2}
    assert (np.abs(np.sum(lone, axis=0) - 100) < 5 * np.sqrt(50)).all()


def test_single_players_come_first_for_shapley():
    sizes = told(DESIGNS["shapley"](10), 40).sum(axis=1)
    assert_array_equal(np.sort(sizes[2:22]), [1] * 10 + [9] * 10)
    assert 1 not in sizes[22:]


@pytest.mark.parametrize(("most", "whole"), [(2 + 12, 0), (2 + 12 + 5, 5), (2 + 24 + 7, 15)])
def test_complements_of_the_first_draws_for_banzhaf_follow_all_of_these(most, whole):
    design = DESIGNS["banzhaf"](8)
    asked = told(design, most)
    later = asked[14:26]
    assert_array_equal(later, ~asked[2 : 2 + len(later)])
    assert_array_equal(design.received(), asked)
    sampled = design.sampled(noisy=False)
    assert sampled.pairs == 1 + whole
    first, second = sampled.rows[: 2 * sampled.pairs].reshape(-1, 2, 8).swapaxes(0, 1)
    assert_array_equal(first, ~second)
    assert_allclose(sampled.worths[0], sampled.rows @ 2.0 ** np.arange(8))


@pytest.mark.parametrize(("share", "pairs"), [(0.6, 12), (0.4, 29)])
def test_what_is_odd_in_the_first_pairs_decides_whether_more_follow(share, pairs):
    """Of 8 players 12 pairs are drawn apart, and then it is asked for, once."""
    given = []

    def odd(sampled):
        given.append(sampled.pairs)
        return share

    design = Design(8, [Along.banzhaf(8)], 0, Plan(odd=odd))
    asked = told(design, 60)
    assert given == [13]
    sampled = design.sampled(noisy=False)
    assert sampled.pairs == 1 + pairs
    assert sampled.single == (pairs < 29)
    first, second = sampled.rows[: 2 * sampled.pairs].reshape(-1, 2, 8).swapaxes(0, 1)
    assert_array_equal(first, ~second)
    assert len(np.unique(asked, axis=0)) == 60
    assert_allclose(sampled.worths[0], sampled.rows @ 2.0 ** np.arange(8))


def test_the_first_draws_for_banzhaf_follow_its_law_on_both_sides():
    sizes = np.array([DESIGNS["banzhaf"](12, k).ask(20)[2:].sum(axis=1) for k in range(60)])
    assert abs(sizes.mean() - 6) <= 5 * sizes.std() / sizes.size**0.5
    share = np.mean(sizes == 6)
    expected = comb(12, 6) / 2**12
    assert abs(share - expected) <= 5 * (expected / sizes.size) ** 0.5


@pytest.mark.parametrize("name", DESIGNS)
def test_balanced_players_are_told_apart_better(name, monkeypatch):
    """The errors of slopes by least squares, of pairs of complements or of single coalitions."""
    errors = []
    for enough in (balance.ENOUGH, 0):
        monkeypatch.setattr(balance, "ENOUGH", enough)
        asked = [told(DESIGNS[name](20, seed), 122)[2:] for seed in range(5)]
        Z = [np.insert(np.where(each, 1.0, -1.0), 0, 1.0, axis=1) for each in asked]
        errors.append(sum(np.trace(np.linalg.inv(each.T @ each)[1:, 1:]) for each in Z))
    assert errors[0] <= 0.9 * errors[1]


def test_coalitions_of_a_size_are_as_likely_as_each_other_though_they_are_balanced():
    counts = np.zeros(2**6)
    for seed in range(2000):
        asked = told(DESIGNS["banzhaf"](6, seed), 2 + 9)[2:]
        np.add.at(counts, asked[asked.sum(axis=1) == 3] @ 2 ** np.arange(6), 1)
    assert chisquare(counts[counts > 0]).pvalue > 1e-4
    assert np.sum(counts > 0) == 20


def test_one_design_serves_several_criteria():
    both = Design(12, [Along.shapley(12), Along.semivalue(np.arange(12) / 66)], 0, SHAPLEY)
    assert both.paired  # as Shapley's values need it
    asked = told(both, 200)
    assert_allclose(asked.mean(), 0.5)
    assert len(np.unique(asked.sum(axis=1))) == 13


def test_what_was_received_comes_with_its_law():
    design = DESIGNS["shapley"](8)
    told(design, 41)
    sampled = design.sampled(noisy=False)
    logs = sampled.log_law()
    assert logs.shape == (9,)
    assert_allclose(sum(comb(8, s) * np.exp(logs[s]) for s in range(9)), 1.0)
    assert_allclose(sampled.drawn.sum(), 41)
    assert_allclose(sampled.known[sampled.sizes == 1], 1.0)
    assert_array_equal(sampled.groups[:6], [0, 0, 1, 1, 2, 2])
    assert len(np.unique(sampled.groups)) == sampled.pairs + 1  # one is without its complement
    assert_allclose(sampled.weights.sum(), 1.0)
    assert sampled.weights[sampled.sizes == 1].max() < 1e-9 * sampled.weights.max()


def test_what_is_noisy_is_never_known_whole():
    design = DESIGNS["shapley"](5)
    told(design, 32)
    assert design.sampled(noisy=False).is_whole
    assert not design.sampled(noisy=True).is_whole
    assert (design.sampled(noisy=True).known == 0).all()
