"""Worths that fail lose nothing but themselves; hung and deadly ones: tests/evaluation/test_workers.py."""

import sys
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.estimation.samplers.values import Values

WEIGHTS = np.arange(1.0, 7.0)


def is_bad(S):
    return bool((S == [True, False, True, False, False, True]).all(axis=1).any())


def test_an_error_has_what_was_computed():
    def worth(S):
        if is_bad(S):
            raise ValueError("no")
        return S @ WEIGHTS

    game = ff.FunctionGame(worth, 6)
    with pytest.raises(ff.WorthError, match=r"\{0, 2, 5\}: ValueError: no") as failed:
        ff.shapley(game)
    error = failed.value
    assert 0 < len(error.worths) < 64
    assert (error.worths == error.coalitions @ WEIGHTS).all()
    with pytest.raises(ff.WorthError) as failed:
        ff.leave_one_out(ff.FunctionGame(lambda names: 1 / (2 not in names), 6, takes="names"))
    assert 0 < len(failed.value.worths) < 8
    assert not failed.value.coalitions[:, 2].any()


@pytest.mark.parametrize(
    ("options", "partly"),
    [({}, False), ({"budget": 100}, True), ({"tolerance": 1e-9}, True), ({"seconds": 60}, True)],
)
def test_an_error_has_a_valuation_where_worths_come_in_the_order_of_an_estimate(options, partly):
    """Of a table, whose beginning has nothing on the last players, it has none."""
    asked = []

    def worth(names):
        asked.append(names)
        if len(asked) > 60:
            raise ValueError("no")
        return sum(names) ** 1.5

    game = ff.FunctionGame(worth, 9, takes="names")
    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(game, **options)
    assert len(failed.value.worths) == 60
    assert isinstance(failed.value.partial, ff.Valuation) == partly
    asked.clear()
    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(ff.RemoteGame(worth, 9, retries=0))
    assert failed.value.partial.stop.startswith("ended by an error after")


def test_an_exit_is_an_error_and_a_second_attempt_is_kept():
    tried = []

    def worth(S):
        if is_bad(S) and not tried:
            tried.append(True)
            sys.exit(3)
        return S @ WEIGHTS

    with pytest.raises(ff.WorthError, match="SystemExit: 3"):
        ff.shapley(worth, players=6)
    tried.clear()
    np.testing.assert_allclose(ff.shapley(worth, players=6, retries=1).values, WEIGHTS)


@pytest.mark.parametrize(
    "call",
    [
        ff.shapley,
        ff.leave_one_out,
        ff.interactions,
        ff.compare,
        partial(ff.shapley, budget=40),
        partial(ff.variational_index, n_jobs=2),
    ],
)
def test_fallbacks_alone_are_no_values(call):
    """A function that always fails had values of 0, "exact"."""

    def fails(S):
        if S.any():
            raise ValueError("no")
        return np.zeros(len(S))

    refused = r"\d+ of \d+ worths failed, the first of .* \(ValueError: no\), and from fallbacks"
    with pytest.raises(ff.WorthError, match=refused) as failed:
        call(fails, players=6, on_error=0.0)
    error = failed.value
    assert error.coalitions.shape == (len(error.worths), 6)
    assert len(error.worths) >= 8
    assert not error.worths.any()


@pytest.mark.parametrize("options", [{}, {"budget": 14}])
def test_fallbacks_alone_are_no_values_of_a_store_either(options, tmp_path):
    """A stored worth that was evaluated again counted as two: the second call gave values."""

    def fails(S):
        if S.any():
            raise ValueError("no")
        return np.full(len(S), 3.0)

    for _ in range(2):
        with pytest.raises(ff.WorthError, match=r"from fallbacks alone no player has a value"):
            ff.shapley(fails, players=4, on_error=0.0, store=tmp_path / "w.db", **options)


def test_fallbacks_are_part_of_what_exact_values_say():
    def fails(most):
        def worth(names):
            if len(names) > most:
                raise ValueError("no")
            return len(names)

        return ff.FunctionGame(worth, 4, takes="names")

    few, many = (ff.shapley(fails(most), on_error=0.0).stop for most in (3, 1))
    assert few.startswith("exact for the game with fallbacks; one worth could not be found")
    assert "say little" not in few
    assert "; most worths are the fallback, so that these values say little" in many
    service = ff.RemoteGame(fails(0).function, 4, retries=0)
    with pytest.raises(ff.WorthError, match="15 of 16 worths failed"):
        ff.shapley(service, on_error=0.0)


