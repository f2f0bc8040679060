"""Worths are checked where they are computed, and trouble is named by its coalition."""

import re
import sqlite3
import time
from itertools import pairwise

import numpy as np
import pytest

import fairfield as ff
from fairfield.evaluation import memory
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options


def failing(S):
    if (S[:, 0] & S[:, 2]).any():
        raise KeyError("no model for these")
    return S.sum(axis=1)


def test_a_failing_coalition_is_named():
    with pytest.raises(ff.WorthError, match=r"coalition \{ann, eve\}: KeyError") as caught:
        ff.shapley(failing, players=["ann", "bob", "eve"])
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_failure_of_the_batch_alone_is_told():
    def crowded(S):
        if len(S) > 1:
            raise MemoryError("too many at once")
        return S.sum(axis=1)

    with pytest.raises(ff.WorthError, match="though not on each alone"):
        ff.shapley(crowded, players=2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_infinite_worth_is_named(bad):
    def worth(S):
        return np.where(S.all(axis=1), bad, 1.0)

    with pytest.raises(ff.WorthError, match=r"coalition \{a, b\} is (nan|inf|-inf)"):
        ff.banzhaf(worth, players=["a", "b"])


@pytest.mark.parametrize("shape", ["scalar", "column", "short"])
def test_a_wrong_shape_is_told(shape):
    def worth(S):
        return {"scalar": 1.0, "column": np.ones((len(S), 1)), "short": np.ones(len(S) - 1)}[shape]

    with pytest.raises(ff.WorthError, match="must return m worths"):
        ff.shapley(worth, players=3)


def test_forty_players_are_refused_with_the_memory_it_would_take():
    with pytest.raises(MemoryError, match=r"8\.8 TB.*closed form, or give a budget"):
        ff.shapley(lambda S: S.sum(axis=1), players=40)


def test_a_thousand_players_are_refused_as_kindly():
    with pytest.raises(MemoryError, match=r"2\^1100 worths"):
        ff.shapley(lambda S: S.sum(axis=1), players=1100)
    with pytest.raises(ValueError, match=r"all 2\^1100 worths"):
        ff.free_energy_value(lambda S: S.sum(axis=1), players=1100, budget=100)


def test_a_table_larger_than_half_the_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"2\^10 worths, 8\.19 kB"):
        ff.shapley(lambda S: S.sum(axis=1), players=10)


def test_a_budget_below_the_table_is_refused_by_what_cannot_be_estimated():
    with pytest.raises(ValueError, match="need all 1,024 worths, the budget allows 1,000"):
        ff.free_energy_value(lambda S: S.sum(axis=1), players=10, budget=1000)
    assert ff.shapley(lambda S: S.sum(axis=1), players=10, budget=1024).evaluations == 1024
    with pytest.raises(ValueError, match="at least 1"):
        ff.shapley([0, 1], budget=0)


def test_a_budget_holds_for_single_coalitions_too():
    def curve(budget):
        return ff.removal_curve(lambda S: S.sum(axis=1), np.ones(4), budget=budget)

    with pytest.raises(ValueError, match="5 coalitions are needed, the budget allows 4"):
        curve(4)
    assert len(curve(5).worths) == 5
    with Evaluator(ff.FunctionGame(lambda S: S.sum(axis=1), 3), Options(budget=3)) as evaluator:
        evaluator.worths(np.eye(3, dtype=bool)[[0, 1, 1, 0]])
        with pytest.raises(ValueError, match="4 coalitions are needed"):
            evaluator.worths(~np.eye(3, dtype=bool)[:2])


def test_blocks_depend_on_position_alone():
    seen = []

    def worth(S):
        seen.append(S.copy())
        return S.sum(axis=1)

    ff.shapley(worth, players=12)
    table = np.concatenate(seen)
    assert {len(block) for block in seen} == {16}
    assert (table @ (1 << np.arange(12)) == np.arange(2**12)).all()


def test_progress_is_shown_when_asked(capsys):
    def worth(S):
        time.sleep(0.03)
        return S.sum(axis=1)

    ff.shapley(worth, players=8, progress=True)
    shown = capsys.readouterr().err
    # So many of all, how long it took, how long it will take.
    assert re.search(r"worths: .* \d+/256 \[\d\d:\d\d<\d\d:\d\d,", shown)
    ff.shapley(lambda S: S.sum(axis=1), players=4, progress=False)
    assert capsys.readouterr().err == ""


def test_coalitions_that_cost_nothing_do_not_make_a_long_round(tmp_path):
    class Late(ff.Game):
        """The first coalitions are free, the others take a while."""

        players, block = tuple(range(8)), 1

        def worths(self, coalitions):
            if coalitions[0, 4:].any():
                time.sleep(0.001)
            return coalitions.sum(axis=1).astype(float)

    ff.shapley(Late(), store=tmp_path / "worths.db")
    with sqlite3.connect(tmp_path / "worths.db") as base:
        rounds = [size for (size,) in base.execute("SELECT LENGTH(coalitions) FROM rounds")]
    assert sum(rounds) == 256
    assert all(later <= 4 * earlier for earlier, later in pairwise(rounds))
