"""From the values of a criterion to a valuation: what the temperature, a prior and errors add."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.assemble import assemble, assemble_gradient, marginals, presentation, write
from fairfield.core.game import GameInfo, Traits
from fairfield.problem import resolve


def test_without_a_temperature_there_are_values_and_ends(rng):
    table = brute.mixed(rng, 4)
    found = assemble(resolve(table), "mine", np.arange(4.0))
    assert found.criterion == "mine"
    assert_array_equal(found.values, np.arange(4.0))
    assert (found.empty, found.grand) == (table[0], table[-1])
    assert found.stop == "exact"
    for name in ("marginals", "temperature", "elbo", "log_z", "stderr", "prior"):
        assert getattr(found, name) is None, name


def test_a_temperature_adds_marginals_and_the_decoupling_error(rng):
    table = brute.mixed(rng, 4)
    values = np.array([1.0, -2.0, 0.0, 0.5])
    found = assemble(resolve(table, temperature=0.5), "mine", values)
    assert_allclose(found.marginals, 1 / (1 + np.exp(-values / 0.5)))
    law = ff.Boltzmann(table, 0.5)
    assert_allclose(found.log_z, law.log_z)
    assert_allclose(found.decoupling_error, law.decoupling_error(found.marginals), rtol=1e-9)
    plain = assemble(resolve(table, None, 0.5, {"decoupling": False}), "mine", values)
    assert plain.elbo is None
    assert_array_equal(plain.marginals, found.marginals)


def test_a_closed_form_has_log_z_only_on_request():
    game = ff.PairwiseGame(np.ones(3), np.zeros((3, 3)))
    found = assemble(resolve(game, temperature=1.0), "mine", np.ones(3))
    assert found.elbo is not None
    assert found.log_z is None


def test_what_rounding_leaves_of_a_null_player_is_nothing():
    game = ff.TableGame(np.array([0.0, 1.0, 0.0, 1.0]))
    game.traits = Traits(nulls=np.array([False, True]))
    problem = resolve(game)
    assert_array_equal(assemble(problem, "mine", np.array([1.0, 1e-16])).values, [1.0, 0.0])
    # What is more than rounding is shown.
    assert_array_equal(assemble(problem, "mine", np.array([1.0, 1e-6])).values, [1.0, 1e-6])


def test_the_gradient_where_all_join_alike(rng):
    table = brute.mixed(rng, 5)
    found = assemble_gradient(resolve(table), "half", 0.5)
    assert_allclose(found.values, brute.banzhaf(table), atol=1e-12)


def test_errors_are_the_roots_of_variances_never_below_zero():
    problem = resolve(np.array([0.0, 1.0, 1.0, 3.0]))
    covariance = np.array([[4.0, 0.0], [0.0, -1e-20]])
    found = write(problem, "mine", np.ones(2), covariance, method="by hand")
    assert_array_equal(found.stderr, [2.0, 0.0])
    assert found.covariance is covariance
    assert found.method == "by hand"
    assert found.seed == 0
    assert found.seconds >= 0


def test_estimates_settle_a_relative_temperature_by_banzhaf_values():
    problem = resolve(lambda S: S.sum(axis=1), 12, ff.relative(2), {"budget": 100})
    values = np.full(12, 3.0)
    assert marginals(problem, values) == {}
    found = marginals(problem, values, banzhaf=True)
    assert found["temperature"] == pytest.approx(6.0)
    assert_allclose(found["marginals"], 1 / (1 + np.exp(-0.5)))


def test_a_valuation_shows_what_its_game_is():
    game = ff.TableGame(np.zeros((2, 4)))
    game.info = GameInfo(labels=("a", "b"), noun="feature")
    shown = presentation(game)
    assert shown["game"] == repr(game)
    assert shown["labels"] == ("a", "b")
    assert shown["words"].noun == "feature"
