"""Which extension answers for a game, and when its worths are evaluated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.evaluation.options import Options
from fairfield.multilinear.choose import Source, table_of, table_refused, to_be_estimated
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
