"""Every argument is checked before the first worth is evaluated."""

from __future__ import annotations

from functools import partial

import pytest

import fairfield as ff
from counted import Counted
from fairfield.problem import resolve

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
    "top and order": lambda f: ff.interactions(f, players=600, top=2, order=3),
    "criterion of interactions": lambda f: ff.interactions(f, "owen", players=10),
    "interactions, estimated": lambda f: ff.interactions(
        f, "variational_index", players=12, budget=200
    ),
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
    "sampler, exact": lambda f: ff.shapley(f, players=8, sampler="magic"),
    "sampler of another criterion": lambda f: ff.shapley(f, players=8, sampler="one-shot"),
    "sampler of leave-one-out": lambda f: ff.leave_one_out(f, players=8, sampler="magic"),
    "sampler, compared": lambda f: ff.compare(
        f, players=8, criteria=["free_energy_value"], sampler="magic"
    ),
    "sampler of interactions": lambda f: ff.interactions(f, players=8, sampler="magic"),
    "decoupling": lambda f: ff.variational_index(f, players=8, decoupling="yes"),
    "temperature of interactions": lambda f: ff.interactions(f, players=8, temperature=-1),
    "separation, exact": lambda f: ff.shapley(f, players=8, tolerance=ff.separate_top(99)),
    "separation, compared": lambda f: ff.compare(
        f, players=8, criteria=[partial(ff.shapley, tolerance=ff.separate_top(99))]
    ),
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
    "criterion of axioms": lambda f: ff.axioms.check("shaply", f, players=10),
    "missing argument of axioms": lambda f: ff.axioms.check("semivalue", f, players=10),
    "arguments of axioms": lambda f: ff.axioms.symmetry(
        partial(ff.semivalue, weights=[1, 2]), f, players=10
    ),
    "temperature of axioms": lambda f: ff.axioms.efficiency(
        partial(ff.variational_index, temperature=-1), f, players=10
    ),
    "second game of axioms": lambda f: ff.axioms.additivity("shapley", f, [1, 2, 3], players=10),
    "criterion of pruning": lambda f: ff.pruning_curve(f, "shaply", players=10),
    "arguments of pruning": lambda f: ff.pruning_curve(
        f, partial(ff.variational_index, start=2), players=10
    ),
    "relative temperature of leave-one-out": lambda f: ff.leave_one_out(
        f, players=12, budget=200, temperature=ff.relative(1)
    ),
    "option of one criterion": lambda f: ff.compare(
        f, players=10, criteria=[partial(ff.shapley, seed=3)]
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
