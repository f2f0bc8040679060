"""All worths, in an order that allows an estimate at any time."""

import random
import re
import time

import numpy as np
import pytest

import fairfield as ff


def slow(S):
    time.sleep(0.01 * len(S))
    return np.sqrt(S.sum(axis=1))


def test_time_ends_small_local_games_with_an_estimate():
    v = ff.shapley(slow, players=8, seconds=0.8)
    assert re.match(r"stopped after [\d.]+ seconds", v.stop)
    assert v.evaluations < 256
    assert v.values == pytest.approx(np.sqrt(8) / 8, abs=5 * v.stderr.max() + 1e-9)


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf", "variational_index"])
def test_values_are_exact_where_time_allows(criterion):
    def worths(S):
        return np.sqrt(S @ np.arange(5.0))

    value = getattr(ff, criterion)
    found, exact = value(worths, players=5, seconds=100), value(worths, players=5)
    assert found.values == pytest.approx(exact.values, abs=1e-12)
    assert found.stop == exact.stop
    assert found.evaluations == 32


def noisy(players, repeats, **settings):
    rng = random.Random(0)
    worth = {"name": "noisy", **settings}
    return ff.RemoteGame(
        lambda names: len(names) ** 0.5 + rng.gauss(0, 0.1), players, repeats=repeats, **worth
    )


UNIONS = {"left": [0, 1, 2], "right": [3, 4, 5]}


@pytest.mark.parametrize(
    ("value", "players", "coalitions"),
    [
        (ff.shapley, 1, 2),
        (ff.shapley, 3, 8),
        (ff.banzhaf, 2, 4),
        (lambda game, **options: ff.owen(game, UNIONS, **options), 6, 28),
    ],
)
def test_answers_are_repeated_of_few_players_too(value, players, coalitions):
    v = value(noisy(players, "auto"), budget=60)
    assert (v.usage["calls"], v.evaluations) == (60, coalitions)
    assert v.stop == "exact for these answers; 60 calls; used the budget of 60 answers"
    assert (np.abs(v.values - players**0.5 / players) < 5 * v.stderr).all()


def test_criteria_without_errors_do_not_share_answers_out():
    asked = []
    game = ff.RemoteGame(lambda names: asked.append(names) or 1.0, 4, repeats="auto")
    for value in (
        ff.leave_one_out,
        ff.free_energy_value,
        lambda *a, **k: ff.variational_values(*a, 2, **k),
    ):
        with pytest.raises(ValueError, match="repeats='auto' puts answers where"):
            value(game, budget=60, temperature=None if value is ff.leave_one_out else 1.0)
    with pytest.raises(ValueError, match="repeats='auto' puts answers where"):
        ff.compare(game, criteria=["shapley", "leave_one_out"], budget=15)
    assert not asked


def test_a_tolerance_that_exact_values_of_noisy_answers_miss_is_said():
    v = ff.shapley(noisy(4, 2), budget=16, tolerance=1e-3)
    assert v.stop == "exact for these answers; 32 calls; the tolerance was not met"
    v = ff.shapley(noisy(4, 2), budget=16, tolerance=10.0)
    assert v.stop == "exact for these answers; 32 calls"
    v = ff.shapley(noisy(3, "auto"), budget=40, tolerance=1e-3)
    assert v.stop.endswith("used the budget of 40 answers, before the tolerance was met")


def test_what_a_service_says_is_exact_for_its_answers_whatever_is_read():
    game = noisy(6, 1)
    assert ff.leave_one_out(game).stop == "exact for these answers; 8 calls"
    assert ff.owen(game, UNIONS).stop == "exact for these answers; 28 calls"


def test_exact_values_in_unions_leave_an_estimate():
    asked = []

    def worth(names):
        asked.append(names)
        if len(asked) > 24:
            raise ValueError("no more")
        return float(len(names))

    with pytest.raises(ff.WorthError, match="no more") as caught:
        ff.owen(ff.RemoteGame(worth, 6, concurrency=1), UNIONS)
    assert caught.value.partial.values == pytest.approx(1.0)
    assert len(caught.value.worths) == 24
