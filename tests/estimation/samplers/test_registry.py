"""Samplers by name: each criterion has its own, and no name is taken twice."""

import re

import numpy as np
import pytest

import fairfield as ff
from fairfield.estimation.samplers import registry
from fairfield.estimation.samplers.registry import sampler


@pytest.fixture(autouse=True)
def known(monkeypatch):
    ff.shapley(lambda S: S.sum(axis=1), players=10, budget=50)  # registers those there are
    own = {criterion: dict(names) for criterion, names in registry._registered.items()}
    monkeypatch.setattr(registry, "_registered", own)
    return own


def test_every_estimated_criterion_has_a_usual_sampler(known):
    assert set(known) == {"shapley", "banzhaf", "semivalue", "owen", "variational_index", "variational_values"}  # fmt: skip
    assert all("auto" in names for names in known.values())
    for criterion in ("shapley", "banzhaf"):
        assert sorted(known[criterion]) == ["auto", "permutation", "regression", "surrogate"]
    assert sorted(known["variational_index"]) == [
        "auto", "least-squares", "monte-carlo", "one-shot", "surrogate"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "choose"),
    [
        (ff.shapley, "for shapley; choose from auto, permutation, regression, surrogate"),
        (
            lambda *a, **k: ff.semivalue(a[0], ff.beta(4, 1), **k),
            "for beta(4, 1); choose from auto",
        ),
        (lambda *a, **k: ff.variational_values(a[0], 3, **k), "for variational_values(3); choose"),
    ],
)
def test_an_unknown_sampler_is_refused_with_those_there_are(value, choose):
    with pytest.raises(ValueError, match=re.escape(f"there is no sampler 'dice' {choose}")):
        value(lambda S: S.sum(axis=1), players=12, budget=100, sampler="dice")


def test_a_sampler_is_registered_for_its_criteria_alone():
    asked = []

    @sampler("mine", "banzhaf")
    def mine(problem, criterion, shares):
        asked.append((criterion, shares))
        return registry._registered["banzhaf"]["regression"](problem, criterion, shares)

    found = ff.banzhaf(lambda S: S.sum(axis=1), players=10, budget=50, sampler="mine")
    np.testing.assert_allclose(found.values, 1.0)
    ((criterion, shares),) = asked
    assert criterion == "banzhaf"
    np.testing.assert_allclose(shares.sum(), 1.0)
    with pytest.raises(ValueError, match="there is no sampler 'mine' for shapley"):
        ff.shapley(lambda S: S.sum(axis=1), players=10, budget=50, sampler="mine")


def test_no_name_is_taken_twice_for_a_criterion():
    def other(problem, criterion, shares):
        raise NotImplementedError

    with pytest.raises(
        ValueError,
        match="there is a sampler 'regression' for shapley already, regression; choose another name",
    ):
        sampler("regression", "shapley")(other)
    sampler("regression", "semivalue")(other)
    sampler("regression", "semivalue")(other)  # a cell of a notebook that is run again
