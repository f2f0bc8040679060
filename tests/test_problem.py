"""Every argument is checked before the first worth is evaluated."""

from __future__ import annotations

import numpy as np
import pytest

import fairfield as ff
from fairfield.problem import resolve


class Counted:
    """A worth function that counts the coalitions it was asked for."""

    def __init__(self) -> None:
        self.coalitions = 0

    def __call__(self, S):
        self.coalitions += len(S)
        return S.any(axis=1) + 0.1 * S.sum(axis=1) - 0.05 * S[:, 0] * S[:, 1]


REFUSED = {
    "prior": lambda f: ff.variational_index(f, players=10, prior=1.5),
    "prior, estimated": lambda f: ff.variational_index(f, players=12, prior=1.5, budget=200),
    "start": lambda f: ff.variational_index(f, players=10, start=2),
    "start, estimated": lambda f: ff.variational_values(f, 2, players=12, start=2, budget=200),
    "starts": lambda f: ff.variational_index(f, players=10, starts=0),
    "starts, estimated": lambda f: ff.variational_index(f, players=12, starts=3, budget=200),
    "solver": lambda f: ff.variational_index(f, players=10, solver="newton"),
    "steps": lambda f: ff.variational_values(f, 0, players=10),
    "weights": lambda f: ff.semivalue(f, [1, 2], players=10),
    "weights, estimated": lambda f: ff.semivalue(f, [1, 2], players=12, budget=200),
    "order": lambda f: ff.interactions(f, players=10, order=99),
    "among": lambda f: ff.interactions(f, players=10, among=["nobody"]),
    "top": lambda f: ff.interactions(f, players=10, top=0),
    "top and order": lambda f: ff.interactions(f, players=10, top=2, order=3),
    "criterion of interactions": lambda f: ff.interactions(f, "owen", players=10),
    "interactions, estimated": lambda f: ff.interactions(f, players=12, budget=200),
    "interactions, tolerance": lambda f: ff.interactions(
        f, players=12, tolerance=ff.separate_top(2)
    ),
    "relative temperature": lambda f: ff.shapley(
        f, players=12, budget=200, temperature=ff.relative(1)
    ),
    "concentrated temperature": lambda f: ff.banzhaf(
        f, players=12, budget=200, temperature=ff.concentrated(0.5)
    ),
    "temperature": lambda f: ff.variational_index(f, players=10, temperature=-1),
    "temperatures of a batch": lambda f: ff.variational_index(f, players=10, temperature=[1, 2]),
    "sampler": lambda f: ff.shapley(f, players=12, budget=200, sampler="magic"),
    "budget": lambda f: ff.shapley(f, players=12, budget=7),
    "budget of leave-one-out": lambda f: ff.leave_one_out(f, players=12, budget=13),
    "separation": lambda f: ff.shapley(f, players=12, tolerance=ff.separate_top(12)),
    "criterion": lambda f: ff.compare(f, players=10, criteria=["shapley", "owen"]),
    "second criterion": lambda f: ff.compare(
        f, players=12, budget=400, temperature=1.0, criteria=["banzhaf", "free_energy_value"]
    ),
    "arguments of a criterion": lambda f: ff.compare(
        f, players=10, criteria={"index": lambda game: None}, temperature=-1.0
    ),
    "annealing": lambda f: ff.annealing(f, [1.0, -1.0], players=10),
    "criterion of annealing": lambda f: ff.annealing(f, players=10, criteria=["owen"]),
    "diagnosis": lambda f: ff.diagnose(
        f, ff.variational_index([0, 1, 1, 0], temperature=1), players=10
    ),
    "prior of a law": lambda f: ff.Boltzmann(f, 1.0, prior=1.5, players=10),
    "temperature of a law": lambda f: ff.Boltzmann(f, -1.0, players=10),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_no_argument_is_refused_after_worths_were_paid_for(call):
    worth = Counted()
    with pytest.raises((ValueError, TypeError)):
        call(worth)
    assert worth.coalitions == 0


def test_resolving_evaluates_nothing_and_reading_evaluates_once():
    worth = Counted()
    problem = resolve(worth, 8, ff.relative(1))
    assert worth.coalitions == 0
    first = problem.temperature
    assert worth.coalitions == 2**8
    assert problem.at(ff.relative(2)).needs_temperature() == pytest.approx(2 * first)
    assert worth.coalitions == 2**8


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


def test_criteria_of_ones_own_receive_a_game_everywhere():
    seen = []

    def doubled(game):
        seen.append(type(game))
        assert isinstance(game, ff.Game)
        return ff.shapley(game)

    worth = Counted()
    found = ff.compare(worth, players=6, temperature=1.0, criteria={"own": doubled, "s": "shapley"})
    np.testing.assert_allclose(found["own"].values, found["s"].values)
    assert worth.coalitions == 2**6
    assert ff.axioms.check(doubled, [0, 1, 1, 5])["efficiency"].holds
    assert len(set(seen)) == 1


def test_a_criterion_of_ones_own_gets_the_temperature_it_asks_for():
    def index(game, temperature):
        return ff.variational_index(game, temperature=temperature)

    found = ff.compare([0, 1, 1, 5], temperature=0.7, criteria={"own": index})
    assert found["own"].temperature == 0.7


def test_a_criterion_of_ones_own_that_returns_no_valuation_is_named():
    with pytest.raises(TypeError, match="must return a Valuation"):
        ff.compare([0, 1, 1, 5], criteria={"own": lambda game: 3.0})


CRITERIA = ["variational_index", "banzhaf", "shapley", "leave_one_out"]


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
