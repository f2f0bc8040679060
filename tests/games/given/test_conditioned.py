"""Those who stay play the game they played before."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import SGDClassifier

import brute
import fairfield as ff
from fairfield.evaluation.options import Options
from fairfield.games.features.linear import LinearGame
from fairfield.games.given.conditioned import ConditionedGame
from fairfield.multilinear.choose import table_of
from noisy import linear

STAYING = np.array([True, False, True, True])
AMONG_ALL = np.insert(brute.coalitions(3), 1, False, axis=1)


@pytest.mark.parametrize("namespace", [np, strict])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_table_is_that_of_coalitions_without_the_others(namespace, batch, rng):
    table = rng.standard_normal((*batch, 16))
    part = ConditionedGame(ff.TableGame(namespace.asarray(table)), outside=~STAYING)
    wanted = table[..., AMONG_ALL @ [1, 2, 4, 8]]
    assert_array_equal(np.asarray(part.table()), wanted)
    assert_array_equal(part.worths(brute.coalitions(3)), wanted)


def test_a_closed_form_of_a_batch_is_that_of_its_table(rng):
    from sklearn.linear_model import LinearRegression

    X = rng.standard_normal((20, 4))
    whole = LinearGame(LinearRegression().fit(X, X @ [1.0, 2.0, 3.0, 4.0]), X[:3], X)
    part = ConditionedGame(whole, outside=~STAYING)
    table = ff.TableGame(whole.worths(AMONG_ALL), part.players)
    for criterion in (ff.shapley, ff.variational_index):
        found, wanted = criterion(part, temperature=1.0), criterion(table, temperature=1.0)
        assert_allclose(found.values, wanted.values, atol=1e-10)
    assert_allclose(part.extension().rows(np.array([2])).value(np.ones(3)), table.table()[2:, -1])


def test_what_is_known_of_the_players_goes_with_them(rng):
    rows, others = rng.standard_normal((2, 4)), rng.standard_normal((5, 4))
    others[:, 2] = rows[1, 2] = rows[0, 2]
    whole = ff.FeatureGame(lambda X: X.prod(axis=1), rows, others)
    for game, staying in (
        (ConditionedGame(whole, outside=~STAYING), STAYING),
        (whole * 2.0, slice(None)),
    ):
        assert_array_equal(game.traits.nulls, whole.traits.nulls[:, staying])
        assert_array_equal(game.info.data, rows[:, staying])
    mixed = whole + ff.FeatureGame(lambda X: X.sum(axis=1), rows, rng.standard_normal((5, 4)))
    assert not mixed.traits.nulls.any()


def with_rows(found, measured):
    """The errors of Shapley's values of three players, with those over the test rows of their worths."""
    coefficients = linear(lambda extension: extension.shapley(), 3)
    rows = [
        np.var(coefficients @ each, axis=1, ddof=1) / each.shape[-1] for each in measured.by_row
    ]
    return np.sqrt(found.stderr**2 + rows)


def test_those_who_stay_keep_their_errors(noisy_game):
    staying = np.array([True, False, True, True])
    coalitions = brute.coalitions(3)
    among_all = np.insert(coalitions, 1, False, axis=1)
    measured = noisy_game.measure(among_all)
    alone = ff.shapley(ff.TableGame(measured.worths, variances=measured.variances))
    whole, _ = table_of(noisy_game, Options())
    for of, errors in ((noisy_game, with_rows(alone, measured)), (whole, alone.stderr)):
        found = ff.shapley(ConditionedGame(of, outside=~staying))
        assert_allclose(found.values, alone.values, atol=1e-14)
        assert_allclose(found.stderr, errors)


def test_worths_beside_players_held_inside_keep_their_errors(noisy_game):
    held = np.array([False, True, False, False])
    part = ConditionedGame(noisy_game, held, np.zeros(4, dtype=bool))
    wanted = noisy_game.measure(np.insert(brute.coalitions(3), 1, True, axis=1))
    measured = part.measure(brute.coalitions(3))
    assert_allclose(measured.worths, wanted.worths)
    assert_allclose(measured.variances, wanted.variances)
    alone = ff.shapley(ff.TableGame(wanted.worths, variances=wanted.variances))
    assert_allclose(ff.shapley(part).stderr, with_rows(alone, wanted))


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
