"""Those who stay play the game they played before."""

import array_api_strict as strict
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.games.features.linear import LinearGame
from fairfield.games.given.conditioned import ConditionedGame

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
