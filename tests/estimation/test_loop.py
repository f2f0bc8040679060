"""The loop of estimates: stopping, streaming, going on from a store."""

import contextlib
import re
import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fairfield as ff
from estimation.games import covered
from fairfield.core.game import Measured, Traits
from fairfield.estimation.samplers.values import Values

PLAYERS = 12


class Asked:
    """A worth function that counts the coalitions it is asked for."""

    def __init__(self, seconds=0.0):
        self.count, self.seconds = 0, seconds

    def __call__(self, S):
        self.count += len(S)
        time.sleep(self.seconds * len(S))
        return covered(S)


@pytest.mark.parametrize(
    ("sampler", "budget"),
    [("auto", 500), ("surrogate", 500), ("regression", 2000), ("permutation", 2000)],
)
@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_estimates_are_within_five_standard_errors(criterion, sampler, budget):
    exact = criterion(covered, players=PLAYERS)
    found = criterion(covered, players=PLAYERS, budget=budget, sampler=sampler, seed=1)
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()
    assert (found.stderr < 0.1).all()
    assert found.evaluations <= budget


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
def test_the_last_of_a_stream_is_the_answer(criterion):
    options = {"players": PLAYERS, "budget": 600, "sampler": "regression"}
    stream = list(ff.stream(criterion, covered, **options))
    answer = getattr(ff, criterion)(covered, **options)
    assert_array_equal(stream[-1].values, answer.values)
    assert_array_equal(stream[-1].stderr, answer.stderr)
    assert len(stream) > 2
    assert [v.evaluations for v in stream] == sorted(v.evaluations for v in stream)
    assert stream[0].stop.startswith("under way after")
    assert stream[-1].stop == "used the budget of 600 coalitions"


def test_the_stream_of_an_exact_criterion_is_its_one_answer():
    (only,) = ff.stream(ff.shapley, ff.FLIDGame(np.ones(30), np.ones((30, 2))), budget=50)
    assert only.stop == "exact"
    (first, *_) = ff.stream("leave_one_out", [0, 1, 1, 3])
    assert_array_equal(first.values, [2, 2])


def test_a_tolerance_is_met_by_every_interval():
    found = ff.shapley(covered, players=PLAYERS, tolerance=0.02)
    assert 1.96 * found.stderr.max() <= 0.02
    assert "within ±0.02" in found.stop
    exact = ff.shapley(covered, players=PLAYERS)
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr + 1e-12).all()


def test_the_best_players_are_told_apart():
    found = ff.banzhaf(covered, players=PLAYERS, tolerance=ff.separate_top(3), sampler="regression")
    assert "separated the best 3 players" in found.stop
    order = found.ranking()
    assert all(found.difference(i, j).low > 0 for i in order[:3] for j in order[3:])
    assert set(order[:3]) == set(ff.banzhaf(covered, players=PLAYERS).ranking()[:3])


def test_a_budget_that_ends_before_the_tolerance_says_so():
    found = ff.shapley(covered, players=PLAYERS, tolerance=1e-9, budget=100)
    assert found.stop == "used the budget of 100 coalitions, before the tolerance was met"


def test_seconds_end_a_slow_game_with_the_best_so_far():
    game = Asked(seconds=0.002)
    found = ff.shapley(game, players=PLAYERS, seconds=0.5, sampler="regression")
    assert re.match(r"stopped after [\d.]+ seconds", found.stop)
    assert game.count < 2**PLAYERS
    assert found.evaluations >= 30  # the first estimate is waited for
    assert np.isfinite(found.stderr).all()


def test_all_pairs_make_the_values_exact():
    """Without a budget nothing else ends a tolerance that cannot be met."""

    def few(S):
        return covered(np.pad(S, ((0, 0), (0, PLAYERS - 9))))

    for criterion in (ff.shapley, ff.banzhaf):
        found = criterion(few, players=9, tolerance=1e-300, sampler="regression")
        np.testing.assert_allclose(found.values, criterion(few, players=9).values, atol=1e-12)
        assert "no more would help" in found.stop or "within" in found.stop


@pytest.mark.parametrize("sampler", ["regression", "permutation"])
def test_a_store_repeats_a_run_and_continues_it(sampler, tmp_path):
    path, options = tmp_path / "worths.db", {"players": PLAYERS, "sampler": sampler, "seed": 7}
    first = Asked()
    half = ff.shapley(first, budget=300, store=path, **options)
    assert first.count == half.evaluations <= 300
    again = Asked()
    repeated = ff.shapley(again, budget=300, store=path, **options)
    assert_array_equal(repeated.values, half.values)
    assert_array_equal(repeated.stderr, half.stderr)
    assert again.count == 4  # tried again, since a function may have changed
    more = Asked()
    continued = ff.shapley(more, budget=700, store=path, **options)
    assert_array_equal(continued.values, ff.shapley(covered, budget=700, **options).values)
    assert more.count - 4 + first.count <= 700


