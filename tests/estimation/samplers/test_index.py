"""The variational index under a budget, against exact answers and literal definitions."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from conftest import draws
from estimation.games import errors, hidden
from fairfield.core.coalitions import rows_of
from fairfield.estimation.samplers.index import IndexEstimator
from fairfield.problem import resolve
from fairfield.results.valuation import NORMAL


@pytest.fixture(params=brute.FAMILIES)
def table(request, rng):
    return brute.FAMILIES[request.param](rng, 12)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_the_index_is_within_its_errors(table, temperature):
    exact = ff.variational_index(table, temperature=temperature)
    found = ff.variational_index(hidden(table), players=12, temperature=temperature, budget=1200)
    assert found.evaluations <= 1200
    assert (errors(found, exact.values) <= 5).all()
    assert_allclose(found.marginals, 1 / (1 + np.exp(-found.values / temperature)), atol=1e-9)
    assert found.converged
    assert "not to be trusted" not in found.stop
    assert found.empty == table[0]
    assert found.grand == table[-1]
    assert abs(found.elbo - exact.elbo) < 0.05 * max(1, abs(exact.elbo))


def test_log_z_and_the_decoupling_error_come_from_the_same_draws(table):
    exact = ff.variational_index(table, temperature=3.0)
    options = {"players": 12, "temperature": 3.0, "budget": 1200}
    found = ff.variational_index(hidden(table), decoupling=True, **options)
    assert found.evaluations <= 1200
    assert 0 < found.log_z_stderr < 0.1
    assert abs(found.log_z - exact.log_z) <= 5 * found.log_z_stderr
    assert abs(found.decoupling_error - exact.decoupling_error) <= 5 * found.log_z_stderr
    assert ff.variational_index(hidden(table), **options).decoupling_error is None


def test_the_prior_is_part_of_log_z(rng):
    table, prior = brute.mixed(rng, 11), np.r_[np.full(9, 0.3), 0.0, 1.0]
    exact = ff.variational_index(table, temperature=4.0, prior=prior)
    found = ff.variational_index(
        hidden(table), players=11, temperature=4.0, prior=prior, budget=400, decoupling=True
    )
    assert abs(found.log_z - exact.log_z) <= 5 * found.log_z_stderr
    assert abs(found.decoupling_error - exact.decoupling_error) <= 5 * found.log_z_stderr


def test_a_law_far_from_its_mean_field_is_doubted(rng):
    table = brute.flid(rng, 14) + 3.0 * (np.arange(2**14) == 2**14 - 1)
    with pytest.warns(ff.ReliabilityWarning, match="effective, 100 and a fifth of all are needed"):
        ff.variational_index(
            hidden(table), players=14, temperature=0.3, budget=150, decoupling=True
        )


def test_trees_explain_what_trees_have_made():
    """Worths that a tree tells in a few leaves."""

    def worth(S):
        return np.where(
            S[:, 0] & S[:, 1] & ~S[:, 2], 3.0 + 0.2 * S[:, 7], S[:, 6:9] @ [0.4, 0.0, 0.1]
        )

    table = worth(brute.coalitions(13))
    options = {"players": 13, "temperature": 1.0, "budget": 400}
    exact = ff.variational_index(table, temperature=1.0).values
    plain, helped = (
        ff.variational_index(worth, sampler=name, **options) for name in ("least-squares", "auto")
    )
    assert "exact" in helped.stop
    assert_allclose(helped.values, exact, atol=1e-9)
    assert (errors(plain, exact) <= 5).all()


@settings(max_examples=draws(4, 10), deadline=None)
@given(st.integers(0, 99), st.floats(0.01, 100))
def test_scale_law_and_null_players(seed, scale):
    rng = np.random.default_rng(seed)
    base = brute.coverage_minus_cost(rng, 9)
    table = np.concatenate([base, base])  # player 9 adds nothing
    options = {"players": 10, "budget": 300, "seed": seed}
    found = ff.variational_index(hidden(table), temperature=1.0, **options)
    scaled = ff.variational_index(hidden(scale * table), temperature=scale, **options)
    assert_allclose(scaled.values, scale * found.values, rtol=1e-5, atol=1e-7 * scale)
    assert_allclose(scaled.stderr, scale * found.stderr, rtol=1e-3, atol=1e-7 * scale)
    assert abs(found.values[9]) <= 5 * found.stderr[9] + 1e-12


# Worths below 1e-150 are refused: their squares are no numbers.
WEIGHTS = st.floats(-3, 3).filter(lambda weight: weight == 0 or abs(weight) > 1e-140)


@settings(max_examples=draws(4, 10), deadline=None)
@given(st.lists(WEIGHTS, min_size=9, max_size=12), st.sampled_from([0.1, 1.0]))
def test_additive_games_are_exact(weights, temperature):
    game = {"players": len(weights), "temperature": temperature, "budget": 200}
    for found in (
        ff.variational_index(lambda S: S @ weights, **game),
        ff.variational_values(lambda S: S @ weights, 2, **game),
    ):
        assert_allclose(found.values, weights, atol=1e-6)
        assert found.stderr.max() < 1e-6


def test_saturated_players_have_true_values(rng):
    table = brute.flid(rng, 12)
    exact = ff.variational_index(table, temperature=0.1)
    assert (np.minimum(exact.marginals, 1 - exact.marginals) < 1e-3).sum() >= 3
    for seed in range(draws(2, 5)):
        found = ff.variational_index(
            hidden(table), players=12, temperature=0.1, budget=1000, seed=seed
        )
        assert (errors(found, exact.values) <= 5).all()
        assert np.abs(found.marginals - exact.marginals).max() < 1e-3


def test_priors_with_certain_players(rng):
    table = brute.mixed(rng, 11)
    prior = np.r_[np.full(8, 0.3), 0.0, 1.0, 0.9]
    exact = ff.variational_index(table, temperature=2.0, prior=prior)
    found = ff.variational_index(
        hidden(table), players=11, temperature=2.0, prior=prior, budget=1000
    )
    assert (errors(found, exact.values) <= 5).all()
    assert_array_equal(found.marginals[8:10], [0, 1])


def test_compare_settles_one_temperature_for_all(rng):
    table = brute.flid(rng, 12)
    both = ff.compare(
        hidden(table), players=12, budget=600, criteria=["shapley", "variational_index"]
    )
    assert list(both) == ["shapley", "variational_index"]
    assert both["shapley"].temperature == both["variational_index"].temperature


def test_same_seed_same_values_any_number_of_jobs(rng):
    table = brute.flid(rng, 10)
    game = ff.FunctionGame(Hidden(table), 10)
    one, again, two = (
        ff.variational_index(game, temperature=1.0, budget=300, seed=3, n_jobs=jobs)
        for jobs in (1, 1, 2)
    )
    assert_array_equal(one.values, again.values)
    assert_array_equal(one.values, two.values)
    other = ff.variational_index(game, temperature=1.0, budget=300, seed=4)
    assert (one.values != other.values).any()


class Hidden:
    """A table as a function that travels to workers."""

    def __init__(self, table):
        self.table = table

    def __call__(self, coalitions):
        return self.table[rows_of(coalitions)]


def test_a_stream_sharpens_and_a_tolerance_stops_it(rng):
    table = brute.coverage_minus_cost(rng, 12)
    options = {"players": 12, "temperature": 1.0}
    rounds = list(ff.stream("variational_index", hidden(table), budget=2000, **options))
    assert len(rounds) > 3
    assert rounds[-1].stderr.max() < rounds[0].stderr.max() / 2
    stopped = ff.variational_index(hidden(table), tolerance=0.05, **options)
    assert NORMAL * stopped.stderr.max() <= 0.05
    assert "within ±0.05" in stopped.stop


def test_few_draws_are_reported(rng):
    table = brute.mixed(rng, 12)
    found = ff.variational_index(hidden(table), players=12, temperature=0.02, budget=60)
    assert "not to be trusted" in found.stop


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"sampler": "dice"}, "there is no sampler 'dice' for variational_index; choose from auto"),
        ({"starts": 4}, "leave them out, or raise the budget"),
        ({"solver": "coordinate"}, "an estimate has one start and its own solver"),
        ({"budget": 10}, "budget=10 is too small to estimate anything"),
        ({"sampler": "monte-carlo", "budget": None, "seconds": 1}, "pass budget="),
        ({"sampler": "one-shot", "start": 0.2, "temperature": ff.relative(1)}, "start is not ½"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(rng, asked, sentence):
    options = {"players": 12, "temperature": 1.0, "budget": 100, **asked}
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ff.variational_index(hidden(brute.mixed(rng, 12)), **options)


def test_an_estimate_in_a_hurry_chooses_no_coalition(rng):
    """The same coalitions for the same worths: a store has those that the call before asked for."""
    slopes, pairs = np.linspace(-1, 1, 12), np.triu(rng.normal(size=(12, 12)), 1)

    def worth(S):
        return S @ slopes + 0.3 * np.einsum("mi,ij,mj->m", S, pairs, S)

    def second(until=None):
        problem = resolve(worth, 12, 1.0, {"budget": 300, "seed": 0})
        estimator = IndexEstimator(problem, np.full(12, 0.5))
        first = estimator.ask(300)
        estimator.tell(first, worth(1.0 * first))
        if until is not None:
            estimator.estimate(until)
        return estimator.ask(300)

    assert_array_equal(second(until=-np.inf), second())
