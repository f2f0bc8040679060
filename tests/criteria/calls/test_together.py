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
        ff.compare(worth, players=14, budget=55)
    assert worth.coalitions == 0


def test_a_criterion_may_need_no_coalitions_of_its_own():
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
    assert (
        "used the coalitions of the other criteria; no more would help"
        in found["variational_values(2)"].stop
    )
    assert np.isfinite(found["variational_values(2)"].values).all()


COLD = partial(ff.variational_index, temperature=0.01)


def test_a_temperature_of_one_criterion_is_not_that_of_the_others():
    criteria = {"cold": COLD, "index": "variational_index", "left": "leave_one_out"}
    found = ff.compare(Counted(), players=14, budget=800, temperature=1.0, criteria=criteria)
    assert {name: v.temperature for name, v in found.items()} == {
        "cold": 0.01, "index": 1.0, "left": 1.0,
    }  # fmt: skip


def test_a_temperature_of_one_criterion_settles_none_for_the_others():
    weights = np.arange(1.0, 15.0)
    scale = np.sum(weights**2) / np.sum(weights)

    def compared(*others, **keywords):
        criteria = [COLD, *others]
        return ff.compare(
            lambda S: S @ weights, players=14, budget=800, criteria=criteria, **keywords
        )

    steps = partial(ff.variational_values, steps=1, sampler="one-shot")
    found = compared(steps)
    assert found["variational_index"].temperature == 0.01
    assert found["variational_values(1)"].temperature == pytest.approx(scale)
    assert compared("leave_one_out")["leave_one_out"].temperature is None
    asked = compared("leave_one_out", temperature=ff.relative(2))["leave_one_out"]
    assert asked.temperature == pytest.approx(2 * scale)
    # With nothing that waits for a temperature, the whole budget goes to the index.
    assert "of the budget" not in compared()["variational_index"].stop


def test_a_relative_temperature_is_settled_by_banzhafs_values_whatever_else_is_read():
    worth = Counted()
    criteria = ["shapley", partial(ff.shapley, sampler="regression"), "banzhaf"]
    found = ff.compare(worth, players=14, budget=600, criteria=criteria)
    sizes = np.abs(found["banzhaf"].values)
    scale = np.sum(sizes**2) / np.sum(sizes)
    assert {v.temperature for v in found.values()} == {found["banzhaf"].temperature}
    assert found["banzhaf"].temperature == pytest.approx(scale, rel=1e-12)
    assert found["banzhaf"].temperature != pytest.approx(
        np.sum(found["shapley"].values ** 2) / np.sum(np.abs(found["shapley"].values)), rel=1e-3
    )


@pytest.mark.parametrize("steps", [1, 2])
def test_steps_by_monte_carlo_divide_their_share_of_the_budget(steps):
    walk = partial(ff.variational_values, steps=steps, sampler="monte-carlo")
    found = ff.compare(
        Counted(), players=12, budget=1200, temperature=1.0, criteria=["shapley", walk]
    )
    assert found[f"variational_values({steps})"].steps == steps
    assert len(found[f"variational_values({steps})"].trajectory) == steps + 1


def test_leave_one_out_alone_spends_no_budget_on_a_temperature_nobody_asked_for():
    worth = Counted()
    found = ff.compare(worth, players=14, budget=400, criteria=["leave_one_out"])
    assert found.evaluations == worth.coalitions == 16
    assert found["leave_one_out"].temperature is None


def test_every_criterion_counts_the_worths_that_were_evaluated_for_it():
    worth = Counted()
    found = ff.compare(worth, players=14, budget=600, temperature=1.0, criteria=CRITERIA)
    assert found["shapley"].evaluations == found["banzhaf"].evaluations
    apart = ("shapley", "variational_index", "leave_one_out")
    assert sum(found[name].evaluations for name in apart) == worth.coalitions


def test_a_comparison_shares_its_money_out():
    def worth(names):
        return ff.Worth(float(len(names)) ** 0.5, cost=1.0)

    for price in (None, 1.0):
        game = ff.RemoteGame(worth, 8, price=price, concurrency=4)
        found = ff.compare(
            game,
            criteria=["shapley", "variational_index", "leave_one_out"],
            temperature=1.0,
            spend=90,
        )
        assert found["shapley"].stop.startswith("used its share of spend=90")
        assert found["shapley"].usage["calls"] == (45 if price is None else 40)
        assert found["leave_one_out"].usage["cost"] <= 90
        assert found["leave_one_out"].values == pytest.approx(8**0.5 - 7**0.5)
    with pytest.raises(ValueError, match="spend=30 is too small for these criteria together"):
        ff.compare(game, temperature=1.0, spend=30)


@pytest.mark.parametrize("limits", [{"budget": 120}, {}], ids=["estimated", "exact"])
def test_an_error_carries_the_comparison_so_far(limits):
    asked = []

    def worth(names):
        asked.append(names)
        if len(asked) > 70:
            raise PermissionError("no more")
        return float(len(names)) ** 0.5

    criteria = {"mine": "shapley", "index": "variational_index"}
    with pytest.raises(ff.WorthError, match="no more") as caught:
        ff.compare(
            ff.RemoteGame(worth, 8, concurrency=1), criteria=criteria, temperature=1.0, **limits
        )
    found = caught.value.partial
    assert list(found) == (["mine", "index"] if limits else ["mine"])
    assert found["mine"].values == pytest.approx(8**0.5 / 8, abs=0.02)


def test_criteria_side_by_side_share_repeated_answers():
    rng = np.random.default_rng(0)
    game = ff.RemoteGame(lambda names: len(names) + rng.normal(), 4, repeats="auto")
    found = ff.compare(game, criteria=["shapley", "banzhaf"], budget=60)
    assert [v.usage["calls"] for v in found.values()] == [60, 60]
    assert all((np.abs(v.values - 1) < 5 * v.stderr).all() for v in found.values())


def test_exact_values_in_unions_have_their_part_of_a_budget():
    """Those of 8 players in two unions need 60 worths, of which no estimate may take any."""
    halves = {"left": range(4), "right": range(4, 8)}
    criteria = ["shapley", partial(ff.owen, unions=halves)]
    found = ff.compare(lambda S: S.sum(axis=1), players=8, criteria=criteria, budget=100)
    assert found["owen"].values == pytest.approx(1.0)
    assert found["owen"].stop == "exact"


@pytest.mark.parametrize("budget", [18, 20, 23])
def test_regression_alone_is_compared_as_it_is_called(budget):
    how = {"players": 6, "budget": budget, "sampler": "regression"}
    alone = ff.banzhaf(Counted(), **how)
    beside = ff.compare(Counted(), criteria=["banzhaf"], **how)["banzhaf"]
    np.testing.assert_array_equal(beside.values, alone.values)