def test_other_stored_worths_are_a_cache_and_nothing_else(tmp_path):
    path = tmp_path / "worths.db"
    alone = ff.shapley(covered, players=PLAYERS, budget=100, seed=1)
    ff.banzhaf(covered, players=PLAYERS, budget=200, seed=2, store=path)
    beside = ff.shapley(covered, players=PLAYERS, budget=100, seed=1, store=path)
    assert_array_equal(beside.values, alone.values)


def test_the_law_of_a_round_is_stored_with_it(tmp_path):
    import json
    import sqlite3

    path = tmp_path / "worths.db"
    ff.shapley(covered, players=PLAYERS, budget=100, seed=5, store=path)
    with contextlib.closing(sqlite3.connect(path)) as base:
        laws = [json.loads(law) for (law,) in base.execute("SELECT law FROM rounds")]
    assert laws
    assert all(law["seed"] == 5 and law["sampler"] == "pairs by size" for law in laws)


def test_a_batch_of_games_is_estimated_together():
    factors = np.array([1.0, -2.0, 0.5])

    class Batch(ff.Game):
        players, batch = tuple(range(PLAYERS)), (3,)

        def worths(self, coalitions):
            return factors[:, None] * covered(coalitions)

    found = ff.shapley(Batch(), budget=200)
    one = ff.shapley(covered, players=PLAYERS, budget=200)
    assert found.values.shape == found.stderr.shape == (3, PLAYERS)
    assert found.covariance.shape == (3, PLAYERS, PLAYERS)
    np.testing.assert_allclose(found.values, factors[:, None] * one.values, atol=1e-9)
    assert found[1].difference(0, 1).low < found[1].difference(0, 1).high


def test_an_estimate_survives_its_file(tmp_path):
    found = ff.banzhaf(covered, players=PLAYERS, budget=100)
    found.save(tmp_path / "values.npz")
    read = ff.Valuation.load(tmp_path / "values.npz")
    assert_array_equal(read.covariance, found.covariance)
    assert read.difference(0, 3) == found.difference(0, 3)
    assert read.stop == found.stop


def test_compare_under_a_budget_finds_its_own_temperature():
    both = ff.compare(covered, players=PLAYERS, budget=150, criteria=["banzhaf", "shapley"])
    assert both["shapley"].temperature == both["banzhaf"].temperature
    assert both["shapley"].marginals is not None


@pytest.mark.parametrize("sampler", ["auto", "regression", "permutation"])
def test_the_noise_of_both_ends_is_in_the_sum_of_the_values(sampler):
    """Shapley's values sum to F(N) - F(∅), so their errors must as well."""

    class Noisy(ff.Game):
        players, traits = tuple(range(PLAYERS)), Traits(noisy=True)

        def worths(self, coalitions):
            return covered(coalitions)

        def measure(self, coalitions):
            return Measured(covered(coalitions), 0.1 + coalitions.mean(axis=1))

    found = ff.shapley(Noisy(), budget=600, sampler=sampler)
    np.testing.assert_allclose(found.covariance.sum(), 0.1 + 1.1, rtol=0.03)
    assert (np.diagonal(found.covariance) >= 1.2 / PLAYERS**2).all()


def test_any_whole_number_is_a_seed():
    found = ff.shapley(covered, players=PLAYERS, budget=100, seed=2**40)
    assert np.isfinite(found.values).all()


def test_bad_options_are_refused():
    asked = Asked()
    with pytest.raises(ValueError, match="at least 26 coalitions are needed"):
        ff.shapley(covered, players=PLAYERS, budget=25)
    with pytest.raises(ValueError, match=r"no sampler 'best' for shapley; choose from"):
        ff.shapley(covered, players=PLAYERS, budget=100, sampler="best")
    with pytest.raises(ValueError, match=r"tolerance=-1 was given.*or separate_top\(k\)"):
        ff.shapley(covered, players=PLAYERS, tolerance=-1)
    with pytest.raises(ValueError, match="seconds=0 was given"):
        ff.shapley(covered, players=PLAYERS, seconds=0)
    with pytest.raises(ValueError, match="give at most 11"):
        ff.shapley(asked, players=PLAYERS, tolerance=ff.separate_top(12))
    assert asked.count == 0
    with pytest.raises(ValueError, match="1 or more"):
        ff.separate_top(0)
    with pytest.raises(ValueError, match="seed=-1 was given; it must be a whole number, 0 or more"):
        ff.shapley(covered, players=PLAYERS, budget=100, seed=-1)
    with pytest.raises(ValueError, match="relative temperature needs Banzhaf values"):
        ff.shapley(covered, players=PLAYERS, budget=100, temperature=ff.relative(1))


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_worths_of_any_size_are_estimated_or_refused(criterion):
    options = {"players": PLAYERS, "budget": 200, "sampler": "regression"}
    plain = criterion(covered, **options)
    for factor in (2.0**-450, 2.0**450):
        found = criterion(lambda S, factor=factor: factor * covered(S), **options)
        assert_array_equal(found.values, factor * plain.values)
        assert_array_equal(found.stderr, factor * plain.stderr)
    for factor in (1e-160, 1e160):
        with pytest.raises(ValueError, match="give the worths in other units"):
            criterion(lambda S, factor=factor: factor * covered(S), **options)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_a_constant_game_has_values_of_nothing(criterion):
    found = criterion(lambda S: np.full(len(S), 3.0), players=PLAYERS, tolerance=1e-9)
    assert "within ±1e-09" in found.stop
    assert not found.values.any()
    assert not found.stderr.any()


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_a_worth_that_is_no_number_is_named(criterion):
    def broken(S):
        return np.where(S.sum(axis=1) == 5, np.nan, covered(S))

    with pytest.raises(ff.WorthError, match=r"coalition \{(\d+, ){4}\d+\} is nan"):
        criterion(broken, players=PLAYERS, budget=300)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
