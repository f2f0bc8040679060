"""The criteria as the temperature falls."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import brute
import fairfield as ff


def test_annealing_runs_from_banzhaf_to_zero_or_one(rng):
    table = brute.supermodular(rng, 5)
    path = ff.annealing(table, temperatures=[0.01, 100.0, 1.0])
    assert_allclose(path.temperatures, [100.0, 1.0, 0.01])
    assert path.values().shape == (3, 5)
    assert_allclose(path.values()[0], brute.banzhaf(table), atol=0.05)
    assert_allclose(path.marginals()[-1], np.round(path.marginals()[-1]), atol=1e-3)
    assert (path.decoupling_errors() >= 0).all()
    assert (path.decoupling_errors() <= path.decoupling_errors("shapley") + 1e-9).all()
    assert "temperature" in repr(path)
    default = ff.annealing(table)
    assert len(default.temperatures) == 21
    assert (np.diff(default.temperatures) < 0).all()
    pytest.importorskip("pandas")
    assert path.to_frame().shape == (15, 3)


def test_annealing_follows_one_answer_down(rng):
    """Each temperature starts from the answer above it, not from ½ again."""
    table = brute.mixed(np.random.default_rng(22), 4)
    path = ff.annealing(table, temperatures=[3.0, 1.0, 0.5, 0.2, 0.1], criteria="variational_index")
    fresh = ff.variational_index(table, temperature=0.1)
    assert np.abs(path.marginals()[-1] - fresh.marginals).max() > 0.5
    followed = ff.variational_index(table, temperature=0.1, start=path.marginals()[-2])
    assert_allclose(path.marginals()[-1], followed.marginals, atol=1e-9)


# All or nobody: below T = 1 the index has a maximum near each, and a saddle at ½.
TOGETHER = [0.0, -2.0, -2.0, 0.0]


def test_every_index_starts_where_it_says_and_is_followed_by_itself():
    criteria = {
        "high": partial(ff.variational_index, start=0.9),
        "low": partial(ff.variational_index, start=0.1),
    }
    path = ff.annealing(TOGETHER, [0.4, 0.5], criteria=criteria)
    assert [list(each) for each in path.comparisons] == [["high", "low"]] * 2
    for name, start in (("high", 0.9), ("low", 0.1)):
        alone = ff.variational_index(TOGETHER, temperature=0.5, start=start)
        assert_allclose(path.marginals(name)[0], alone.marginals, atol=1e-9)
    assert (path.marginals("high") > 0.9).all()
    assert (path.marginals("low") < 0.1).all()
    assert path.critical == ()  # of which of the two?


def test_labels_are_those_of_the_mapping():
    path = ff.annealing(
        TOGETHER, [2.0, 1.5], criteria={"mine": "variational_index", "b": "banzhaf"}
    )
    assert path.values("mine").shape == path.values("b").shape == (2, 2)
    assert "decoupling error, mine" in repr(path)


def test_an_index_at_a_temperature_of_its_own_is_not_followed():
    fixed = partial(ff.variational_index, temperature=0.5, start=0.9)
    path = ff.annealing(TOGETHER, [3.0, 2.0], criteria={"fixed": fixed})
    assert_allclose(path.marginals("fixed")[0], path.marginals("fixed")[1], atol=1e-9)
    assert path.critical == ()


def test_critical_temperatures_are_those_of_the_prior():
    """x = σ(logit π + (1-2x)/T) splits where T = 2x(1-x)."""
    log_odds = np.log(0.3 / 0.7)
    at = brentq(
        lambda x: np.log(x / (1 - x)) - log_odds - (1 - 2 * x) / (2 * x * (1 - x)), 0.3, 0.5
    )
    index = partial(ff.variational_index, prior=0.3)
    path = ff.annealing([0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.6, 0.4, 0.2], criteria=[index])
    assert_allclose(path.critical, [2 * at * (1 - at)], rtol=1e-5)


class CountedPairs(ff.PairwiseGame):
    """A closed form that counts the worths it is asked for."""

    asked = 0

    def worths(self, coalitions):
        self.asked += len(coalitions)
        return super().worths(coalitions)


def test_the_table_of_a_closed_form_is_evaluated_once_for_all_temperatures():
    game = CountedPairs(np.array([1.0, -0.5, 0.3]), np.zeros((3, 3)))
    path = ff.annealing(game, criteria=["free_energy_value"])
    assert len(path.temperatures) == 21
    assert game.asked == 2**3
