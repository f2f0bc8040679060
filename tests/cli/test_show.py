"""Values in the terminal and in files."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import page_data, read

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")


def test_quiet_says_nothing(run, worths):
    result = run("game", worths, "--quiet", "--csv", "values.csv")
    assert result.output == ""
    assert read("values.csv")


def test_a_report_with_all_its_parts(run, people):
    pytest.importorskip("plotly")
    run("data", people, "--target", "label", "--groups", "vendor", "--report", "page.html")
    held = page_data("page.html")
    assert held["players"] == ["x", "y", "z"]
    assert len(held["temperatures"]["stops"]) == 21
    assert held["interactions"]["players"] == ["x", "y", "z"]
    assert len(held["curves"]) == 3


def test_the_terminal_says_what_not_to_trust(run, people):
    asked = ["data", people, "--target", "label", "--criterion", "shapley", "--clusters"]
    result = run(*asked, "9", "--budget", "30")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "Shapley: used the budget of 30 coalitions; " in said
    assert "not to be trusted" in said
    assert "Shapley:" not in run(*asked, "3").stdout


@pytest.fixture
def wide(tmp_path, rng):
    """A model of 30 columns without a closed form, and rows of its table."""
    joblib = pytest.importorskip("joblib")
    from sklearn.neighbors import KNeighborsRegressor

    table = pd.DataFrame(rng.normal(size=(20, 30)), columns=[f"c{i}" for i in range(30)])
    joblib.dump(KNeighborsRegressor(2).fit(table, table["c0"]), tmp_path / "m.joblib")
    table.to_csv(tmp_path / "wide.csv", index=False)
    return ["features", tmp_path / "m.joblib", tmp_path / "wide.csv", "--trust-pickle",
            "--background", "3", "--criterion", "shapley"]  # fmt: skip


def test_means_of_estimates_have_error_bars(run, wide):
    result = run(*wide, "--rows", "0:8", "--budget", "80", "--json", "v.json")
    assert result.exit_code == 0, result.output
    assert "±" in result.stdout
    errors = json.loads(Path("v.json").read_text(encoding="utf-8"))["criteria"][0]["stderr"]
    assert_allclose(errors[0], np.mean(errors[1:], axis=0))


def test_the_terminal_does_not_say_what_a_page_leaves_out(run, wide, monkeypatch):
    from fairfield.reports import layout

    monkeypatch.setattr(layout, "MOST_NUMBERS", 60)
    result = run(*wide, "--rows", "0:8", "--budget", "80", "--json", "v.json")
    assert "mean of 8 rows" in result.stdout
    assert "can be picked" not in result.stdout
    assert len(json.loads(Path("v.json").read_text(encoding="utf-8"))["rows"]) == 9


def test_too_many_players_are_a_sentence(run, wide):
    result = run(*wide, "--rows", "0")
    assert result.exit_code == 2
    assert "or give a --budget of worths to evaluate" in result.stderr


@pytest.mark.parametrize(
    ("command", "more", "why"),
    [
        # Of nearest neighbours, the curves of a page need some worths.
        (["data", "people.csv", "--target", "label", "--model", "knn", "--clusters", "0"],
         ["--report", "page.html"], "has a closed form, which needs no worths; none were kept"),
        (["data", "people.csv", "--target", "label", "--model", "knn", "--clusters", "0"],
         [], "has a closed form, which needs no worths; none were kept"),
        (["game", "w.csv"],
         ["--report", "page.html"], "has all its worths already; none were kept"),
    ],
    ids=["neighbours", "neighbours without a page", "table"],
)  # fmt: skip
def test_a_store_that_is_not_used_is_reported(run, people, command, more, why):
    Path("w.csv").write_text("coalition,worth\n,0\na,1\nb,1\na+b,5\n")
    result = run(*command, "--store", "kept.db", "--quiet", *more)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("warning: --store 'kept.db' is left as it was: ")
    assert why in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("kept.db").exists()


def test_curves_of_a_report_fit_nothing_again(run, people, monkeypatch):
    measured, fits = ff.DataGame.measure, []

    def counted(game, coalitions):
        fits.append(len(coalitions))
        return measured(game, coalitions)

    monkeypatch.setattr(ff.DataGame, "measure", counted)
    result = run("data", people, "--target", "label", "--groups", "vendor", "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert sum(fits) == 8
    held = page_data("r.html")
    assert len(held["curves"]) == 3
    empty, grand = (held["criteria"][0][end][0] for end in ("empty", "grand"))
    for curve in held["curves"]:
        assert [curve["worths"][0], curve["worths"][-1]] == [grand, empty]