def test_what_failed_again_and_again_says_how_often():
    def fails(names):
        raise ConnectionError("gone")

    for game in (ff.FunctionGame(fails, 2, takes="names"), ff.RemoteGame(fails, 2)):
        with pytest.raises(ff.WorthError, match=r"gone \(3 attempts, by retries=2\)$"):
            ff.shapley(game, retries=2)
        with pytest.raises(ff.WorthError, match=r"gone$"):
            ff.shapley(game, retries=0)

    def unless_empty(names):
        return 1.0 if len(names) < 2 else fails(names)

    game = ff.FunctionGame(unless_empty, 2, takes="names")
    found = ff.shapley(game, retries=1, on_error=0.0)
    assert "gone (2 attempts, by retries=1))" in found.stop
    with pytest.raises(
        ff.WorthError, match=r"must be a finite number \(2 attempts, by retries=1\)"
    ):
        ff.shapley(lambda S: np.full(len(S), np.nan), players=2, retries=1)


def test_a_comparison_of_few_players_keeps_its_time():
    """All 256 worths of 8 players were evaluated, however long that took."""

    def slow(S):
        time.sleep(0.02 * len(S))
        return S @ np.arange(8.0)

    found = ff.compare(slow, players=8, seconds=0.4, temperature=1.0)
    assert found.evaluations < 100
    assert all("stopped after" in each.stop for each in found.values())
    quick = ff.compare(lambda S: S @ np.arange(8.0), players=8, seconds=60)
    assert quick["shapley"].stop == "exact"
    assert quick.evaluations == 256


def test_a_short_time_is_not_doubled_by_the_rest_of_a_round():
    """An answer that takes a second is waited for, and not a second more for what is asked beside it."""

    def slow(S):
        time.sleep(0.04 * len(S))
        return np.sin(S @ np.arange(8.0))

    found = ff.shapley(slow, players=8, seconds=0.2)
    assert found.evaluations < 30


def interrupted_at(place):
    """Worths of six players, interrupted (as by Ctrl-C) when so many blocks were asked for."""
    asked = []

    def worth(S):
        asked.append(len(S))
        if len(asked) == place:
            raise KeyboardInterrupt
        return S @ WEIGHTS

    return worth


@pytest.mark.parametrize("place", [1, 2, 4])
def test_an_interrupt_without_a_store_has_what_was_computed(place):
    with pytest.raises(KeyboardInterrupt) as stopped:
        ff.shapley(interrupted_at(place), players=6)
    found = stopped.value
    assert found.worths.tolist() == (found.coalitions @ WEIGHTS).tolist()
    assert len(found.worths) == 16 * (place - 1)
    assert ("sys.last_value.worths" in str(getattr(found, "__notes__", ""))) == (place > 1)


def test_an_interrupt_anywhere_has_the_worths_of_an_estimate(monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("fairfield.estimation.samplers.values.Values.estimate", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        ff.shapley(lambda S: S.sum(axis=1), players=12, budget=100)
    assert len(stopped.value.worths) == len(stopped.value.coalitions) == 100


def test_an_interrupt_of_a_long_fit_leaves_a_quick_estimate(monkeypatch):
    """More worths gave less: nothing at all, where it came during the last fit."""
    estimate, asked = Values.estimate, []

    def stopped_once(self, until):
        asked.append(until)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return estimate(self, until)

    monkeypatch.setattr(Values, "estimate", stopped_once)
    found = ff.shapley(lambda S: S @ np.arange(12.0), players=12, budget=100)
    assert found.stop.startswith("interrupted")
    assert_allclose(found.values, np.arange(12.0), atol=1e-6)
    assert asked[1] < asked[0]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_others_of_a_block_in_which_one_fails_are_kept(n_jobs, tmp_path):
    """They were evaluated, and thrown away with it; a second failure ends the block."""

    def worth(S):
        row = S @ [1, 2, 4, 8]
        if np.isin(row, [2, 12]).any():
            raise ValueError("no")
        return row

    store = tmp_path / "w.db"
    with pytest.raises(ff.WorthError, match=r"on coalition \{1\}: ValueError: no") as failed:
        ff.shapley(worth, players=4, n_jobs=n_jobs, store=store)
    assert len(failed.value.worths) == 11
    assert ff.verify_store(store) == 11


def test_the_others_of_a_block_in_which_one_hangs_are_kept(tmp_path):
    def worth(S):
        if (S == [False, True, True, False]).all(axis=1).any():
            time.sleep(3600)
        return S @ np.arange(4.0)

    with pytest.raises(ff.WorthError, match=r"\{1, 2\}: TimeoutError") as failed:
        ff.shapley(worth, players=4, timeout=0.2)
    assert len(failed.value.worths) == 15


def test_a_huge_budget_begins_at_once():
    """All coalitions of the budget were drawn before the first worth."""
    asked = []

    def worths(S):
        asked.append(len(S))
        return np.sqrt(S.sum(axis=1))

    found = ff.shapley(worths, players=40, budget=2**30, seconds=0.5)
    assert found.stop.startswith("stopped after")
    assert max(asked) < 2**20
