"""The exact extension of a table equals its definition, for every shape of question."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield import TableGame
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear import worth_matrix as matrix
from fairfield.multilinear.table import TableExtension
from noisy import linear, noisy

PLAYERS = range(1, 13)


def extension(worths):
    return TableExtension.of(TableGame(worths))


def close(found, wanted, scale):
    assert_allclose(found, wanted, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("n", PLAYERS)
def test_value_gradient_and_hessian_are_their_definitions(n, rng):
    worths = rng.standard_normal(2**n)
    x = rng.random(n)
    x[rng.integers(n)] = 0.0
    x[rng.integers(n)] = 1.0
    f = extension(worths)
    scale = np.abs(worths).max() * 2
    close(f.value(x), brute.value(worths, x), scale)
    close(f.gradient(x), brute.gradient(worths, x), scale)
    close(f.hessian(x), brute.hessian(worths, x), 2 * scale)
    value, gradient = f.centred(x)
    close(value + f.offset, f.value(x), scale)
    close(gradient, f.gradient(x), scale)


@pytest.mark.parametrize("n", [3, 6, 9])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_any_derivative_is_its_definition(n, order, rng):
    worths, x = rng.standard_normal(2**n), rng.random(n)
    chosen = rng.choice(n, order, replace=False).tolist()
    close(extension(worths).derivative(chosen, x), brute.derivative(worths, chosen, x), 20)


def test_many_points_and_many_games_have_leading_axes(rng):
    worths, points = rng.standard_normal((2, 3, 2**5)), rng.random((4, 2, 3, 5))
    f = extension(worths)
    assert f.gradient(points).shape == (4, 2, 3, 5)
    assert f.hessian(points).shape == (4, 2, 3, 5, 5)
    for i in np.ndindex(4, 2, 3):
        close(f.gradient(points)[i], brute.gradient(worths[i[1:]], points[i]), 4)
        close(f.value(points)[i], brute.value(worths[i[1:]], points[i]), 4)
    shared = rng.random(5)
    for i in np.ndindex(2, 3):
        close(f.gradient(shared)[i], brute.gradient(worths[i], shared), 4)
    single = extension(worths[0, 0])
    close(single.gradient(points)[1, 1, 2], brute.gradient(worths[0, 0], points[1, 1, 2]), 4)


def test_blocks_do_not_change_the_answer(rng, monkeypatch):
    worths, x = rng.standard_normal((3, 2**10)), rng.random((3, 10))
    whole = extension(worths)
    weights = rng.random(10)
    wanted = (
        whole.gradient(x),
        whole.hessian(x),
        by_size.semivalue(whole, weights),
        by_size.pair_semivalue(whole, weights[1:]),
        whole.log_sums(np.full(3, 2.0)),
    )
    monkeypatch.setattr(matrix, "BLOCK", 2**7)
    monkeypatch.setattr(matrix, "CACHED", 2**6)
    split = extension(worths)
    found = (
        split.gradient(x),
        split.hessian(x),
        by_size.semivalue(split, weights),
        by_size.pair_semivalue(split, weights[1:]),
        split.log_sums(np.full(3, 2.0)),
    )
    for one, other in zip(found, wanted, strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-11)


def test_one_sweep_updates_players_in_turn(rng):
    worths, start = rng.standard_normal(2**7), rng.random(7)
    at = start.copy()
    for i in range(7):
        at[i] = 1 / (1 + np.exp(-brute.derivative(worths, [i], at)))
    moved = extension(worths).sweep(start, lambda i, slope: 1 / (1 + np.exp(-slope)))
    close(moved, at, 1)


def test_second_differences_are_extremes_over_coalitions(rng):
    worths = rng.standard_normal(2**5)
    least, largest = extension(worths).second_differences()
    corners = brute.coalitions(5).astype(float)
    every = np.array([brute.hessian(worths, corner) for corner in corners])
    close(least, every.min(axis=0), 8)
    close(largest, every.max(axis=0), 8)


@given(arrays(float, 2**6, elements=st.floats(-1, 1)), st.floats(-1e9, 1e9))
@settings(max_examples=50, deadline=None)
def test_an_offset_changes_no_derivative(worths, offset):
    """Up to what the offset itself did to the worths as they were stored."""
    moved = worths + offset
    stored = moved - offset
    x = np.linspace(0.1, 0.9, 6)
    # The shift is taken out in the pass, so only the storage of F + c costs digits.
    room = 1e-13 + 4 * np.abs(stored - worths).max() + 2e-16 * abs(offset)
    assert_allclose(extension(moved).gradient(x), extension(worths).gradient(x), atol=room * 64)


def test_a_large_offset_costs_no_digits_beyond_storage(rng):
    # Multiples of 2^-20 are stored exactly beside an offset of 2^30.
    worths = np.round(rng.standard_normal(2**8) * 2**20) / 2**20
    x = rng.random(8)
    far, near = extension(worths + 2.0**30), extension(worths)
    assert_allclose(far.gradient(x), near.gradient(x), atol=1e-13)
    assert_allclose(far.shapley(), near.shapley(), atol=1e-13)
    assert_allclose(far.centred(x)[0] + far.offset - 2.0**30, near.value(x), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_tables_of_any_real_type_are_summed_in_double(dtype, rng):
    worths = (rng.standard_normal(2**9) * 3).astype(dtype)
    x = rng.random(9)
    close(extension(worths).gradient(x), brute.gradient(worths.astype(float), x), 10)


def test_a_float32_table_is_not_converted_as_a_whole(rng):
    worths = rng.standard_normal(2**6).astype(np.float32)
    game = TableGame(worths)
    assert game.worth_table is worths
    assert np.shares_memory(TableExtension.of(game).matrix.entries, worths)


def test_wrong_points_are_refused(rng):
    f = extension(rng.standard_normal((2, 8)))
    with pytest.raises(ValueError, match="for 3 players"):
        f.gradient([0.5, 0.5])
    with pytest.raises(ValueError, match="do not match a batch"):
        f.gradient(np.full((3, 3), 0.5))


@pytest.mark.parametrize("chosen", [slice(1, 3), np.array([2, 0])])
def test_a_lift_goes_with_its_games(chosen, rng):
    """Each game is read at its own rate, in a batch or out of it."""
    table, rate = rng.standard_normal((3, 16)), np.array([1.0, 10.0, 100.0])
    lifted = TableExtension.of(TableGame(table)).lifted(np.zeros(3), rate, lambda xp, F: xp.exp(F))
    x = rng.random(4)
    some = lifted.rows(chosen)
    assert_allclose(some.value(x), lifted.value(x)[chosen])
    assert_allclose(some.gradient(x), lifted.gradient(x)[chosen])


# Tables of up to 17 and of more players are cut differently; so are odd and even counts.
@pytest.mark.parametrize("players", [1, 2, 5, 6])
def test_covariances_are_sums_over_all_coalitions(players, rng):
    variances = rng.random(2**players)
    extension = noisy(rng.standard_normal(2**players), variances)
    x = rng.random(players)
    weights = rng.random(players)
    readings = [
        (lambda e: e.gradient(x), extension.gradient_covariance(x)),
        (lambda e: e.shapley(), extension.shapley_covariance()),
        (
            lambda e: by_size.semivalue(e, weights),
            by_size.semivalue_covariance(extension, weights),
        ),
    ]
    for read, found in readings:
        coefficients = linear(read, players)
        assert_allclose(found, (coefficients * variances) @ coefficients.T, atol=1e-14)


def test_large_tables_are_cut_otherwise(rng):
    """Beyond 17 players halves are equal and blocks several; the sums stay the same."""
    n = 18
    variances = np.zeros(2**n)
    variances[[0, 5, 2**n - 1]] = 1.0, 2.0, 3.0
    extension = noisy(np.zeros(2**n), variances)
    some = ff.shapley(ff.TableGame(np.zeros(2**n), variances=variances)).stderr
    coefficients = np.array([extension_of_unit(row, n).shapley() for row in (0, 5, 2**n - 1)]).T
    assert_allclose(some**2, coefficients**2 @ [1.0, 2.0, 3.0])
    x = rng.random(n)
    slopes = np.array([extension_of_unit(row, n).gradient(x) for row in (0, 5, 2**n - 1)]).T
    assert_allclose(
        extension.gradient_covariance(x), (slopes * [1.0, 2.0, 3.0]) @ slopes.T, atol=1e-14
    )


def extension_of_unit(row, players):
    table = np.zeros(2**players)
    table[row] = 1.0
    return TableExtension.of(ff.TableGame(table))


def test_equal_variances_are_not_centred_away():
    found = ff.banzhaf(ff.TableGame(np.arange(8.0), variances=np.full(8, 4.0)))
    assert_allclose(found.stderr, np.sqrt(8 * 4 / 16))
    assert "estimated worths" in found.method
    assert ff.banzhaf(ff.TableGame(np.arange(8.0))).stderr is None


def test_batches_have_errors_game_by_game(rng):
    tables, variances = rng.standard_normal((3, 32)), rng.random((3, 32))
    both = ff.TableGame(tables, variances=variances)
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        whole = criterion(both, temperature=2.0)
        for game in range(3):
            alone = criterion(both[game], temperature=2.0)
            assert_allclose(whole.stderr[game], alone.stderr)
            assert_array_equal(whole[game].stderr, whole.stderr[game])


def test_the_errors_cover_what_other_trials_find(rng):
    """400 runs of 5 noisy trials each: z² of the values is 1 on average, within 5 of its errors."""
    truth, spread = rng.standard_normal(16), 0.1 + rng.random(16)
    trials = truth + spread * rng.standard_normal((5, 400, 16))
    runs = ff.TableGame(trials.mean(axis=0), variances=trials.var(axis=0, ddof=1) / 5)
    for criterion in (ff.shapley, ff.banzhaf):
        found, true = criterion(runs), criterion(truth)
        squares = (found.values - true.values) ** 2
        stated = (found.stderr**2).mean(axis=0)
        assert (np.abs(squares.mean(axis=0) / stated - 1) < 5 * np.sqrt(2 / 400)).all()
