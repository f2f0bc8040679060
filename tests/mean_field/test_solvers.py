"""The solvers: the minimal games that break naive ones, and 600 random cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

Z = brute.coalitions(3)
REDUNDANCY = Z.any(axis=1) - 0.2 * Z.sum(axis=1)
BAD_OPTIMUM = Z.all(axis=1) - 0.3 * Z.sum(axis=1)
TWO_PLAYERS = np.array([-20.0, 2.0, 2.0, 2.0])
SADDLE = np.array([0.0, 1.0, 1.0, 0.0])


def test_redundancy_converges_hot_and_cycles_cold():
    hot = ff.variational_index(REDUNDANCY, temperature=0.3, solver="synchronous")
    assert hot.converged
    assert 95 < hot.steps < 120
    cold = ff.variational_index(REDUNDANCY, temperature=0.05, solver="synchronous")
    assert "two-cycle" in cold.stop
    assert min(abs(cold.marginals[0] - 0.018), abs(cold.marginals[0] - 1)) < 1e-3
    cycling = ff.variational_index(REDUNDANCY, temperature=0.2, solver="synchronous")
    # The error of the point it is at, of the two that it alternates between.
    assert min(abs(cycling.decoupling_error - e) for e in (1.16, 1.38)) < 0.01
    law = ff.Boltzmann(REDUNDANCY, 0.2)
    assert_allclose(law.decoupling_error(cycling.marginals), cycling.decoupling_error)
    assert not cycling.converged
    assert "two-cycle" in cycling.stop
    assert "anderson" in cycling.stop
    assert min(abs(cycling.marginals[0] - 0.31), abs(cycling.marginals[0] - 0.80)) < 0.01
    found = ff.variational_index(REDUNDANCY, temperature=0.2)
    assert found.stop == "converged"
    assert_allclose(found.marginals, 0.52821, atol=5e-6)
    assert_allclose(found.decoupling_error, 0.484, atol=5e-4)


def test_redundancy_at_low_temperature_is_a_symmetric_saddle():
    found = ff.variational_index(REDUNDANCY, temperature=0.05)
    assert_allclose(found.marginals, 0.54320, atol=5e-6)
    assert_allclose(found.decoupling_error, 3.473, atol=5e-4)
    assert np.ptp(found.values) == 0
    assert "saddle" in found.stop
    assert "starts=" in found.stop
    best = ff.variational_index(REDUNDANCY, temperature=0.05, starts=8)
    assert_allclose(np.sort(best.marginals), [0.018, 0.018, 1], atol=5e-4)
    assert_allclose(best.decoupling_error, 1.081, atol=5e-4)
    assert "best of 8 starts" in best.stop


def test_two_symmetric_players_stay_equal():
    found = ff.variational_index(TWO_PLAYERS, temperature=1)
    assert_allclose(found.marginals, 0.90008, atol=5e-6)
    assert found.values[0] == found.values[1]
    assert_allclose(found.decoupling_error, 0.668, atol=5e-4)
    apart = ff.variational_index(TWO_PLAYERS, temperature=1, solver="coordinate")
    assert_allclose(apart.marginals, [0.99998, 0.50009], atol=5e-6)
    assert_allclose(apart.decoupling_error, 0.405, atol=5e-4)
    alternating = ff.variational_index(TWO_PLAYERS, temperature=1, solver="synchronous")
    assert "two-cycle" in alternating.stop


def test_a_bad_optimum_is_left_by_other_starts():
    stuck = ff.variational_index(BAD_OPTIMUM, temperature=0.05)
    assert_allclose(stuck.marginals, 0.0025, atol=5e-5)
    assert_allclose(stuck.decoupling_error, 2.12, atol=5e-3)
    up = ff.variational_index(BAD_OPTIMUM, temperature=0.05, start=0.99)
    assert_allclose(up.marginals, 1, atol=1e-5)
    assert_allclose(up.decoupling_error, 0.128, atol=5e-4)
    several = ff.variational_index(BAD_OPTIMUM, temperature=0.05, starts=3)
    assert_allclose(several.decoupling_error, up.decoupling_error, rtol=1e-6)


def test_the_middle_of_a_saddle_stays_and_is_named():
    cold = ff.variational_index(SADDLE, temperature=0.2)
    assert_allclose(cold.marginals, 0.5)
    assert "saddle" in cold.stop
    # From symmetric starts alone there is no way out, and the answer says so.
    assert "saddle" in ff.variational_index(SADDLE, temperature=0.2, starts=2).stop
    warm = ff.variational_index(SADDLE, temperature=0.6)
    assert warm.stop == "converged"
    apart = ff.variational_index(SADDLE, temperature=0.2, starts=8)
    assert np.ptp(apart.marginals) > 0.9


@pytest.mark.parametrize("family", brute.FAMILIES)
@pytest.mark.parametrize("share", [1.0, 0.2, 0.05])
def test_random_games_converge_and_starts_beat_coordinate(family, share, rng):
    tables = np.array([brute.FAMILIES[family](rng, 10) for _ in range(50)])
    temperature = share * np.ptp(tables, axis=1)
    found = ff.variational_index(tables, temperature=temperature)
    assert found.converged.all()
    assert (found.residual <= 1e-10).all()
    # The residual is what it says: the fixed-point equation at the reported marginals.
    gradient = np.array(
        [brute.gradient(t, x) for t, x in zip(tables[:5], found.marginals[:5], strict=True)]
    )
    again = 1 / (1 + np.exp(-gradient / temperature[:5, None]))
    assert_allclose(again, found.marginals[:5], atol=2e-10)
    coordinate = ff.variational_index(tables, temperature=temperature, solver="coordinate")
    several = ff.variational_index(tables, temperature=temperature, starts=8)
    assert (several.elbo >= coordinate.elbo - 1e-9 * np.abs(coordinate.elbo)).all()
    assert (several.elbo >= found.elbo - 1e-9 * np.abs(found.elbo)).all()


@pytest.mark.parametrize("temperature", [1.0, 0.1, 0.01, 1e-3, 1e-5])
def test_voting_games_converge_at_any_temperature(temperature, rng):
    """Games of 0 and 1, where whole players flip from one step to the next."""
    for n in (2, 3, 4):
        weights = rng.integers(1, 6, (100, n))
        quota = rng.integers(1, weights.sum(axis=1) + 1)
        tables = (brute.coalitions(n) @ weights.T >= quota).T.astype(float)
        found = ff.variational_index(tables, temperature=temperature)
        assert found.converged.all()
        in_turn = np.char.find(found.stops, "in turn") >= 0
        twins = (weights[:, 0] == weights[:, 1]) & ~in_turn
        assert in_turn.sum() <= (10 if temperature <= 1e-3 else 0)
        assert (found.marginals[twins, 0] == found.marginals[twins, 1]).all()


def test_the_coordinate_run_counts_among_the_starts():
    best = ff.variational_index(REDUNDANCY, temperature=0.05, starts=2)
    assert_allclose(best.decoupling_error, 1.081, atol=5e-4)


@pytest.mark.parametrize("solver", ["anderson", "coordinate", "synchronous"])
def test_every_solver_knows_the_prior(solver, rng):
    table, prior = brute.mixed(rng, 5), rng.uniform(0.1, 0.9, 5)
    found = ff.variational_index(table, temperature=9.0, prior=prior, solver=solver)
    x = found.marginals
    pull = np.log(prior / (1 - prior)) + brute.gradient(table, x) / 9.0
    assert_allclose(x, 1 / (1 + np.exp(-pull)), atol=1e-9)


def test_a_batch_is_its_games_one_by_one(rng):
    tables = np.array([brute.mixed(rng, 6) for _ in range(7)])
    together = ff.variational_index(tables, temperature=0.8)
    for i, table in enumerate(tables):
        alone = ff.variational_index(table, temperature=0.8)
        assert_allclose(together[i].values, alone.values, atol=1e-10)
        assert together[i].steps == alone.steps
        assert together[i].stop == alone.stop


def test_an_offset_of_any_size_changes_nothing(rng):
    table = brute.mixed(rng, 8)
    near = ff.variational_index(table, temperature=0.3)
    far = ff.variational_index(table + 1000, temperature=0.3)
    assert far.converged
    # In a batch, from which games drop out as they converge, each keeps its own offset.
    tables = np.array([brute.mixed(rng, 5) for _ in range(6)])
    offsets = 1e7 * np.arange(6)[:, None]
    moved = ff.variational_index(tables + offsets, temperature=0.3)
    assert_allclose(moved.values, ff.variational_index(tables, temperature=0.3).values, atol=1e-6)
    law = ff.Boltzmann(tables + offsets, 0.3)
    assert_allclose(law.elbo(moved.marginals), moved.elbo, rtol=1e-12)
    assert_allclose(
        law.decoupling_error(moved), ff.Boltzmann(tables, 0.3).decoupling_error(moved), atol=1e-6
    )
    assert_allclose(far.values, near.values, atol=1e-9)
    assert_allclose(far.decoupling_error, near.decoupling_error, atol=1e-8)


@pytest.mark.parametrize("temperature", [1e-3, 1e-6, 1e-12])
def test_very_low_temperatures_neither_overflow_nor_lie(temperature, rng):
    table = brute.mixed(rng, 8)
    found = ff.variational_index(table, temperature=temperature)
    assert np.isfinite(found.values).all()
    assert np.isfinite(found.decoupling_error)
    # At the limit the marginals are a coalition, and no player wants to move alone.
    assert_allclose(found.marginals, np.round(found.marginals), atol=1e-3)
    inside = found.marginals > 0.5
    assert ((found.values > 0) == inside).all()
    assert_allclose(found.log_z * temperature, table.max(), rtol=10 * temperature + 1e-12)
