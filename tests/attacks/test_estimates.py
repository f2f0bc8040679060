"""Sampled laws and estimates that once were confidently wrong, or never stopped."""

import time
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
from attacks import calibration, differential
from fairfield.estimation.at_points.pool import Pool
from fairfield.estimation.at_points.reading import read


def test_a_plateau_does_not_hide_what_weighs_most():
    """One coalition in 6000 wins, and they have 98 % of the law."""
    weights, quota, temperature = np.ones(30, dtype=int), 25, 0.08
    law = ff.Boltzmann(ff.VotingGame(weights, quota), temperature, budget=100_000).law
    truth = calibration.truth(weights, (np.arange(31) >= quota) * 1.0, temperature)
    for name, wanted in truth.items():
        assert np.all(np.abs(getattr(law, name) - wanted) <= 5 * law.stderr(name)), name
    assert law.stderr("mean") < 0.02


def test_errors_of_a_mean_have_a_floor():
    """Winning has a chance of 1e-7, and no sample has seen it."""
    law = ff.Boltzmann(ff.VotingGame(np.ones(30, dtype=int), 29), 2.0, budget=5000)
    assert law.stderr("mean") >= 1 / law.law.samples


# Once far off, without a warning.
@pytest.mark.parametrize("seed", [34, 65, 91, 96, 1068, 1091, 1102])
def test_no_law_is_confidently_wrong(seed):
    what, warned, far = calibration.check(seed)
    assert warned or max(far.values()) <= 5, what


def test_definitions_agree():
    """A short run of the differential tester."""
    counts, failures = differential.run(1000, 7)
    assert not failures
    assert set(counts) == set(differential.PARTS)


def test_a_missed_tolerance_is_stated(rng):
    table = rng.normal(size=2**10)
    game = ff.FunctionGame(lambda z: table[z @ (1 << np.arange(10))], 10)
    for sampler in ("regression", "permutation"):
        found = ff.shapley(game, tolerance=1e-3, budget=120, sampler=sampler)
        assert "before the tolerance was met" in found.stop


def test_equal_players_are_never_separated():
    game = ff.FunctionGame(lambda z: z.sum(axis=1) * 0.1, 9)
    found = ff.shapley(game, tolerance=ff.separate_top(2), budget=200)
    assert "before the tolerance was met" in found.stop


def test_random_orders_end_where_every_coalition_is_known(rng):
    table = rng.normal(size=2**9)
    game = ff.FunctionGame(lambda z: table[z @ (1 << np.arange(9))], 9)
    found = ff.semivalue(game, ff.beta(2, 1), tolerance=1e-9, sampler="permutation")
    assert found.method == "every coalition is known"
    wanted = brute.semivalue(table, brute.beta_weights(9, 2, 1))
    assert_allclose(found.values, wanted, atol=1e-13)


def test_thousands_of_players_and_a_small_budget_are_refused_at_once():
    """It took minutes to count the coalitions of each size, and to find points of the diagonal."""
    game = ff.FunctionGame(lambda z: z.sum(axis=1), players=20_000)
    for criterion in (ff.shapley, ff.banzhaf):
        with pytest.raises(ValueError, match=r"budget=500 is too small .* 40,002 coalitions"):
            criterion(game, budget=500)
    with pytest.raises(ValueError, match=r"budget=500 is too small .* 20,002 coalitions"):
        ff.interactions(game, budget=500)
    with pytest.raises(ValueError, match=r"needs 20,002 worths, the budget allows 500"):
        ff.leave_one_out(game, budget=500)


@pytest.mark.parametrize(
    "game", [ff.TableGame(np.full(8, 0.1)), ff.CardinalityGame(np.full(31, 0.1))]
)
def test_a_constant_game_needs_no_temperature(game):
    for criterion in (ff.variational_index, ff.free_energy_value, ff.banzhaf):
        if len(game.players) < 26 or criterion is not ff.free_energy_value:
            assert not criterion(game).values.any()
    assert not ff.compare(game)["variational_index"].values.any()


def test_a_game_of_opposite_contributions_still_asks_for_a_temperature():
    with pytest.raises(ValueError, match="gives no scale"):
        ff.variational_index(ff.CardinalityGame([0.0, 1.0, 0.0]))


def test_a_constant_game_is_valued_under_a_budget_too():
    def constant(S):
        return np.full(len(S), 3.0)

    assert not ff.variational_index(constant, players=12, budget=60).values.any()
    assert not ff.variational_values(constant, 2, players=12, budget=60).values.any()
    found = ff.compare(constant, players=12, budget=100)
    for name in ("variational_index", "banzhaf", "shapley"):
        assert_allclose(found[name].values, 0, atol=1e-15)


