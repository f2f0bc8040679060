"""Regression on pairs, its surrogates, and the laws that survive sampling."""

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.core.game import Traits
from fairfield.estimation.pairs import Design, Strata, Stratum
from fairfield.estimation.surrogates import kernels, registry, triples
from fairfield.estimation.surrogates import sample as surrogates
from fairfield.estimation.surrogates import trees as boosting
from fairfield.estimation.surrogates.sample import Diagonal, Sample

PLAYERS = 9
SIGNS = brute.coalitions(PLAYERS) - 0.5
# No subnormal games: worths of 1e-200 and nothing larger are refused.
WORTHS = st.integers(-(10**6), 10**6)
TABLES = arrays(np.int64, 2**PLAYERS, elements=WORTHS).map(lambda whole: whole / 1e5)
DIAGONALS = {"shapley": Diagonal.shapley, "banzhaf": Diagonal.banzhaf}


def sampled(criterion, table, **options):
    """A table as a function, so that it is sampled."""
    game = ff.TableGame(table)
    return criterion(game.worths, players=len(game.players), **{"budget": 200, **options})


def sample_of(table, law, pairs, seed=0):
    """Random pairs of a game with all that surrogates want to know."""
    rng = np.random.default_rng(seed)
    players = len(table).bit_length() - 1
    S = rng.random((pairs, players)) < 0.5
    worths = ff.TableGame(table).worths
    both = np.stack([worths(S), worths(~S)])
    odd = (both[0] - both[1]) / 2
    return Sample(S, odd[None], both[None], np.full(pairs, 1 / pairs), np.zeros(pairs))


@settings(max_examples=15, deadline=None)
@given(TABLES, st.integers(0, 99))
def test_shapley_estimates_share_out_the_worth_of_all(table, seed):
    for sampler in ("regression", "permutation"):
        found = sampled(ff.shapley, table, seed=seed, sampler=sampler)
        assert_allclose(found.values.sum(), table[-1] - table[0], atol=1e-9)


@settings(max_examples=15, deadline=None)
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
            assert (found.stderr <= 1e-10 * scale).all()


@settings(max_examples=8, deadline=None)
@given(st.floats(0.01, 100), st.integers(0, 9))
def test_estimates_scale_with_the_game(factor, seed):
    table = np.maximum(0, SIGNS @ np.arange(PLAYERS) + 0.3) ** 0.5
    for sampler in ("auto", "regression", "permutation"):
        one = sampled(ff.shapley, table, seed=seed, sampler=sampler)
        more = sampled(ff.shapley, factor * table, seed=seed, sampler=sampler)
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
    exact = criterion(table).values
    runs = [sampled(criterion, table, budget=120, seed=s, sampler=sampler) for s in range(20)]
    inside = np.mean([np.abs(v.values - exact) <= 1.96 * v.stderr for v in runs])
    assert 0.85 < inside <= 1.0
    spread = np.std([v.values for v in runs], axis=0).mean()
    assert 0.6 < np.mean([v.stderr for v in runs]) / spread < 1.7


@pytest.mark.parametrize("law", DIAGONALS)
@pytest.mark.parametrize("kernel", kernels.KERNELS)
def test_sections_of_a_kernel_have_their_values_in_closed_form(kernel, law):
    players = 5
    signs = brute.coalitions(players) - 0.5
    sections = kernels._gram(signs, signs, kernel)
    values = kernels._values(signs, np.eye(len(signs)), kernel, DIAGONALS[law](players))
    for section, value in zip(sections, values, strict=True):
        assert_allclose(value, getattr(brute, law)(section), atol=1e-12)


@pytest.mark.parametrize("law", DIAGONALS)
@pytest.mark.parametrize("surrogate", ["kernel", "triples", "trees"])
def test_a_surrogate_adds_up(surrogate, law, rng):
    """Values of the surrogate, and of what it leaves of the game, are those of the game."""
    table = np.tanh(SIGNS @ rng.standard_normal(PLAYERS)) + SIGNS[:, :3].prod(axis=1)
    sample = sample_of(table, law, 240)
    fits = {
        "kernel": lambda: kernels.kernel_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
        "triples": lambda: triples.triple_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
        "trees": lambda: boosting.tree_surrogate(sample, DIAGONALS[law](PLAYERS), 0, sample.odd),
    }
    fit = fits[surrogate]()
    exact = getattr(brute, law)(table)
    linear = np.linalg.lstsq(sample.signs, sample.odd[0])[0]
    assert np.abs(fit.values[0] - exact).max() < np.abs(exact).max()
    assert np.mean(fit.outside**2) < np.mean((sample.odd[0] - sample.signs @ linear) ** 2)
    assert np.mean(fit.inside**2) <= np.mean(fit.outside**2)


def test_worths_that_only_singles_have_are_known_once_singles_are(rng):
    """Nothing is linear here; known moments do what least squares cannot."""
    table = np.zeros(2**PLAYERS)
    table[2 ** np.arange(PLAYERS)] = 1e30 * rng.random(PLAYERS)
    for criterion in (ff.shapley, ff.banzhaf):
        found = sampled(criterion, table, budget=250)
        assert found.method.startswith("weighted means")
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


