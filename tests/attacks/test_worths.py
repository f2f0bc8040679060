"""Worths that fail lose nothing but themselves; hung and deadly ones: tests/evaluation/test_workers.py."""

import sys
import time

import numpy as np
import pytest

import fairfield as ff

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
