"""Exact, sampled and marginal laws answer alike, and refuse before a worth is evaluated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from boltzmann import known_laws
from boltzmann.known_laws import within
from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.law import Law, law_of
from fairfield.boltzmann.marginal import MarginalLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.evaluation.options import Options
from fairfield.mcmc.sampler import LEAST_VISITS


class Counting:
    """A game of additive worths that counts the coalitions it is asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, coalitions):
        self.asked.extend(map(bytes, np.packbits(coalitions, axis=1)))
        return coalitions @ np.linspace(-1, 1, coalitions.shape[1])


@pytest.fixture
def counting():
    return Counting()


def test_all_laws_have_the_same_members(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    laws = [
        ff.Boltzmann(known_laws.BlocksGame(game.tables[:1]), 1.0),
        ff.Boltzmann(game, 1.0, budget=10_000),
        ff.Boltzmann(game, 1.0, budget=10_000).marginalise(range(12)),
    ]
    kinds = [type(each.law) for each in laws]
    assert kinds == [ExactLaw, SampledLaw, MarginalLaw]
    members = [name for name in vars(Law) if not name.startswith("_")]
    assert len(members) == 17
    for kind in kinds:
        known = {*dir(kind), *getattr(kind, "__annotations__", ()), "temperature", "prior"}
        assert not set(members) - known
    for each in laws[1:]:
        for reading in ("log_z", "marginals", "pair_marginals", "log_odds"):
            assert each.law.stderr(reading).shape == getattr(each.law, reading).shape
        assert each.law.samples > 0
        odds = np.log(each.marginals) - np.log1p(-each.marginals)
        assert_allclose(each.law.log_odds, odds, rtol=1e-9)
    assert laws[0].law.samples == 0
    exact = laws[0].marginals
    assert_allclose(laws[0].law.log_odds, np.log(exact) - np.log1p(-exact), rtol=1e-9)
    assert within(laws[1].marginals[:5], exact, laws[1].stderr("marginals")[:5])


def test_log_odds_of_fixed_players_are_certain(rng):
    game = known_laws.two_modes(rng, blocks=6, each=5)
    prior = np.full(30, 0.5)
    prior[[1, 4]] = 1.0, 0.0
    law = ff.Boltzmann(game, 1.0, prior, budget=10_000).law
    assert (law.log_odds[[1, 4]] == [1e300, -1e300]).all()
    assert (law.stderr("log_odds")[[1, 4]] == 0).all()
    with pytest.raises(ValueError, match="the prior fixes every player"):
        ff.Boltzmann(game, 1.0, np.ones(30), budget=10_000)


def small(function, *arguments, **options):
    """A law whose table would be evaluated."""
    return ff.Boltzmann(function, *arguments, **{"players": 6, **options})


def large(function, *arguments, **options):
    """A law that would be sampled."""
    return ff.Boltzmann(function, *arguments, **{"players": 40, "budget": 200_000, **options})


HALF = np.full(40, 0.5)
REFUSED = {
    "no temperature": (lambda f: small(f, -1.0), "above 0"),
    "a text": (lambda f: small(f, "warm"), "above 0"),
    "two temperatures": (lambda f: small(f, [1.0, 2.0]), "one per game"),
    "a prior above 1": (lambda f: small(f, 1.0, 1.5), r"in \[0, 1\]"),
    "a prior of others": (lambda f: small(f, 1.0, np.full(5, 0.5)), "each of the 6 players"),
    "no option": (lambda f: small(f, 1.0, budgets=3), "budgets"),
    "relative, sampled": (lambda f: large(f, ff.relative(1.0)), "as a number"),
    "a budget too small": (lambda f: large(f, 1.0, budget=60_000).marginals, "at least 97,744 worths"),
    "too small, log Z": (lambda f: large(f, 1.0, budget=97_743).log_z, "too small"),
    "too small, draws": (lambda f: large(f, 1.0, budget=60_000).draw(3), "too small"),
    "too many draws": (lambda f: large(f, 1.0).draw(10_000), "draw fewer"),
    "half a draw": (lambda f: large(f, 1.0).draw(1.5), "whole number"),
    "a negative draw": (lambda f: large(f, 1.0).draw(-1), "whole number"),
    "no reading": (lambda f: large(f, 1.0).stderr("kl"), "no reading 'kl'"),
    "the ELBO": (lambda f: large(f, 1.0).elbo(HALF), "no closed form"),
    "the decoupling error": (lambda f: large(f, 1.0).decoupling_error(HALF), "no closed form"),
    "marginals of others": (lambda f: large(f, 1.0).reverse_error(HALF[:3]), "40 players"),
    "no marginals": (lambda f: large(f, 1.0).reverse_error(2.0), r"in \[0, 1\]"),
    "coalitions of others": (lambda f: large(f, 1.0).probability([[0, 1]]), "40 columns"),
    "nobody left": (lambda f: large(f, 1.0).marginalise(range(40)), "at least one player"),
    "a mean of nan": (lambda f: ff.Boltzmann.from_mean(f, np.nan, players=6), "finite number"),
    "a mean, sampled": (
        lambda f: ff.Boltzmann.from_mean(f, 1.0, players=40, budget=200_000), "give temperature=",
    ),
    "options of coalitions": (
        lambda f: ff.Boltzmann.from_coalitions(f, np.eye(6), players=6, budget=0), "budget=0",
    ),
    "coalitions, sampled": (
        lambda f: ff.Boltzmann.from_coalitions(f, np.eye(40), players=40, budget=200_000),
        "give temperature=",
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused_evaluates_no_worth(call, counting):
    asked, match = REFUSED[call]
    with pytest.raises((ValueError, TypeError), match=match):
        asked(counting)
    assert not counting.asked


def test_the_least_budget_is_enough(counting):
    law = large(counting, 1.0, budget=LEAST_VISITS * 41)
    exact = 1 / (1 + np.exp(-np.linspace(-1, 1, 40)))
    assert within(law.marginals, exact, law.stderr("marginals"))
    # One more coalition, with its neighbours, sets the zero of the log weights.
    assert len(counting.asked) <= LEAST_VISITS * 41 + 41


def test_nothing_is_evaluated_twice(counting):
    law = large(counting, 1.0)
    marginals = law.marginals
    before = len(counting.asked)
    pairs = law.pair_marginals
    assert_allclose(np.diag(pairs), marginals)
    assert len(law.stderr("pair_marginals")) == 40
    assert law.entropy > 0
    assert len(counting.asked) == before
    law.draw(20)
    assert len(counting.asked) > before
    assert len(set(counting.asked)) == len(counting.asked)


def test_a_table_is_taken_where_the_budget_allows_it(counting):
    game = ff.FunctionGame(counting, players=6)
    table, law = law_of(game, 1.0, None, Options(budget=64))
    assert isinstance(law, ExactLaw)
    assert isinstance(table, ff.TableGame)
    assert len(counting.asked) == 64
    assert isinstance(law_of(game, 1.0, None, Options(budget=63))[1], SampledLaw)
