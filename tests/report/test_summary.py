"""What a report says: plain data first, then its forms."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff
from fairfield.report import layout
from fairfield.report.page import embedded, html
from fairfield.report.plain import csv_lines, text
from fairfield.report.summarise import summarise

NASTY = ["<script>alert(1)</script>", "</script><!--", 'say "hi", twice', "ann"]


@pytest.fixture
def game(rng):
    return ff.TableGame(rng.standard_normal(16), players=NASTY)


@pytest.fixture
def batch(rng):
    return ff.TableGame(rng.standard_normal((3, 16)), players=NASTY)


def test_numbers_are_those_of_the_comparison(game):
    found = ff.compare(game, temperature=0.5)
    told = summarise(found)
    assert told["players"] == NASTY
    for each in told["criteria"]:
        v = found[each["name"]]
        assert each["values"] == [v.values.tolist()]
        assert each["marginals"] == [v.marginals.tolist()]
        assert each["decoupling_error"] == [v.decoupling_error]
        assert (each["empty"], each["grand"]) == ([v.empty], [v.grand])
        assert each["stop"] == v.stop
    assert told["about"]["temperature"] == [0.5]
    assert told["warnings"] == []


def test_a_batch_starts_with_its_mean(batch):
    found = ff.compare(batch)
    told = summarise(found, interactions=ff.interactions(batch))
    assert told["rows"] == ["mean of 3 rows", "row 0", "row 1", "row 2"]
    shapley = next(each for each in told["criteria"] if each["name"] == "shapley")
    values = found["shapley"].values
    assert_array_equal(shapley["values"][1:], values)
    assert_allclose(shapley["values"][0], values.mean(axis=0))
    assert_allclose(shapley["magnitude"], np.abs(values).mean(axis=0))
    matrix = ff.interactions(batch).matrix()
    assert_allclose(told["interactions"]["matrix"][0], matrix.mean(axis=0), rtol=1e-5, atol=1e-12)
    assert_allclose(told["interactions"]["matrix"][2], matrix[1], rtol=1e-5)


def test_the_slider_has_the_path_and_the_own_temperature_in_order(game):
    path = ff.annealing(game)
    found = ff.compare(game, temperature=0.123)
    told = summarise(found, annealing=path)["temperatures"]
    temperatures = [stop["temperature"][0] for stop in told["stops"]]
    assert temperatures == sorted(temperatures)
    assert len(temperatures) == 22
    assert temperatures[told["own"]] == 0.123
    assert told["stops"][told["own"]]["criteria"] == {}
    coldest = told["stops"][0]["criteria"]
    assert_allclose(coldest["variational_index"]["values"][0], path.values()[-1], rtol=1e-6)
    assert_allclose(coldest["shapley"]["marginals"][0], path.marginals("shapley")[-1], rtol=1e-6)
    assert coldest["shapley"]["values"] is None  # no temperature moves them
    assert coldest["banzhaf"]["decoupling_error"] == [path.decoupling_errors("banzhaf")[-1]]


def test_the_own_temperature_is_not_doubled(game):
    told = summarise(ff.compare(game), annealing=ff.annealing(game))["temperatures"]
    assert len(told["stops"]) == 21
    assert told["own"] == 10


def test_trajectories_curves_and_larger_coalitions(game):
    def eight(problem):
        return ff.variational_values(problem, 8)

    found = ff.compare(game, criteria=["shapley", eight], temperature=1.0)
    curve = ff.removal_curve(game, found["shapley"])
    triples = ff.interactions(game, order=3)
    told = summarise(found, curves=curve, interactions=triples)
    (steps,) = told["trajectories"]
    assert steps["criterion"] == "variational_values(8)"
    assert np.shape(steps["marginals"]) == (9, 1, 4)
    assert told["curves"][0]["worths"] == curve.worths.tolist()
    strongest, value = triples.top(1)[0]
    assert told["interactions"]["strongest"][0] == [list(strongest), value]


def test_estimates_have_their_own_evaluations_and_exact_values_share_theirs(game):
    found = ff.compare(game, temperature=1.0)
    valued = {name: replace(v, evaluations=16) for name, v in found.items()}
    assert summarise(ff.Comparison(valued))["about"]["evaluations"] == 16
    estimated = {name: replace(v, stderr=np.full(4, 0.1)) for name, v in valued.items()}
    assert summarise(ff.Comparison(estimated))["about"]["evaluations"] == 48


def test_what_did_not_settle_is_warned_of():
    def redundancy(coalitions):
        return coalitions.any(axis=1) - 0.2 * coalitions.sum(axis=1)

    cycling = ff.variational_index(redundancy, players=3, temperature=0.2, solver="synchronous")
    (warning,) = summarise(cycling)["warnings"]
    assert warning.startswith("Variational index did not settle: ")


def test_a_page_keeps_the_largest_of_many_players_and_says_so():
    game = ff.PairwiseGame(np.arange(50.0) - 10, np.zeros((50, 50)))
    found = ff.shapley(game)
    told = summarise(found, most_players=10)
    assert told["players"] == [str(i) for i in range(40, 50)]
    assert "10 of 50 players" in told["warnings"][0]
    assert len(summarise(found)["players"]) == 50


def test_a_long_batch_keeps_its_first_rows_and_the_mean_of_all(batch, monkeypatch):
    monkeypatch.setattr(layout, "MOST_NUMBERS", 16)
    found = ff.shapley(batch, temperature=1.0)
    told = summarise(found, most_players=4)
    assert told["rows"] == ["mean of 3 rows", "row 0", "row 1"]
    assert_allclose(told["criteria"][0]["values"][0], found.values.mean(axis=0))
    assert "first 2 of 3 rows" in told["warnings"][0]
    assert len(csv_lines(summarise(found))) == 1 + 3 * 4  # files for programs lose nothing


def test_results_of_different_games_are_refused(game, batch):
    other = ff.TableGame([0, 1, 1, 3])
    with pytest.raises(ValueError, match="annealing= is of TableGame: 2 players"):
        summarise(ff.compare(game), annealing=ff.annealing(other))
    with pytest.raises(ValueError, match="interactions= are of TableGame: 2 players"):
        summarise(ff.compare(game), interactions=ff.interactions(other))
    with pytest.raises(ValueError, match="results of one game"):
        summarise(ff.compare(game), annealing=ff.annealing(batch))
    with pytest.raises(ValueError, match="at least one criterion"):
        summarise(ff.Comparison({}))


def test_the_ending_picks_the_form(game, tmp_path):
    found = ff.compare(game, temperature=1.0)
    path = ff.report(found, tmp_path / "new folder" / "values.json")
    assert json.loads(path.read_text(encoding="utf-8")) == summarise(found)
    table = list(csv.reader(io.StringIO(ff.report(found, tmp_path / "v.csv").read_text())))
    assert [line[0] for line in table[1:]] == NASTY
    assert float(table[1][1]) == found["variational_index"].values[0]
    with pytest.raises(ValueError, match=r"'v.xlsx'; end the name in .html"):
        ff.report(found, tmp_path / "v.xlsx")


def test_games_are_to_be_compared_before_they_are_reported(game, tmp_path):
    for given in (game, [0, 1, 1, 5]):
        with pytest.raises(TypeError, match=r"was given; give ff\.compare\(game\)"):
            ff.report(given, tmp_path / "g.html")


def test_text_shows_errors_where_there_are_some(game):
    v = ff.shapley(game, temperature=1.0)
    told = text(summarise(replace(v, stderr=np.full(4, 0.1))))
    assert told.count(" ± 0.2\n") == 4
    assert "± is half the width of a 95 % interval" in told
    assert "±" not in text(summarise(v))


def test_text_names_players_and_how_it_was_found(game):
    told = text(summarise(ff.compare(game, temperature=1.0)))
    assert all(name in told for name in NASTY)
    assert "temperature 1, " in told
    assert "Shapley: exact" in told


def test_csv_of_a_batch_has_every_row_and_no_mean(batch):
    lines = csv_lines(summarise(ff.compare(batch, criteria=["shapley"])))
    assert lines[0] == ["row", "player", "shapley", "shapley marginal"]
    assert [line[0] for line in lines[1:]] == ["0"] * 4 + ["1"] * 4 + ["2"] * 4


def test_names_cannot_leave_the_data(game):
    pytest.importorskip("plotly")
    page = html(summarise(ff.compare(game)))
    assert "alert(1)</script>" not in page
    assert "<!--" not in page
    (held,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert json.loads(held)["players"] == NASTY
    assert json.loads(embedded(NASTY)) == NASTY


def test_nothing_in_the_page_points_elsewhere(game):
    pytest.importorskip("plotly")
    page = html(summarise(ff.compare(game)))
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "default-src 'none'" in page
    assert "unsafe-eval" not in page