def test_more_pairs_than_are_fitted_are_left_to_the_correction(rng, monkeypatch):
    table = np.tanh(SIGNS @ rng.standard_normal(PLAYERS)) + SIGNS[:, :3].prod(axis=1)
    monkeypatch.setattr(surrogates, "FITTED", 120)
    sample = sample_of(table, "shapley", 200)
    fit = triples.triple_surrogate(sample, Diagonal.shapley(PLAYERS), 0, sample.odd)
    assert_array_equal(fit.inside[:, 120:], fit.outside[:, 120:])
    assert (fit.inside[:, :120] != fit.outside[:, :120]).all()
    found = sampled(ff.shapley, table, budget=402)
    exact = ff.shapley(table).values
    assert (np.abs(found.values - exact) <= 5 * found.stderr).all()


def test_a_kernel_predicts_in_blocks_what_it_predicts_at_once(rng, monkeypatch):
    monkeypatch.setattr(kernels, "AT_ONCE", 7)
    signs, alpha = np.where(rng.random((50, 6)) < 0.5, 0.5, -0.5), rng.standard_normal((2, 20))
    kernel = kernels.KERNELS[2]
    found = kernels._predict(alpha, signs[:20], signs[20:], kernel)
    assert_allclose(found, alpha @ kernels._gram(signs[:20], signs[20:], kernel), rtol=1e-12)


def test_a_hopeless_surrogate_is_given_up(rng):
    sample = sample_of(np.tanh(SIGNS @ rng.standard_normal(PLAYERS)), "shapley", 240)
    law = Diagonal.shapley(PLAYERS)
    assert triples.triple_surrogate(sample, law, 0, sample.odd) is not None
    assert triples.triple_surrogate(sample, law, 0, sample.odd * 1e-6) is None


def test_triples_are_found_and_their_values_exact(rng):
    chosen = list(combinations(range(PLAYERS), 3))[::9]
    table = SIGNS @ rng.standard_normal(PLAYERS)
    for triple in chosen:
        table = table + rng.standard_normal() * 8 * SIGNS[:, triple].prod(axis=1)
    for criterion in (ff.shapley, ff.banzhaf):
        found = sampled(criterion, table, budget=220)
        assert "triples" in found.method
        assert_allclose(found.values, criterion(table).values, atol=1e-10)


def test_without_scikit_learn_or_numba_there_are_no_trees(monkeypatch):
    from importlib import util

    for absent in ("sklearn", "numba"):
        monkeypatch.setattr(
            util, "find_spec", lambda name, absent=absent: None if name == absent else object()
        )
        assert not boosting.trees_are_installed()
    table = (SIGNS @ np.arange(PLAYERS) > 0.4) * 1.0
    registry.surrogates()
    trees = replace(registry._registered["trees"], fit=None)  # would fail if it were called
    monkeypatch.setitem(registry._registered, "trees", trees)
    found = sampled(ff.shapley, table, budget=300)
    assert "trees" not in found.method


@pytest.mark.parametrize(("players", "size"), [(6, 0), (6, 2), (6, 3), (7, 3)])
def test_a_stratum_lists_every_pair_once(players, size):
    stratum = Stratum(players, size)
    every = stratum.every()
    assert len(every) == stratum.pairs == comb(players, size) / (2 if 2 * size == players else 1)
    both = np.concatenate([every, ~every])
    assert len(np.unique(both, axis=0)) == len(both)
    drawn = stratum.draw(50, np.random.default_rng(0))
    assert {row.tobytes() for row in drawn} <= {row.tobytes() for row in every}


@pytest.mark.parametrize("make", [Strata.shapley, Strata.banzhaf])
def test_a_design_draws_no_pair_twice_and_ends_with_all(make):
    design, drawn = Design(7, [make(7)], 0), []
    while True:
        pairs, strata = design.next(20, design.shares(None, 20))
        if not len(pairs):
            break
        assert_array_equal(np.array([s.size for s in design.strata])[strata], pairs.sum(axis=1))
        drawn.append(pairs)
    together = np.concatenate(drawn)
    both = np.concatenate([together, ~together])
    assert len(np.unique(both, axis=0)) == len(both) == design.pairs.sum() * 2


def test_a_large_stratum_draws_no_pair_twice():
    design = Design(40, [Strata.banzhaf(40)], 3)
    pairs, _ = design.next(3000, design.shares(None, 3000))
    assert len(np.unique(pairs, axis=0)) == 3000


def test_strata_with_more_left_to_explain_are_drawn_from_more():
    design = Design(20, [Strata.shapley(20)], 0)
    left = np.ones(10)
    left[3] = 100.0
    shares = design.shares(left[None], 10_000)
    assert shares[3] > 2 * design.shares(None, 10_000)[3]
    assert_allclose(shares.sum(), 1.0)


def test_hundreds_of_players_are_no_trouble(rng):
    slopes = rng.standard_normal(600)
    for criterion in (ff.shapley, ff.banzhaf):
        found = criterion(
            lambda S: np.tanh(S @ slopes / 20), players=600, budget=1300, sampler="regression"
        )
        assert np.isfinite(found.values).all()
        assert "few for 600 players" in found.stop
