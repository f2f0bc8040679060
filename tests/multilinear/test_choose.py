"""Which extension answers for a game, and when its worths are evaluated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.core.parts import Division, Part
from fairfield.core.runtime import memory
from fairfield.evaluation.options import Options
from fairfield.multilinear.choose import (
    MOST_WORTHS,
    Source,
    affordable,
    table_of,
    table_refused,
    to_be_estimated,
)
from fairfield.multilinear.parts import PartsExtension
from fairfield.multilinear.table import TableExtension


def counted(players):
    """A game of so many players, and the sizes of the calls of its worths."""
    calls = []

    def worths(coalitions):
        calls.append(len(coalitions))
        return coalitions.sum(axis=1) ** 2.0

    return ff.FunctionGame(worths, players=players), calls


def test_a_closed_form_answers_first():
    game = ff.PairwiseGame(np.ones(3), np.zeros((3, 3)))
    source = Source(game, Options(budget=8))
    assert source.extension is source.closed
    assert source.evaluated
    assert source.played() is game
    assert isinstance(source.as_table().extension, TableExtension)
    assert source.as_table() is source.as_table()


def test_a_table_is_evaluated_once_when_it_is_read():
    game, calls = counted(4)
    source = Source(game, Options())
    source.check()
    assert not source.evaluated
    assert source.spent.evaluations == 0
    assert calls == []
    assert_allclose(source.extension.ends(), (0.0, 16.0))
    assert source.evaluated
    assert source.as_table() is source
    assert isinstance(source.played(), ff.TableGame)
    assert source.spent.evaluations == sum(calls) == 16


@pytest.mark.parametrize(
    ("players", "options", "wanted"),
    [
        (4, Options(), False),
        (4, Options(budget=16), False),
        (4, Options(budget=15), True),
        (8, Options(tolerance=0.1), False),
        (9, Options(tolerance=0.1), True),
        (9, Options(seconds=1.0), True),
    ],
)
def test_few_worths_allowed_ask_for_an_estimate(players, options, wanted):
    game, _ = counted(players)
    assert to_be_estimated(game, options) is wanted
    assert Source(game, options).estimated is wanted
    table = ff.TableGame(np.zeros(2**players))
    assert not to_be_estimated(table, options)


def test_a_table_out_of_reach_is_refused_before_its_first_worth():
    game, calls = counted(40)
    assert table_refused(game, Options())
    with pytest.raises(MemoryError, match=r"all 2\^40 worths"):
        Source(game, Options()).check()
    assert Source(game, Options()).out_of_reach()
    assert not table_refused(ff.TableGame(np.zeros(4)), Options(budget=2))
    assert calls == []


def test_a_store_that_is_not_needed_is_left_as_it_was(tmp_path):
    path = tmp_path / "worths.db"
    table = ff.TableGame(np.zeros(4))
    with pytest.warns(UserWarning, match="has all its worths already; none were kept"):
        assert table_of(table, Options(store=path))[0] is table
    with pytest.warns(UserWarning, match="has a closed form, which needs no worths"):
        Source(ff.PairwiseGame(np.ones(2), np.zeros((2, 2))), Options(store=path))
    assert not path.exists()


class Divided(ff.Game):
    """A product of the first two of many players, which says what dividing it costs."""

    def __init__(self, players, evaluations=4, numbers=4):
        self.players, self.calls = tuple(range(players)), 0
        self.costs = evaluations, numbers

    def worths(self, coalitions):
        return coalitions[:, :2].all(axis=1) * 1.0

    def division(self):
        return Division(*self.costs, self.parts)

    def parts(self, progress):
        self.calls += 1
        return [Part(np.array([0]), np.array([[0, 1]]), np.array([[0.0, 0.0, 0.0, 1.0]]))]


def test_small_tables_answer_where_the_table_is_out_of_reach(tmp_path):
    game = Divided(300)
    source = Source(game, Options())
    source.check()
    assert source.tableless
    assert not source.estimated
    assert not source.evaluated
    assert not source.tabled
    assert not source.out_of_reach()
    assert game.calls == 0
    assert isinstance(source.extension, PartsExtension)
    assert source.extension.shapley()[:3].tolist() == [0.5, 0.5, 0.0]
    assert source.evaluated
    assert game.calls == 1
    assert source.spent.evaluations == 4
    assert source.played() is game
    with pytest.raises(MemoryError):
        source.as_table().check()
    with pytest.warns(UserWarning, match="at once, not coalition by coalition; none were kept"):
        Source(game, Options(store=tmp_path / "worths.db"))
    weights = np.zeros(300)
    weights[0] = 1.0
    assert ff.semivalue(game, weights).values[:3].tolist() == [0.0, 0.0, 0.0]
    assert ff.leave_one_out(game).values[:3].tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("players", "costs", "options", "wanted"),
    [
        (10, (4, 4), Options(), False),  # the table is within reach, and says more
        (10, (4, 4), Options(budget=1023), True),
        (10, (1000, 4), Options(budget=999), False),
        (10, (256, 4), Options(seconds=1.0), True),
        (10, (257, 4), Options(seconds=1.0), False),
        (30, (MOST_WORTHS, 4), Options(), True),
        (30, (MOST_WORTHS + 1, 4), Options(), False),
        (30, (MOST_WORTHS + 1, 4), Options(budget=MOST_WORTHS + 1), True),
        (30, (4, 2**90), Options(), False),
    ],
)
def test_small_tables_are_for_what_they_cost(players, costs, options, wanted):
    game = Divided(players, *costs)
    assert (affordable(game, options) is not None) is wanted


def test_small_tables_take_half_the_free_memory_at_most(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1600)
    assert affordable(Divided(30, 4, 100), Options()) is not None
    assert affordable(Divided(30, 4, 101), Options()) is None
    # Of few players, where the memory is too small for the table.
    assert affordable(Divided(10, 4, 100), Options()) is not None
