"""Values from coalitions drawn by size: the laws that survive sampling, and what surrogates leave."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from conftest import draws
from estimation.games import PLAYERS, SIGNS, sampled
from fairfield.core.game import Traits
from fairfield.estimation.at_points.draws import STEPPED
from fairfield.estimation.samplers.permutation import Permutations
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.problem import resolve

# No subnormal games: worths of 1e-200 and nothing larger are refused.
WORTHS = st.integers(-(10**6), 10**6)
TABLES = arrays(np.int64, 2**PLAYERS, elements=WORTHS).map(lambda whole: whole / 1e5)


@settings(max_examples=draws(6, 15), deadline=None)
@given(TABLES, st.integers(0, 99))
def test_shapley_estimates_share_out_the_worth_of_all(table, seed):
    for sampler in ("regression", "permutation"):
        found = sampled(ff.shapley, table, seed=seed, sampler=sampler)
        assert_allclose(found.values.sum(), table[-1] - table[0], atol=1e-9)


@settings(max_examples=draws(5, 15), deadline=None)
@given(arrays(np.int64, PLAYERS, elements=WORTHS), TABLES, st.integers(0, 99))
def test_games_of_players_and_of_pairs_are_known_without_error(slopes, other, seed):
    """Pairs leave nothing of even interactions, so slopes and pairs are fitted exactly."""
    S = brute.coalitions(PLAYERS).astype(float)
    pairs = np.einsum("mi,mj,ij->m", S, S, np.resize(other, (PLAYERS, PLAYERS)))
    for table in (S @ slopes, S @ slopes + pairs):
        for criterion in (ff.shapley, ff.banzhaf):
            found = sampled(criterion, table, seed=seed)
            scale = np.abs(table).max() + 1e-300
            assert_allclose(found.values, criterion(table).values, atol=1e-10 * scale)
            # Of two or three worths, as a dictator has them, those that were not seen might be others.
            if len(np.unique(table)) > STEPPED:
                assert (found.stderr <= 1e-10 * scale).all()


@settings(max_examples=draws(3, 8), deadline=None)
@given(st.floats(0.01, 100), st.integers(0, 9))
def test_estimates_scale_with_the_game(factor, seed):
    table = np.maximum(0, SIGNS @ np.arange(PLAYERS) + 0.3) ** 0.5
    for sampler, budget in (("auto", 60), ("regression", 200), ("permutation", 200)):
        options = {"seed": seed, "sampler": sampler, "budget": budget}
        one = sampled(ff.shapley, table, **options)
        more = sampled(ff.shapley, factor * table, **options)
        assert_allclose(more.values, factor * one.values, rtol=1e-6, atol=1e-9 * factor)
        assert_allclose(more.stderr, factor * one.stderr, rtol=1e-5, atol=1e-9 * factor)


def test_a_null_player_is_worth_nothing_within_its_error():
    table = np.maximum(0, SIGNS @ np.append(np.arange(PLAYERS - 1.0), 0) + 0.3) ** 0.5
    for criterion in (ff.shapley, ff.banzhaf):
        found = sampled(criterion, table)
        assert abs(found.values[-1]) <= 5 * found.stderr[-1]
        assert found.stderr[-1] < 0.1 * np.abs(found.values).max()


@pytest.mark.parametrize("sampler", ["auto", "regression"])
@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_intervals_hold_the_truth_as_often_as_they_say(criterion, sampler):
    """Over seeds; the benchmark has the long study."""
    rng = np.random.default_rng(1)
    table = np.tanh(SIGNS @ rng.standard_normal(PLAYERS)) + 0.05 * rng.standard_normal(2**PLAYERS)
    exact, seeds = criterion(table).values, range(draws(8, 20))
    runs = [sampled(criterion, table, budget=120, seed=s, sampler=sampler) for s in seeds]
    inside = np.mean([np.abs(v.values - exact) <= 1.96 * v.stderr for v in runs])
    assert 0.85 < inside <= 1.0
    spread = np.std([v.values for v in runs], axis=0).mean()
    assert 0.6 < np.mean([v.stderr for v in runs]) / spread < 1.7


def test_worths_that_only_singles_have_are_known_once_singles_are(rng):
    """Nothing is linear here; a correction size by size does what least squares cannot."""
    table = np.zeros(2**PLAYERS)
    table[2 ** np.arange(PLAYERS)] = 1e30 * rng.random(PLAYERS)
    for criterion in (ff.shapley, ff.banzhaf):
        found = sampled(criterion, table, budget=250)
        assert_allclose(found.values, criterion(table).values, atol=1e15)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_a_single_player_who_is_wild_is_found(criterion):
    """Worths of 1e39 in one coalition of 4096: no error bar could tell of it unseen."""
    table = brute.coalitions(12) @ np.arange(12.0)
    table[2**5] = 1e39
    exact = criterion(table).values
    for seed in range(5):
        found = sampled(criterion, table, budget=500, seed=seed, sampler="regression")
        assert_allclose(found.values, exact, rtol=1e-9)


def test_a_size_that_is_wild_is_drawn_whole_soon(rng):
    """Draws look at what they show of sizes as they go on: single players may be wild though no other is."""
    coalitions = brute.coalitions(12)
    table = coalitions @ np.arange(12.0) + 9 * (coalitions.sum(axis=1) - 6) ** 2
    table[2 ** np.arange(12)] = 10.0 ** (5 + 3 * rng.permutation(12))
    exact = ff.banzhaf(table).values
    for seed in range(4):
        found = sampled(ff.banzhaf, table, budget=10 * 12, seed=seed)
        assert_allclose(found.values, exact, rtol=1e-9)


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_noise_is_not_taken_for_what_is_known(criterion, rng):
    """Of nearly all coalitions little is left unknown, but for the noise of their worths."""
    table = ff.TableGame(SIGNS @ np.arange(9.0) + rng.standard_normal(2**PLAYERS))

    class Trials(ff.Game):
        players, traits = table.players, Traits(noisy=True)

        def worths(self, coalitions):
            return table.worths(coalitions)

    by_noise = criterion(ff.TableGame(np.zeros(2**PLAYERS), variances=np.ones(2**PLAYERS))).stderr
    # The noise of F(∅) and F(N), a part of Shapley's values, is not looked at.
    ends = 2 / PLAYERS**2 if criterion is ff.shapley else 0.0
    found = criterion(Trials(), budget=500, sampler="regression")
    assert_allclose(np.mean(found.stderr**2), np.mean(by_noise**2) - ends, rtol=0.3)
    exact = sampled(criterion, table.worth_table, budget=500, sampler="regression")
    assert np.mean(exact.stderr**2) < 0.1 * np.mean(found.stderr**2)


def test_hundreds_of_players_are_no_trouble(rng):
    slopes = rng.standard_normal(600)
    for criterion in (ff.shapley, ff.banzhaf):
        found = criterion(
            lambda S: np.tanh(S @ slopes / 20), players=600, budget=1300, sampler="regression"
        )
        assert np.isfinite(found.values).all()
        assert "few for 600 players" in found.stop


def test_all_pairs_are_not_too_few():
    """So a tolerance can be met by repeated answers, though few players have few pairs."""
    rng = np.random.default_rng(0)
    game = ff.RemoteGame(lambda names: len(names) + 0.1 * rng.normal(), 4, repeats="auto")
    v = ff.shapley(game, tolerance=0.2)
    assert v.stop.startswith("every 95 % interval is within ±0.2 after 16 coalitions")


GAME = ff.FLIDGame(*(lambda w: (np.full(12, 0.4), w))(np.random.default_rng(0).random((12, 5))))
EXACT = {ab: ff.semivalue(GAME, ff.beta(*ab)) for ab in [(1, 4), (4, 1), (1, 1)]}


def estimated(ab, budget, seed=0, worths=GAME.worths, **options):
    return ff.semivalue(worths, ff.beta(*ab), players=12, budget=budget, seed=seed, **options)


@pytest.mark.parametrize("ab", EXACT)
def test_estimates_lie_within_their_errors(ab):
    found = estimated(ab, 300)
    assert found.method.startswith("a prior over games")
    assert (np.abs(found.values - EXACT[ab].values) <= 5 * found.stderr).all()


def test_errors_are_far_below_those_of_random_orders():
    exact = EXACT[1, 4].values
    ours, orders = (
        np.mean([(estimated((1, 4), 120, s, sampler=name).values - exact) ** 2 for s in range(4)])
        for name in ("auto", "permutation")
    )
    assert ours < 0.1 * orders


def test_all_coalitions_leave_no_error():
    game = ff.FLIDGame(np.full(9, 0.4), np.random.default_rng(0).random((9, 5)))
    late = ff.beta(4, 1)
    found = ff.semivalue(game.worths, late, players=9, tolerance=1e-300)
    assert found.stop.endswith("after 512 coalitions")
    assert_allclose(found.values, ff.semivalue(game, late).values, atol=1e-9)
    assert found.stderr.max() < 1e-9


def test_a_larger_budget_continues_where_a_smaller_one_stopped():
    asked = []

    def worths(S):
        asked.append(S.copy())
        return GAME.worths(S)

    estimated((1, 4), 60, worths=worths)
    first = np.concatenate(asked)
    asked.clear()
    estimated((1, 4), 200, worths=worths)
    second = np.concatenate(asked)
    assert_array_equal(second[: len(first)], first)
    assert len(np.unique(second, axis=0)) == 200


def test_weights_that_no_points_stand_for_use_random_orders():
    shares = np.zeros(40)
    shares[20] = 1.0
    problem = resolve(lambda S: S.sum(axis=1) * 1.0, 40, None, {"budget": 500})
    found = estimator_of(problem, "semivalue", "semivalue", criterion="semivalue", shares=shares)
    assert isinstance(found, Permutations)


def test_few_coalitions_and_few_different_worths_are_warned_of():
    assert "not to be trusted; 74 coalitions are the least for that" in estimated((1, 4), 60).stop
    assert "not to be trusted" not in estimated((1, 4), 100).stop
    vote = estimated((1, 4), 200, worths=lambda S: (S.sum(axis=1) > 6) * 1.0)
    assert vote.stop.endswith("error bars are not to be trusted")


def test_a_vote_meets_its_tolerance():
    """The remark on its worths must not keep a run from ending."""
    found = ff.semivalue(
        lambda S: (S.sum(axis=1) > 15) * 1.0, ff.beta(2, 2), players=30, tolerance=0.5
    )
    assert found.stop.startswith("every 95 % interval is within ±0.5")
    assert "not to be trusted" in found.stop
