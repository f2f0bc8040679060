"""Several criteria estimated from one budget."""

from functools import partial

import numpy as np
import pytest

import fairfield as ff
from counted import Counted

CRITERIA = ["variational_index", "banzhaf", "shapley", "leave_one_out"]


def test_leave_one_out_beside_an_estimate_needs_n_plus_2_worths():
    worth = Counted()
    found = ff.compare(
        worth, players=14, budget=400, temperature=1.0, criteria=["banzhaf", "leave_one_out"]
    )
    assert found["leave_one_out"].stderr is None
    np.testing.assert_allclose(
        found["leave_one_out"].values, ff.leave_one_out(worth, players=14).values
    )
    assert found["leave_one_out"].evaluations <= 16


@pytest.mark.parametrize("temperature", [1.0, ff.relative(1)], ids=["number", "relative"])
def test_a_comparison_spends_its_budget_once(temperature):
    worth = Counted()
    found = ff.compare(worth, players=14, budget=600, temperature=temperature, criteria=CRITERIA)
    assert worth.coalitions <= 600
    assert found.evaluations == worth.coalitions
    assert len({v.temperature for v in found.values()}) == 1
    assert max(v.seconds for v in found.values()) <= found.seconds


def test_what_is_compared_under_a_budget_is_within_its_errors(rng):
    weights, pairs = rng.normal(size=14), 0.3 * rng.normal(size=(14, 14))

    def worth(S):
        inside = S.astype(float)
        return inside @ weights + np.einsum("mi,ij,mj->m", inside, pairs, inside) / 2

    exact = ff.compare(worth, players=14, temperature=1.0)
    found = ff.compare(worth, players=14, temperature=1.0, budget=2000, seed=1)
    for name, v in found.items():
        errors = np.maximum(v.stderr, 1e-12 * np.abs(exact[name].values).max())
        assert (np.abs(v.values - exact[name].values) <= 5 * errors).all(), name


def test_a_budget_too_small_for_all_criteria_is_refused_at_once():
    worth = Counted()
    with pytest.raises(ValueError, match="too small for these criteria together"):
        ff.compare(worth, players=14, budget=60)
    assert worth.coalitions == 0


def test_a_criterion_may_find_that_there_is_nothing_left_to_ask():
    """The index has reached the limit of draws when the steps adopt them."""
    rng = np.random.default_rng(0)
    weights, pairs = rng.normal(size=12), 0.3 * rng.normal(size=(12, 12))

    def worth(S):
        inside = S.astype(float)
        several = np.einsum("mi,ij,mj->m", inside, pairs, inside)
        return inside @ weights + several + S[:, :3].all(axis=1)

    steps = partial(ff.variational_values, steps=2)
    criteria = ["variational_index", steps]
    found = ff.compare(worth, players=12, budget=2500, temperature=0.7, criteria=criteria, seed=2)
    assert "nothing is left to ask after 0 coalitions" in found["variational_values(2)"].stop
    assert np.isfinite(found["variational_values(2)"].values).all()
