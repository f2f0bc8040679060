"""The stops of the temperature slider."""

from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.reports.summarise import summarise


def test_the_slider_has_the_path_and_the_own_temperature_in_order(game):
    path = ff.annealing(game)
    found = ff.compare(game, temperature=0.123)
    summary = summarise(found, annealing=path)["temperatures"]
    temperatures = [stop["temperature"][0] for stop in summary["stops"]]
    assert temperatures == sorted(temperatures)
    assert len(temperatures) == 22
    assert temperatures[summary["own"]] == 0.123
    assert summary["stops"][summary["own"]]["criteria"] == {}
    coldest = summary["stops"][0]["criteria"]
    assert_allclose(coldest["variational_index"]["values"][0], path.values()[-1], rtol=1e-6)
    assert_allclose(coldest["shapley"]["marginals"][0], path.marginals("shapley")[-1], rtol=1e-6)
    assert coldest["shapley"]["values"] is None  # no temperature moves them
    assert coldest["banzhaf"]["decoupling_error"] == [path.decoupling_errors("banzhaf")[-1]]


def test_the_own_temperature_is_not_doubled(game):
    summary = summarise(ff.compare(game), annealing=ff.annealing(game))["temperatures"]
    assert len(summary["stops"]) == 21
    assert summary["own"] == 10
