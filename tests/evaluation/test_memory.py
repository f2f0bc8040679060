"""Tables that are out of reach are refused before a worth is evaluated."""

import pytest

import fairfield as ff
from fairfield.core.runtime import memory as machine
from fairfield.criteria.criterion import Criterion, registry
from fairfield.evaluation import memory


def test_forty_players_are_refused_with_the_memory_it_would_take():
    with pytest.raises(MemoryError, match=r"8\.8 TB.*closed form, or give a budget"):
        ff.shapley(lambda S: S.sum(axis=1), players=40)


def test_a_thousand_players_are_refused_as_kindly():
    with pytest.raises(MemoryError, match=r"2\^1100 worths"):
        ff.shapley(lambda S: S.sum(axis=1), players=1100)
    with pytest.raises(ValueError, match=r"all 2\^1100 worths"):
        ff.free_energy_value(lambda S: S.sum(axis=1), players=1100, budget=100)


def test_a_table_larger_than_half_the_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"2\^10 worths, 8\.19 kB"):
        ff.shapley(lambda S: S.sum(axis=1), players=10)


def test_a_budget_below_the_table_is_refused_by_what_cannot_be_estimated():
    with pytest.raises(ValueError, match="need all 1,024 worths, the budget allows 1,000"):
        ff.free_energy_value(lambda S: S.sum(axis=1), players=10, budget=1000)
    assert ff.shapley(lambda S: S.sum(axis=1), players=10, budget=1024).evaluations == 1024
    with pytest.raises(
        ValueError, match="budget=0 was given; it must be a whole number, 1 or more"
    ):
        ff.shapley([0, 1], budget=0)


def test_exact_values_and_a_smaller_budget_are_refused_as_a_contradiction():
    with pytest.raises(ValueError, match=r"exact=True needs all 2\^1100.*leave out one of the two"):
        ff.shapley(lambda S: S.sum(axis=1), players=1100, budget=100, exact=True)


def test_the_criteria_that_can_be_estimated_are_those_of_the_registry():
    """Interactions, which are no values of single players, have a registry of their own."""
    named = set(memory.ESTIMATED.replace(" and ", ", ").split(", "))
    found = {name for name, kind in registry().items() if kind.estimator is not Criterion.estimator}
    assert named == found | {"interactions"}
