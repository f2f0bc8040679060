"""Semivalues from coalitions drawn by size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff
from fairfield.estimation.samplers.permutation import Permutations
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.problem import resolve

GAME = ff.FLIDGame(*(lambda w: (np.full(12, 0.4), w))(np.random.default_rng(0).random((12, 5))))
EXACT = {ab: ff.semivalue(GAME, ff.beta(*ab)) for ab in [(1, 4), (4, 1), (1, 1)]}


def estimated(ab, budget, seed=0, worths=GAME.worths, **options):
    return ff.semivalue(worths, ff.beta(*ab), players=12, budget=budget, seed=seed, **options)


@pytest.mark.parametrize("ab", EXACT)
def test_estimates_lie_within_their_errors(ab):
    found = estimated(ab, 300)
    assert found.method.startswith("a prior over games")
    assert (np.abs(found.values - EXACT[ab].values) <= 5 * found.stderr).all()


def test_errors_are_far_below_those_of_random_orders():
    exact = EXACT[1, 4].values
    ours, orders = (
        np.mean([(estimated((1, 4), 120, s, sampler=name).values - exact) ** 2 for s in range(4)])
        for name in ("auto", "permutation")
    )
    assert ours < 0.1 * orders


def test_all_coalitions_leave_no_error():
    game = ff.FLIDGame(np.full(9, 0.4), np.random.default_rng(0).random((9, 5)))
    late = ff.beta(4, 1)
    found = ff.semivalue(game.worths, late, players=9, tolerance=1e-300)
    assert found.stop.endswith("after 512 coalitions")
    assert_allclose(found.values, ff.semivalue(game, late).values, atol=1e-9)
    assert found.stderr.max() < 1e-9


def test_a_larger_budget_continues_where_a_smaller_one_stopped():
    asked = []

    def worths(S):
        asked.append(S.copy())
        return GAME.worths(S)

    estimated((1, 4), 60, worths=worths)
    first = np.concatenate(asked)
    asked.clear()
    estimated((1, 4), 200, worths=worths)
    second = np.concatenate(asked)
    assert_array_equal(second[: len(first)], first)
    assert len(np.unique(second, axis=0)) == 200


def test_weights_that_no_points_stand_for_use_random_orders():
    shares = np.zeros(40)
    shares[20] = 1.0
    problem = resolve(lambda S: S.sum(axis=1) * 1.0, 40, None, {"budget": 500})
    found = estimator_of(problem, "semivalue", "semivalue", criterion="semivalue", shares=shares)
    assert isinstance(found, Permutations)


def test_few_coalitions_and_few_different_worths_are_warned_of():
    assert "not to be trusted; 74 are the least for that" in estimated((1, 4), 60).stop
    assert "not to be trusted" not in estimated((1, 4), 100).stop
    vote = estimated((1, 4), 200, worths=lambda S: (S.sum(axis=1) > 6) * 1.0)
    assert vote.stop.endswith("error bars are not to be trusted")


def test_a_vote_meets_its_tolerance():
    """The remark on its worths must not keep a run from ending."""
    found = ff.semivalue(
        lambda S: (S.sum(axis=1) > 15) * 1.0, ff.beta(2, 2), players=30, tolerance=0.5
    )
    assert found.stop.startswith("every 95 % interval is within ±0.5")
    assert "not to be trusted" in found.stop
