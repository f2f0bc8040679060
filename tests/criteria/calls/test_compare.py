"""Several criteria on one game."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from counted import Counted


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
    with pytest.raises(ValueError, match="no criterion 'nucleolus'"):
        ff.compare(np.arange(4.0), criteria=["nucleolus"])
    with pytest.raises(ValueError, match=r"'shaply' \(did you mean shapley\?\); choose from "):
        ff.compare(np.arange(4.0), criteria=["shaply"])
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
        ValueError, match=r"'nucleolus'; choose from banzhaf, shapley, variational_index"
    ):
        ff.compare(np.arange(4.0), criteria=["nucleolus"])


EVEN = [0.0, 1.0, 0.0]
FLAT = {"by size": ff.CardinalityGame(EVEN), "twice": 2.0 * ff.CardinalityGame(EVEN)}


@pytest.mark.parametrize("worths", FLAT.values(), ids=FLAT)
def test_a_game_without_a_scale_is_compared_where_no_temperature_is_needed(worths):
    """Closed forms whose Banzhaf values are 0; tables have the spread of their worths."""
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


def test_leave_one_out_alone_needs_no_table_for_a_temperature_nobody_asked_for():
    many = Counted()
    found = ff.compare(many, players=30, criteria=["leave_one_out"])
    assert found.evaluations == many.coalitions == 32
    assert found["leave_one_out"].temperature is None
    few = Counted()
    ff.compare(few, players=10, criteria=["leave_one_out"])
    assert few.coalitions == 12
    asked = ff.compare(few, players=10, temperature=1.0, criteria=["leave_one_out"])
    assert asked["leave_one_out"].decoupling_error is not None
    table = ff.compare(ff.TableGame([0, 1, 1, 5]), criteria=["leave_one_out"])
    assert table["leave_one_out"].temperature is not None


def test_one_criterion_of_features_has_no_temperature_that_nobody_asked_for(rng):
    game = ff.FeatureGame(lambda X: X.prod(axis=1), rng.random((2, 3)), rng.random((4, 3)))
    alone = ff.compare(game, criteria=["shapley"])
    assert alone.temperatures == []
    assert alone["shapley"].decoupling_error is None
    assert ff.compare(game, criteria=["shapley"], temperature=0.1).temperatures == [0.1]
    assert ff.compare(game, criteria=["shapley", "banzhaf"]).temperatures


@pytest.mark.parametrize("temperature", [None, 1.0], ids=["none", "number"])
def test_leave_one_out_is_read_from_a_table_that_another_criterion_needs(temperature):
    worth = Counted()
    criteria = ["leave_one_out", "shapley"]
    found = ff.compare(worth, players=10, temperature=temperature, criteria=criteria)
    assert list(found) == criteria
    assert found.evaluations == worth.coalitions == 2**10
    assert found["leave_one_out"].evaluations == 2**10
    assert_allclose(
        found["leave_one_out"].values, ff.leave_one_out(worth, players=10).values, atol=1e-14
    )


def test_a_temperature_of_its_own_leaves_that_of_the_others_optional():
    cold = partial(ff.variational_index, temperature=0.1)
    found = ff.compare(ff.CardinalityGame(EVEN), criteria=[cold, "shapley"])
    assert found["variational_index"].temperature == 0.1
    assert found["shapley"].temperature is None


SHARED = {
    "budget": 50,
    "tolerance": 0.1,
    "seconds": 1.0,
    "seed": 3,
    "n_jobs": 2,
    "store": "worths.db",
    "progress": True,
    "each_round": True,
    "players": 12,
}


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("call", [ff.compare, ff.annealing])
def test_options_of_one_criterion_are_refused_where_all_share_them(call, name):
    worth = Counted()
    one = partial(ff.shapley, **{name: SHARED[name]})
    with pytest.raises(ValueError, match=f"{name}= was given to shapley alone"):
        call(worth, players=12, criteria=["banzhaf", one])
    assert worth.coalitions == 0


def test_an_option_of_one_criterion_that_does_not_exist_is_named():
    with pytest.raises(TypeError, match="unknown keyword 'sampling'"):
        ff.compare([0, 1, 1, 5], criteria=[partial(ff.shapley, sampling="regression")])


def test_a_stream_of_ones_own_function_is_its_valuation():
    def doubled(game, factor=1):
        found = ff.shapley(game)
        return replace(found, values=factor * found.values)

    worth = Counted()
    (found,) = ff.stream(doubled, worth, players=6, factor=2)
    assert_allclose(found.values, 2 * ff.shapley(worth, players=6).values)


def test_a_service_is_asked_for_no_more_than_is_read():
    asked = []
    game = ff.RemoteGame(lambda names: asked.append(names) or float(len(names)), 6)
    unions = {"left": [0, 1, 2], "right": [3, 4, 5]}
    criteria = [partial(ff.owen, unions=unions), "leave_one_out"]
    found = ff.compare(game, criteria=criteria, temperature=None)
    assert found["owen"].values == pytest.approx(1.0)
    # Those without one player are among them.
    assert found.evaluations == len(asked) == 28
