"""Errors of the worths reach the values exactly, through the square of every weight."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import SGDClassifier

import brute
import fairfield as ff
from fairfield.evaluation.evaluator import evaluate_all
from fairfield.evaluation.options import Options
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.mean_field.stability import index_covariance
from fairfield.multilinear import size_weights as by_size
from fairfield.multilinear.choose import table_of
from fairfield.multilinear.table import TableExtension

# Tables of up to 17 and of more players are cut differently; so are odd and even counts.
PLAYERS = [1, 2, 5, 6]


def linear(read, players):
    """The coefficients (n, 2^n) of a linear reading: its answers to all unit tables."""
    return read(TableExtension.of(ff.TableGame(np.eye(2**players)))).T


def noisy(table, variances):
    return TableExtension.of(ff.TableGame(table, variances=variances))


@pytest.mark.parametrize("players", PLAYERS)
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


@pytest.mark.parametrize("prior", [None, [0.3, 0.5, 0.9, 0.6]])
def test_the_index_moves_as_its_errors_say(prior, rng):
    """dx*/dF by differences of solved indices, worth by worth."""
    n, step, variances = 4, 1e-5, rng.random(16)
    table = rng.standard_normal(16)
    moved = table + step * np.vstack([np.eye(16), -np.eye(16)])

    def solved(worths, **rest):
        return ff.variational_index(
            ff.TableGame(worths, **rest), temperature=0.7, prior=prior, decoupling=False
        )

    ends = solved(moved).values
    slopes = (ends[:16] - ends[16:]).T / (2 * step)
    assert slopes.shape == (n, 16)
    found = solved(table, variances=variances)
    assert_allclose(found.stderr, np.sqrt(slopes**2 @ variances), rtol=1e-6)


def test_at_a_critical_temperature_the_error_is_infinite():
    extension = noisy([0.0, 1.0, 1.0, 0.0], np.ones(4))
    error = index_covariance(extension, np.full(2, 0.5), np.array(0.5))
    assert np.isinf(error).all()


def test_batches_have_errors_game_by_game(rng):
    tables, variances = rng.standard_normal((3, 32)), rng.random((3, 32))
    both = ff.TableGame(tables, variances=variances)
    for criterion in (ff.shapley, ff.banzhaf, ff.variational_index):
        whole = criterion(both, temperature=2.0)
        for game in range(3):
            alone = criterion(both[game], temperature=2.0)
            assert_allclose(whole.stderr[game], alone.stderr)
            assert_array_equal(whole[game].stderr, whole.stderr[game])


@pytest.mark.parametrize("bad", [np.ones(4), -np.ones(8), np.full(8, np.nan)])
def test_bad_variances_are_told(bad):
    with pytest.raises(ValueError, match=r"one finite number from 0 on for each worth"):
        ff.TableGame(np.zeros(8), variances=bad)


@pytest.fixture
def game(rng):
    """Four groups of rows, and a model whose fits depend on chance."""
    X, X_test = rng.standard_normal((40, 3)), rng.standard_normal((60, 3))
    y, y_test = (Z @ [1, -1, 0.5] + 0.5 * Z[:, 1] ** 2 > 0 for Z in (X, X_test))
    model = SGDClassifier(max_iter=2, tol=None)
    scoring = {"hits": "accuracy", "area": "roc_auc"}
    return ff.DataGame(
        model, X, y, X_test, y_test, groups=np.arange(40) % 4, scoring=scoring, repeats=3
    )


def test_repeated_fits_become_error_bars(game, tmp_path):
    found = game.measure(brute.coalitions(4))
    worths, variances = found.worths, found.variances
    assert (variances[:, 1:] > 0).any(axis=1).all()
    found = ff.shapley(game, store=tmp_path / "worths.db")
    coefficients = linear(lambda e: e.shapley(), 4)
    assert_allclose(found.values, worths @ coefficients.T, atol=1e-14)
    assert_allclose(found.stderr**2, variances @ coefficients.T**2, atol=1e-16)
    assert "±" in repr(found[0])


def test_errors_are_stored_shared_out_and_found_again(game, tmp_path):
    store = tmp_path / "worths.db"
    here = ff.banzhaf(game, store=store, n_jobs=2)
    again = ff.banzhaf(game, store=store)
    assert (here.evaluations, again.evaluations) == (16, 0)
    assert_array_equal(again.stderr, here.stderr)
    curve = ff.removal_curve(game, here[0], store=store)
    assert curve.worths.shape == (2, 5)
    assert_array_equal(curve.worths[:, 0], here.grand)
    table, _ = evaluate_all(game, Options(store=store))
    assert table.worths.shape == table.variances.shape == (2, 16)


def test_the_errors_cover_what_other_trials_find(rng):
    """400 runs of 5 noisy trials each: z² of the values is 1 on average, within 5 of its errors."""
    truth, spread = rng.standard_normal(16), 0.1 + rng.random(16)
    trials = truth + spread * rng.standard_normal((5, 400, 16))
    runs = ff.TableGame(trials.mean(axis=0), variances=trials.var(axis=0, ddof=1) / 5)
    for criterion in (ff.shapley, ff.banzhaf):
        found, true = criterion(runs), criterion(truth)
        squares = (found.values - true.values) ** 2
        told = (found.stderr**2).mean(axis=0)
        assert (np.abs(squares.mean(axis=0) / told - 1) < 5 * np.sqrt(2 / 400)).all()


# Sums and parts of noisy games


def test_sums_of_noisy_games_add_their_variances(game, rng):
    other = ff.TableGame(rng.standard_normal((2, 16)), variances=rng.random((2, 16)))
    plain = ff.TableGame(rng.standard_normal((2, 16)))
    other.players = plain.players = game.players
    total = 2 * game - 3 * other + plain
    coalitions = brute.coalitions(4)
    variances = 4 * game.measure(coalitions).variances + 9 * other.variances
    found = ff.shapley(total)
    coefficients = linear(lambda e: e.shapley(), 4)
    assert_allclose(found.stderr**2, variances @ coefficients.T**2, atol=1e-16)
    assert_allclose(found.values, total.worths(coalitions) @ coefficients.T, atol=1e-12)


def test_a_game_has_the_same_error_wherever_it_occurs_in_a_sum(game):
    alone = ff.shapley(game)
    assert_allclose(ff.shapley((game + game) + game * -1).stderr, alone.stderr)
    assert_allclose(ff.shapley(game - game).stderr, 0)


def test_those_who_stay_keep_their_errors(game):
    staying = np.array([True, False, True, True])
    coalitions = brute.coalitions(3)
    among_all = np.insert(coalitions, 1, False, axis=1)
    measured = game.measure(among_all)
    alone = ff.shapley(ff.TableGame(measured.worths, variances=measured.variances))
    whole, _ = table_of(game, Options())
    for of in (game, whole):
        found = ff.shapley(ConditionedGame(of, outside=~staying))
        assert_allclose(found.values, alone.values, atol=1e-14)
        assert_allclose(found.stderr, alone.stderr)


def test_worths_beside_players_held_inside_keep_their_errors(game):
    held = np.array([False, True, False, False])
    part = ConditionedGame(game, held, np.zeros(4, dtype=bool))
    wanted = game.measure(np.insert(brute.coalitions(3), 1, True, axis=1))
    measured = part.measure(brute.coalitions(3))
    assert_allclose(measured.worths, wanted.worths)
    assert_allclose(measured.variances, wanted.variances)
    alone = ff.shapley(ff.TableGame(wanted.worths, variances=wanted.variances))
    assert_allclose(ff.shapley(part).stderr, alone.stderr)


def test_failures_are_reported_by_sums_and_parts(rng):
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 2

    class Fussy(SGDClassifier):
        def fit(self, X, y):
            if len(X) == 6:
                raise ArithmeticError
            return super().fit(X, y)

    def played():
        return ff.DataGame(Fussy(), X, y, X, y, groups=np.arange(12) // 3, on_error="fallback")

    for jobs in (1, 2):
        total, part = 2.0 * played(), ConditionedGame(played(), outside=np.arange(4) == 3)
        held = ConditionedGame(played(), np.arange(4) == 3, np.zeros(4, dtype=bool))
        for each, count in ((total, 6), (part, 3), (held, 3)):
            assert table_of(each, Options(n_jobs=jobs))[1].failures.count == count
            assert f"{count} worths could not be found" in ff.shapley(each, n_jobs=jobs).stop


# Leaving one out


def test_leaving_one_out_needs_few_worths_of_many_players(tmp_path):
    seen = []

    def worth(S):
        seen.append(len(S))
        return S @ np.arange(60.0) + 3 * S.all(axis=1)

    found = ff.leave_one_out(worth, players=60)
    assert_allclose(found.values, np.arange(60.0) + 3)
    assert (found.evaluations, sum(seen)) == (62, 62)
    assert (found.empty, found.grand) == (0, np.arange(60).sum() + 3)
    assert ff.leave_one_out(worth, players=60, n_jobs=2).evaluations == 62
    with pytest.raises(ValueError, match=r"needs 62 worths, the budget allows 61"):
        ff.leave_one_out(worth, players=60, budget=61)
    with pytest.raises(MemoryError, match=r"2\^60 worths"):
        ff.leave_one_out(worth, players=60, temperature=1.0)


def test_leaving_one_out_agrees_with_the_table(game, tmp_path):
    store = tmp_path / "worths.db"
    alone = ff.leave_one_out(game, store=store)
    within = ff.leave_one_out(game, store=store, temperature=1.0)
    assert (alone.evaluations, within.evaluations) == (6, 10)
    assert_array_equal(alone.values, within.values)
    assert_allclose(alone.stderr, within.stderr, rtol=1e-12)
    assert_array_equal(alone.empty, within.empty)
    assert within.marginals is not None
    both = ff.compare(game, criteria=["leave_one_out", "banzhaf"])
    assert_allclose(both["leave_one_out"].values, alone.values, atol=1e-14)
