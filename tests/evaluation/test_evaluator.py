"""Worths are checked where they are computed, and trouble is named by its coalition."""

import sqlite3
import time
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.core.game import Measured, Traits
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.local import LocalWorths
from fairfield.evaluation.options import Options


def failing(S):
    if (S[:, 0] & S[:, 2]).any():
        raise KeyError("no model for these")
    return S.sum(axis=1)


def test_a_failing_coalition_is_named():
    with pytest.raises(ff.WorthError, match=r"coalition \{ann, eve\}: KeyError") as caught:
        ff.shapley(failing, players=["ann", "bob", "eve"])
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_failure_of_the_batch_alone_is_reported():
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
def test_a_wrong_shape_is_reported(shape):
    def worth(S):
        return {"scalar": 1.0, "column": np.ones((len(S), 1)), "short": np.ones(len(S) - 1)}[shape]

    with pytest.raises(ff.WorthError, match="must return m worths"):
        ff.shapley(worth, players=3)


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


def test_coalitions_that_cost_nothing_do_not_make_a_long_round(tmp_path):
    class Late(ff.Game):
        """The first coalitions are free, the others take a while."""

        players, traits = tuple(range(8)), Traits(block=1)

        def worths(self, coalitions):
            if coalitions[0, 4:].any():
                time.sleep(0.001)
            return coalitions.sum(axis=1).astype(float)

    ff.shapley(Late(), store=tmp_path / "worths.db")
    with sqlite3.connect(tmp_path / "worths.db") as base:
        rounds = [size for (size,) in base.execute("SELECT LENGTH(coalitions) FROM rounds")]
    assert sum(rounds) == 256
    assert all(later <= 4 * earlier for earlier, later in pairwise(rounds))


def emptied(S):
    """A worth function that writes into its argument."""
    worths = S @ 2.0 ** np.arange(S.shape[1])
    S[:] = False
    return worths


class Buffered:
    """A worth function that answers in the same memory at every call."""

    def __init__(self):
        self.held = np.empty(2**12)

    def __call__(self, S):
        np.matmul(S, 2.0 ** np.arange(S.shape[1]), out=self.held[: len(S)])
        return self.held[: len(S)]


class Reckless(ff.Game):
    """The same as a game, both at once."""

    players = tuple(range(6))

    def __init__(self, noisy=False):
        self.answer, self.traits = Buffered(), Traits(noisy=noisy)

    def worths(self, coalitions):
        worths = self.answer(coalitions)
        coalitions[:] = True
        return worths

    def measure(self, coalitions):
        worths = self.worths(coalitions)
        return Measured(worths, worths if self.traits.noisy else None)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("function", [emptied, Buffered()])
def test_functions_may_write_into_their_argument_and_reuse_their_answer(function, n_jobs, tmp_path):
    game, wanted = ff.FunctionGame(function, 6), np.arange(64.0)
    with Evaluator(game, Options(n_jobs=n_jobs, store=tmp_path / "worths.db")) as evaluator:
        assert_array_equal(evaluator.table().worths, wanted)
    assert ff.verify_store(tmp_path / "worths.db", game) == 64
    with Evaluator(game, Options(n_jobs=n_jobs, store=tmp_path / "worths.db")) as evaluator:
        assert_array_equal(evaluator.table().worths, wanted)
    with Evaluator(game, Options(n_jobs=n_jobs)) as evaluator:
        assert_array_equal(evaluator.worths(brute.coalitions(6)), wanted)
    curve = ff.removal_curve(function, 2.0 ** np.arange(6), n_jobs=n_jobs)
    assert_array_equal(curve.worths, [63, 31, 15, 7, 3, 1, 0])
    assert_allclose(ff.shapley(function, players=6, n_jobs=n_jobs).values, 2.0 ** np.arange(6))


def test_coalitions_of_the_caller_are_left_alone_and_answers_are_theirs():
    S = brute.coalitions(6)
    ff.FunctionGame(emptied, 6).worths(S)
    assert_array_equal(S, brute.coalitions(6))
    game = ff.FunctionGame(Buffered(), 6)
    first = game.worths(S[:4])
    game.worths(S[8:12])
    assert_array_equal(first, range(4))


@pytest.mark.parametrize("noisy", [False, True])
def test_games_may_write_into_their_argument_and_reuse_their_answer(noisy):
    game = Reckless(noisy)
    shared = Reckless(noisy)
    shared.answer = game.answer
    for played, factor in ((game, 1), (game + 2 * shared, 3)):
        with Evaluator(played, Options()) as evaluator:
            table = evaluator.table()
        assert_array_equal(table.worths, factor * np.arange(64.0))
        if noisy:
            assert_array_equal(table.variances, (1 if factor == 1 else 5) * np.arange(64.0))


def test_a_failure_after_writing_names_the_right_coalition():
    def failing_late(S):
        bad = S.all(axis=1).any()
        S[:] = False
        if bad:
            raise KeyError("no model for these")
        return S.sum(axis=1)

    with pytest.raises(ff.WorthError, match=r"coalition \{a, b\}: KeyError"):
        ff.shapley(failing_late, players=["a", "b"])


def test_a_worth_that_never_came_is_not_made_up(monkeypatch):
    """Rounds that lose coalitions leave no uninitialised memory behind."""
    rounds = LocalWorths.rounds

    def losing(self, *given):
        for coalitions, worths in rounds(self, *given):
            yield coalitions[1:], worths[1:]

    monkeypatch.setattr(LocalWorths, "rounds", losing)
    with pytest.raises(ff.WorthError, match=r"coalition \{\} has no worth"):
        ff.shapley(lambda S: S.sum(axis=1), players=3)


def test_an_interrupt_ends_an_estimate_with_what_there_is(tmp_path):
    seen = []

    def worth(S):
        seen.extend(S)
        if 100 < len(seen) < 200:
            seen.extend([None] * 100)
            raise KeyboardInterrupt
        return np.sin(7 * (S @ np.arange(12.0)))

    v = ff.shapley(worth, players=12, tolerance=1e-9, budget=1000)
    assert v.stop.startswith("interrupted")
    assert v.stderr is not None
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        ff.shapley(worth, players=12)
