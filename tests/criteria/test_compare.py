"""Several criteria on one game."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff


def test_compare_shares_worths_between_criteria(rng):
    calls = []

    def worth(coalitions):
        calls.append(len(coalitions))
        return coalitions @ [3.0, 1.0, 2.0]

    found = ff.compare(
        worth, players=3, temperature=1.0, criteria=["variational_index", ff.shapley, "banzhaf"]
    )
    assert list(found) == ["variational_index", "shapley", "banzhaf"]
    assert sum(calls) == 8
    assert_allclose(found["shapley"].values, [3, 1, 2])


def test_a_criterion_of_ones_own_joins_the_comparison(rng):
    def early(game):
        return ff.semivalue(game, ff.beta(4, 1))

    found = ff.compare(rng.standard_normal(16), criteria=["banzhaf", early])
    assert list(found) == ["banzhaf", "beta(4, 1)"]
    with pytest.raises(ValueError, match="no criterion 'owen'"):
        ff.compare(np.arange(4.0), criteria=["owen"])
    with pytest.raises(ValueError, match="at least one"):
        ff.compare(np.arange(4.0), criteria=[])


def test_keywords_of_ones_own_are_honoured(rng):
    table = brute.mixed(rng, 4)
    cold = partial(ff.variational_index, temperature=0.01)
    found = ff.compare(table, temperature=1.0, criteria=["variational_index", cold, "shapley"])
    assert list(found) == ["variational_index", "variational_index (2)", "shapley"]
    assert found["variational_index (2)"].temperature == 0.01
    assert found["shapley"].temperature == 1.0
    named = ff.compare(table, criteria={"late": partial(ff.semivalue, weights=ff.beta(1, 4))})
    assert list(named) == ["late"]
    assert list(ff.compare(table, criteria="shapley")) == ["shapley"]


def test_an_unknown_criterion_is_answered_with_those_that_need_no_argument():
    with pytest.raises(
        ValueError, match=r"'owen'; choose from banzhaf, shapley, variational_index"
    ):
        ff.compare(np.arange(4.0), criteria=["owen"])


EVEN = np.array([0.0, 1.0, 1.0, 0.0])
FLAT = {"constant": np.ones(4), "batch": np.stack([EVEN, np.ones(4)])}


@pytest.mark.parametrize("worths", FLAT.values(), ids=FLAT)
def test_a_game_without_a_scale_is_compared_where_no_temperature_is_needed(worths):
    found = ff.compare(worths, criteria=["shapley", "banzhaf"])
    assert_allclose(found["shapley"].values, ff.shapley(worths).values)
    assert found["banzhaf"].temperature is None
    assert found["banzhaf"].marginals is None
    with pytest.raises(ValueError, match="gives no scale"):
        ff.compare(worths, criteria=["shapley", "variational_index"])
    with pytest.raises(ValueError, match="gives no scale"):
        ff.compare(worths, criteria=[partial(ff.shapley, temperature=ff.relative(2))])


def test_a_game_without_a_scale_is_estimated_where_no_temperature_is_needed():
    found = ff.compare(
        lambda S: 1.0 * (S.sum(axis=1) % 2),
        players=12,
        budget=300,
        criteria=["shapley", "banzhaf", "leave_one_out"],
    )
    assert {v.temperature for v in found.values()} == {None}
    assert_allclose(found["banzhaf"].values, 0, atol=1e-12)
