"""Estimates end in time: by a clock that moves only when something is worked at."""

import time
from dataclasses import replace

import numpy as np
import pytest

import fairfield as ff
from estimation.games import SIGNS, sample_of
from fairfield.estimation import loop as estimates
from fairfield.estimation import pace
from fairfield.estimation.along import Along
from fairfield.estimation.fitter import Fitter
from fairfield.estimation.samplers import values
from fairfield.estimation.surrogates import registry
from fairfield.evaluation import local as evaluate
from fairfield.problem import resolve

PLAYERS = 30
SKILL = np.linspace(0, 2, PLAYERS) ** 2


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    for module in (estimates, pace, evaluate):
        monkeypatch.setattr(module, "perf_counter", clock)
    return clock


def game(clock, seconds):
    """A game whose worths take so long each."""

    def worth(S):
        clock.now += seconds * len(S)
        return np.sqrt(S @ SKILL)

    return ff.FunctionGame(worth, players=PLAYERS)


def slowed(monkeypatch, clock, name, seconds):
    """Has a surrogate take so long for every coalition, and counts its fits."""
    registry.surrogates()
    own, sizes = registry._registered[name], []

    def slow(sampled, *more):
        sizes.append(len(sampled.rows))
        clock.now += seconds * len(sampled.rows)
        return own.fit(sampled, *more)

    monkeypatch.setitem(registry._registered, name, replace(own, fit=slow))
    return sizes


class Slow(values.Values):
    """Every coalition of the sample costs a hundredth of a second at every estimate."""

    clock: Clock

    def estimate(self, until=np.inf):
        self.clock.now += 0.01 * sum(worths.shape[-1] for worths in self.design._worths)
        return super().estimate(until)


def test_time_is_kept_for_the_estimate(clock):
    problem = resolve(game(clock, 1e-2), None, None, {"seconds": 60.0})
    kind = values.Kind("shapley", Along.shapley(PLAYERS).shares)
    estimator = Slow(problem, kind, helped=False)
    estimator.clock = clock
    (last,) = estimates.run(problem.game, estimator, problem.options)
    assert last.stop.startswith("stopped after 60 seconds")
    assert last.coalitions > 500
    # The last block of 64 coalitions may be begun just before the deadline.
    assert 100 + 30 < clock.now <= 100 + 60 + 64 * 2e-2


def test_a_surrogate_that_would_come_late_is_left_out(clock, monkeypatch):
    sizes = slowed(monkeypatch, clock, "few interactions", 0.02)
    few, many = (sample_of(np.tanh(SIGNS.sum(axis=1)), "shapley", count) for count in (60, 120))
    fitter = Fitter(0)
    fitter.fits(few)
    fitter.fits(many, clock.now + 2.0)  # 2.4 seconds are expected of twice as many
    assert sizes == [60]
    fitter.fits(many, clock.now + 3.0)
    assert sizes == [60, 120]


def test_a_surrogate_is_used_where_there_is_time(clock, monkeypatch):
    sizes = slowed(monkeypatch, clock, "few interactions", 1e-4)
    found = ff.shapley(game(clock, 0.1), seconds=30.0)
    assert max(sizes) == found.evaluations
    assert found.method.startswith("a prior over games, given ")


def test_a_budget_knows_no_clock(clock, monkeypatch):
    slowed(monkeypatch, clock, "few interactions", 1e6)
    late = ff.shapley(game(clock, 1e6), budget=200)
    monkeypatch.undo()
    usual = ff.shapley(game(Clock(), 0.0), budget=200)
    np.testing.assert_array_equal(late.values, usual.values)
    np.testing.assert_array_equal(late.stderr, usual.stderr)
    assert late.method == usual.method


def test_a_pace_grows_with_the_sample(clock):
    steps = pace.Pace({"walk": 2.0})
    assert steps.expected("walk", 10) == 2
    with steps.timed("walk", 100):
        clock.now += 5
    assert [steps.expected("walk", size) for size in (50, 100, 300)] == [5, 5, 15]
    assert steps.fits("walk", 100, clock.now + 5)
    assert not steps.fits("walk", 101, clock.now + 5)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.variational_index, ff.leave_one_out])
def test_a_time_that_is_too_short_is_refused_after_three_worths(clock, criterion):
    words = r"seconds=5 is too short: an answer needs at least \d\d worths, about .* at 1 each"
    with pytest.raises(ValueError, match=words):
        criterion(game(clock, 1.0), seconds=5.0)
    assert clock.now == 103


def test_time_is_kept_to_within_one_worth(clock):
    found = ff.shapley(game(clock, 2.0), seconds=200.0)
    assert found.stop.startswith("stopped after 200 seconds and ")
    assert 100 + 190 < clock.now <= 100 + 202


def test_a_run_that_was_late_says_how_long_it_took(clock):
    """The first estimate of these is waited for: worths are slow only after three of them."""
    count = []

    def worth(S):
        count.extend(S)
        clock.now += len(S) * (0.01 if len(count) <= 3 else 1.0)
        return np.sqrt(S @ SKILL)

    found = ff.shapley(worth, players=PLAYERS, seconds=10.0)
    assert found.stop.startswith(
        f"stopped after {clock.now - 100:.3g} seconds, 10 were asked for, and "
    )
    assert found.seconds > 50


def test_no_more_worths_than_an_estimate_needs_are_waited_for(clock):
    """The first round has more; those come while there is time."""
    v = ff.shapley(game(clock, 1.0), seconds=66)
    assert 62 <= v.evaluations <= 67
    assert v.stop.startswith("stopped after 66 seconds")
