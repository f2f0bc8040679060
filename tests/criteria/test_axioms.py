"""The theorem of the paper, and where it ends."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import brute
import fairfield as ff
from counted import Counted

WORTHS = arrays(float, 2**4, elements=st.floats(-2, 2))
THREE = (ff.axioms.null_player, ff.axioms.symmetry, ff.axioms.marginalism)


def k_step(steps, start=0.5, temperature=0.7):
    def criterion(game):
        return ff.variational_values(game, steps, start=start, temperature=temperature)

    return criterion


@given(WORTHS, st.integers(1, 6), st.floats(0, 1), st.floats(0.2, 5))
@settings(max_examples=25, deadline=None)
def test_k_step_values_from_a_uniform_start_satisfy_three_axioms(table, steps, start, temperature):
    criterion = k_step(steps, start, temperature)
    for axiom in THREE:
        found = axiom(criterion, table)
        # Rounding grows by at most the steepness 1/T of each step.
        assert found.violation <= 1e-12 * (1 + 8 / temperature) ** steps


@given(WORTHS)
@settings(max_examples=20, deadline=None)
def test_the_index_satisfies_three_axioms_when_hot(table):
    criterion = partial(ff.variational_index, temperature=20.0)
    for axiom in THREE:
        assert axiom(criterion, table).violation <= 1e-8


def test_youngs_own_form_holds_for_one_step_and_fails_for_two(rng):
    table = brute.mixed(rng, 4)
    assert ff.axioms.marginalism(k_step(1), table, own=True).holds
    two = ff.axioms.marginalism(k_step(2), table, own=True)
    assert not two.holds
    assert two.violation > 1e-3
    assert ff.axioms.marginalism(k_step(2), table).holds


def test_two_steps_from_unequal_starts_break_symmetry(rng):
    """The theorem needs its uniform start, and the check can fail."""
    uneven = k_step(2, start=[0.1, 0.9, 0.4, 0.6])
    assert not ff.axioms.symmetry(uneven, brute.mixed(rng, 4)).holds


@given(WORTHS, WORTHS)
@settings(max_examples=25, deadline=None)
def test_banzhaf_and_shapley_are_additive(one, other):
    for name in ("banzhaf", "shapley"):
        assert ff.axioms.additivity(name, one, other).violation <= 1e-12


@given(WORTHS)
@settings(max_examples=25, deadline=None)
def test_shapley_is_efficient(table):
    assert ff.axioms.efficiency("shapley", table).violation <= 1e-12


def test_all_at_once_tells_who_keeps_what(rng):
    table = brute.mixed(rng, 5)
    kept = {name: found.holds for name, found in ff.axioms.check("shapley", table).items()}
    assert all(kept.values())
    banzhaf = ff.axioms.check("banzhaf", table)
    assert not banzhaf["efficiency"].holds
    assert banzhaf["additivity"].holds
    index = ff.axioms.check(partial(ff.variational_index, temperature=5.0), table)
    assert [name for name, found in index.items() if found.holds] == [
        "null player", "symmetry", "marginalism",
    ]  # fmt: skip
    shown = repr(banzhaf)
    assert "efficiency" in shown
    assert "no" in shown


@pytest.mark.parametrize("seed", range(5))
def test_no_seed_of_the_users_fools_the_check(seed):
    """The second game must not happen to be the first one, scaled."""
    table = np.random.default_rng(seed).standard_normal(64)
    for name in ("variational_index", "free_energy_value"):
        assert not ff.axioms.additivity(name, table).holds


def test_checks_are_of_one_game():
    with pytest.raises(ValueError, match="one game at a time"):
        ff.axioms.efficiency("shapley", np.zeros((2, 4)))


def test_all_axioms_are_checked_on_one_table_of_the_worths():
    worth = Counted()
    ff.axioms.check("shapley", worth, players=6)
    assert worth.coalitions == 2**6
    assert ff.axioms.additivity("shapley", worth, ff.VotingGame([1] * 6, 3), players=6).holds
    for call in (ff.axioms.check, ff.axioms.symmetry, ff.axioms.additivity):
        with pytest.raises(ValueError, match="has its players already; leave out players="):
            call("shapley", ff.VotingGame([1, 2], 2), players=2)