def test_where_all_banzhaf_values_are_0_the_worths_give_the_scale():
    def parity(S):
        return 3.0 * (S.sum(axis=1) % 2)

    exact, estimated = (
        ff.variational_index(parity, players=12, **o) for o in ({}, {"budget": 100})
    )
    assert estimated.temperature == pytest.approx(exact.temperature, rel=0.05)


def test_a_step_at_a_size_not_drawn_is_in_the_errors():
    """It was off by thousands of standard errors."""

    def wins(S):
        return (S.sum(axis=1) >= 15) * 1.0

    found = ff.banzhaf(wins, players=20, budget=200, seed=1)
    exact = ff.banzhaf(ff.VotingGame([1] * 20, 15))
    assert (np.abs(found.values - exact.values) <= 5 * found.stderr).all()


def test_draws_that_are_complements_say_the_same_of_a_vote():
    """Half of all draws at ½ are; 95 % intervals of steps read there covered .87."""
    weights, half, squares, told = np.arange(1, 12), np.full((1, 11), 0.5), [], []
    exact = ff.banzhaf(ff.VotingGame(weights, 33)).values
    for seed in range(40):
        pool, rng = Pool(11, 1), np.random.default_rng(seed)
        asked = pool.plan(half, np.zeros(1, dtype=int), 200, 2000, half > 1, rng)
        pool.tell(asked, (asked @ weights >= 33)[None] * 1.0)
        reading = read(pool, half[0])
        squares.append((reading.slopes.gradient - exact) ** 2)
        told.append(np.diagonal(reading.covariance()))
    assert np.mean(squares) < 1.25 * np.mean(told)


def noisy(players):
    """Two answers each, of which the second is another."""
    rng = np.random.default_rng(0)
    return ff.RemoteGame(lambda names: len(names) ** 2.0 + rng.normal(), players, repeats=2)


@pytest.mark.parametrize("budget", [16, 100])
def test_a_tolerance_missed_by_exact_values_of_noisy_worths_is_stated(budget):
    options = {"tolerance": 1e-6, "budget": budget}
    found = {
        "shapley": ff.shapley(noisy(4), **options),
        "banzhaf": ff.banzhaf(noisy(4), **options),
        "index": ff.variational_index(noisy(4), temperature=1.0, **options),
        "leave_one_out": ff.leave_one_out(noisy(4), **options),
        "owen": ff.owen(noisy(4), list("aabb"), **options),
        "interactions": ff.interactions(noisy(4), **options),
        **ff.compare(noisy(4), temperature=1.0, **options),
    }
    for name, each in found.items():
        assert each.stop.endswith("the tolerance was not met"), name
    steps = ff.variational_values(noisy(4), 2, temperature=1.0, **options)
    assert "whether the tolerance was met is not known" in steps.stop


def test_a_tolerance_missed_when_time_ends_before_all_worths_is_stated():
    def slow(S):
        time.sleep(0.004 * len(S))
        return np.sin(S @ np.arange(1.0, 9.0))

    game = ff.FunctionGame(slow, 8)
    for criterion in (ff.shapley, ff.banzhaf):
        found = criterion(game, budget=256, seconds=0.3, tolerance=1e-9)
        assert "before the tolerance was met" in found.stop


def test_orders_in_unions_end_where_all_their_coalitions_are_known(rng):
    """They were drawn for ever: noise, or a tolerance below what orders reach, never ended them."""
    unions = list("aaaaaaabbbbbbb")

    def worth(S):
        return np.sin(S @ np.arange(1.0, 15.0))

    found = ff.owen(worth, unions, players=14, tolerance=1e-9)
    assert found.method == "every coalition is known"
    assert_allclose(found.values, ff.owen(worth, unions, players=14).values, atol=1e-13)
    game = noisy(4)
    for found in (
        ff.owen(game, list("aabb"), tolerance=1e-6),
        ff.shapley(game, tolerance=1e-6, sampler="permutation"),
    ):
        assert "no more would help, before the tolerance was met" in found.stop
        assert (found.stderr > 0).all()


def test_a_budget_of_all_worths_is_exact_though_a_design_repeats_some():
    found = ff.banzhaf(ff.RemoteGame(lambda names: len(names) ** 2.0, 4), budget=16)
    assert found.stop.startswith("exact for these answers")


SMOOTH = {
    "by size": lambda S: np.sqrt(S.sum(axis=1)),
    "waves by size": lambda S: np.sin(S.sum(axis=1)),
    "by weight": lambda S: np.log1p(S @ np.linspace(0.5, 1.5, S.shape[1])),
}