@pytest.mark.parametrize("players", [1, 2, 3])
def test_few_players_are_exact_or_refused(criterion, players):
    def root(S):
        return np.sqrt(S @ np.arange(1.0, players + 1))

    found = criterion(root, players=players, budget=2**players)
    assert_array_equal(found.values, criterion(root, players=players).values)
    with pytest.raises(ValueError, match=f"at least {2**players} coalitions are needed"):
        criterion(root, players=players, budget=2**players - 1)


@pytest.mark.parametrize(("criterion", "first"), [(ff.shapley, 98), (ff.banzhaf, 38)])
def test_the_first_estimate_is_waited_for_however_short_the_time(criterion, first):
    found = criterion(covered, players=PLAYERS, seconds=1e-9)
    assert found.stop.startswith(f"stopped after 1e-09 seconds and {first} coalitions")
    assert np.isfinite(found.stderr).all()


def test_a_stream_may_be_left_and_its_store_goes_on(tmp_path):
    options = {"players": PLAYERS, "budget": 600, "store": tmp_path / "worths.db", "seed": 2}
    stream = ff.stream("banzhaf", Asked(), sampler="regression", **options)
    first = next(stream)
    stream.close()
    assert first.stop.startswith("under way after 98 coalitions")
    rest = Asked()
    found = ff.banzhaf(rest, sampler="regression", **options)
    assert rest.count - 4 + first.evaluations <= 600  # four are tried again
    assert_array_equal(
        found.values,
        ff.banzhaf(covered, players=PLAYERS, budget=600, seed=2, sampler="regression").values,
    )


def test_few_coalitions_come_with_a_warning():
    found = ff.shapley(covered, players=PLAYERS, budget=40)
    assert "are few for 12 players" in found.stop
    assert "74 coalitions" in found.stop
    assert "few" not in ff.shapley(covered, players=PLAYERS, budget=74).stop
    fewest = ff.shapley(lambda S: np.sqrt(S.sum(axis=1)), players=4, budget=14)
    assert "; 16 coalitions are the least" in fewest.stop


def test_a_whole_float_is_a_budget():
    found = ff.shapley(covered, players=PLAYERS, budget=1e2, sampler="regression")
    assert found.stop == "used the budget of 100 coalitions"
    with pytest.raises(ValueError, match=r"budget=100\.5 was given; it must be a whole number"):
        ff.shapley(covered, players=PLAYERS, budget=100.5)
    with pytest.raises(ValueError, match="budget=inf was given"):
        ff.shapley(covered, players=PLAYERS, budget=np.inf)


@pytest.mark.parametrize(
    "ask",
    [
        partial(ff.interactions, criterion="variational_index"),
        ff.annealing,
        lambda game, **options: ff.diagnose(
            game, ff.shapley(game, temperature=1.0, budget=200, sampler="regression"), **options
        ),
    ],
)
def test_what_no_budget_helps_says_what_would(ask):
    game = ff.FunctionGame(lambda S: np.sqrt(S.sum(axis=1)), players=40)
    with pytest.raises(
        ValueError, match="group players, or use a game with a closed form; only"
    ) as seen:
        ask(game, budget=500)
    assert "raise the budget" not in str(seen.value)
    with pytest.raises(
        MemoryError, match=r"what can be estimated from it \(shapley, owen, banzhaf"
    ):
        ask(game)


def test_an_interrupt_between_rounds_carries_the_last_estimate(monkeypatch):
    estimate, made = Values.estimate, []

    def interrupted(self, until):
        if made:
            raise KeyboardInterrupt
        made.append(estimate(self, until))
        return made[0]

    monkeypatch.setattr(Values, "estimate", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        ff.shapley(lambda S: np.sin(7 * (S @ np.arange(12.0))), players=12, tolerance=1e-9)
    assert caught.value.partial.values.tolist() == made[0].values.tolist()


def test_a_tolerance_is_not_met_before_noise_was_measured():
    rng = np.random.default_rng(3)
    game = ff.RemoteGame(
        lambda names: float(len(names) + rng.normal(0, 0.5)), players=4, repeats="auto"
    )
    found = ff.shapley(game, tolerance=0.02, budget=60)
    # Sixteen single answers would show no error at all.
    assert found.stderr.min() > 0.02