@pytest.mark.parametrize("what", SMOOTH)
def test_a_smooth_game_is_not_confidently_wrong(what):
    """Its covariance has next to no rank: products with its inverse were off by 1e10 errors."""
    worth = SMOOTH[what]
    for criterion in (ff.shapley, ff.banzhaf):
        exact = criterion(worth, players=9).values
        found = criterion(worth, players=9, budget=200)
        gap = np.abs(found.values - exact) - 1e-9 * np.abs(exact).max()
        assert (gap <= 5 * found.stderr).all()


def test_equal_players_of_smooth_games_are_never_separated():
    options = {"tolerance": ff.separate_top(4), "budget": 300, "seed": 1}
    found = ff.shapley(SMOOTH["waves by size"], players=9, **options)
    assert "before the tolerance was met" in found.stop


def test_few_winning_coalitions_are_warned_of():
    """95 % intervals of three steps held .25 of the values where five draws had won."""

    def wins(S):
        return (S.sum(axis=1) >= 15) * 1.0

    for found in (
        ff.variational_values(wins, 3, players=20, temperature=0.1, budget=200),
        ff.variational_index(wins, players=20, temperature=0.1, budget=200),
    ):
        assert "effective draws had another one than most" in found.stop
        assert not found.converged
    often = ff.variational_values(
        lambda S: S.sum(axis=1) >= 10, 3, players=20, temperature=0.3, budget=600
    )
    assert "not to be trusted" not in often.stop


def test_noise_of_a_random_function_is_in_its_errors():
    weights = np.linspace(0.1, 1.1, 9)
    rows = np.arange(2**9)[:, None] >> np.arange(9) & 1
    exact = ff.shapley(ff.TableGame(np.sqrt(rows @ weights))).values
    for budget, seeds in (400, 2), (512, 5):
        far = []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)

            def worth(S, rng=rng):
                return np.sqrt(S @ weights) + 0.3 * rng.normal(size=len(S))

            game = ff.FunctionGame(worth, 9, random=True)
            value = ff.shapley(game, budget=budget, seed=seed)
            far.extend(np.abs(value.values - exact) / value.stderr)
        assert max(far) < 5
        assert np.mean(np.array(far) < 1.96) > 0.8  # undeclared: .4 and none


def test_values_of_noisy_worths_are_not_called_exact():
    """All worths were known, each with its noise, and what was read from them was "exact"."""
    rng = np.random.default_rng(0)
    game = ff.FunctionGame(lambda S: S.sum(axis=1) + rng.normal(size=len(S)), 4, random=True)
    for criterion in (ff.shapley, ff.banzhaf, ff.leave_one_out, ff.interactions):
        assert criterion(game).stop == "worths are known but for noise, which is in the errors"
    for criterion in (ff.free_energy_value, partial(ff.variational_values, steps=2)):
        found = criterion(game, temperature=1.0)
        assert found.stderr is None
        assert "the noise of the worths is in no errors" in found.stop
        assert "exact" not in found.stop


def test_an_async_random_function_is_called_twice():
    calls = []

    async def worth(names):
        calls.append(names)
        return len(names) + 0.1 * (-1) ** len(calls)

    found = ff.shapley(ff.FunctionGame(worth, 3, takes="names", random=True))
    assert len(calls) == 16
    assert (found.stderr > 0).all()


@pytest.mark.parametrize(("seed", "budget"), [(0, 100), (2, 100), (7, 200), (9, 200)])
def test_an_index_of_several_fixed_points_is_warned_of(seed, budget):
    """Of wild worths the index was that of another fixed point, 20 to 1000 standard errors off."""
    table = np.random.default_rng(seed).normal(size=2**8)
    game = ff.FunctionGame(lambda z: table[z @ (1 << np.arange(8))], 8)
    exact = ff.variational_index(ff.TableGame(table), temperature=0.3).values
    found = ff.variational_index(game, temperature=0.3, budget=budget, seed=seed)
    assert (np.abs(found.values - exact) > 5 * found.stderr).any()
    assert "several fixed points" in found.stop


@pytest.mark.parametrize("criterion", [ff.shapley, ff.banzhaf])
def test_one_pair_and_one_coalition_of_a_size_show_an_error(criterion):
    """Each was alone in its stratum, so that 13 of 16 worths were "explained to rounding"."""
    weights = np.array([0.3, 0.7, 1.1, 2.0])
    game = ff.FunctionGame(lambda S: np.sqrt(S @ weights), 4)
    exact = criterion(game).values
    for seed in range(4):
        v = criterion(game, budget=13, seed=seed)
        assert "rounding" not in v.stop
        assert (np.abs(v.values - exact) < 5 * v.stderr).all()
