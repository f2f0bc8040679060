"""The options of every command."""

import json
from pathlib import Path

import pytest

import fairfield as ff
from command_line import refused

pytest.importorskip("typer")
from fairfield.cli.options import EvaluationOptions  # needs typer


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--criterion", "shapley"], ["shapley"]),
        (
            ["--criterion", "leave-one-out,free_energy_value"],
            ["leave_one_out", "free_energy_value"],
        ),
        (
            ["--criterion", "banzhaf", "--criterion", "all"],
            ["banzhaf", "variational_index", "shapley"],
        ),
        ([], ["variational_index", "banzhaf", "shapley"]),
    ],
)
def test_criteria_by_name(run, worths, given, expected):
    assert run("game", worths, "--json", "all.json", *given).exit_code == 0
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in held["criteria"]] == expected


def test_temperatures_are_numbers_or_multiples(run, worths):
    run("game", worths, "--json", "all.json", "--temperature", "0.5x")
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    expected = ff.variational_index([0, 1, 2, 5], temperature=ff.relative(0.5)).temperature
    assert held["about"]["temperature"] == [expected]


def test_a_time_limit_is_one_of_the_criteria(run, people, monkeypatch):
    seen, keywords = [], EvaluationOptions.keywords
    monkeypatch.setattr(
        EvaluationOptions, "keywords", lambda self: seen.append(keywords(self)) or seen[-1]
    )
    given = ["--clusters", "9", "--budget", "30", "--seconds", "300", "--criterion", "shapley"]
    assert run("data", people, "--target", "label", *given).exit_code == 0
    assert {each["seconds"] for each in seen} == {300.0}


@pytest.mark.parametrize(
    ("more", "columns"),
    [
        (["--clusters", "9", "--budget", "30", "--criterion", "shapley"], 1),
        (["--clusters", "9", "--tolerance", "0.3", "--criterion", "banzhaf"], 1),
        (["--clusters", "9", "--budget", "40", "--criterion", "shapley,banzhaf"], 2),
    ],
    ids=str,
)
def test_estimates_have_error_bars(run, people, more, columns):
    result = run("data", people, "--target", "label", *more)
    assert result.exit_code == 0, result.output
    head = next(line for line in result.stdout.splitlines() if line.startswith("group"))
    assert head.count("±") == columns
    assert "± is half the width of a 95 % interval" in result.stdout


@pytest.mark.parametrize(
    "wrong",
    [["--criterion", "karma"], ["--temperature", "hot"], ["--report", "x.pdf"], ["--csv", "v.txt"]],
)
def test_wrong_options_are_refused_before_any_work(run, tmp_path, people, wrong):
    (tmp_path / "fits.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "class Fits(DummyClassifier):\n"
        "    def fit(self, X, y):\n"
        "        open('fitted', 'w').close()\n"
        "        return super().fit(X, y)\n"
    )
    command = ["data", people, "--target", "label", "--clusters", "3", "--model", "fits:Fits"]
    assert run(*command, *wrong).exit_code == 2
    assert not (tmp_path / "fitted").exists()
    assert run(*command).exit_code == 0
    assert (tmp_path / "fitted").exists()


GAME = ["game", "{file}"]

REFUSED = {
    "unknown criterion": (
        [*GAME, "--criterion", "karma"],
        b"coalition,worth\n,0\na,1\n",
        "there is no criterion 'karma'; choose from ",
    ),
    "a criterion with a slip": (
        [*GAME, "--criterion", "free-enrgy-value"],
        b"coalition,worth\n,0\na,1\n",
        "there is no criterion 'free-enrgy-value' (did you mean free-energy-value?); choose from ",
    ),
    "temperature is text": (
        [*GAME, "--temperature", "hot"],
        b"coalition,worth\n,0\na,1\n",
        "--temperature hot is no number above 0",
    ),
    "temperature below 0": (
        [*GAME, "--temperature=-1"],
        b"coalition,worth\n,0\na,1\n",
        "--temperature -1 is no number above 0; give one, such as 0.1, or a multiple of the game's "
        "own scale, such as 0.5x",
    ),
    "tolerance of 0": (
        [*GAME, "--tolerance", "0"],
        b"coalition,worth\n,0\na,1\n",
        "--tolerance 0 is no number above 0; give one, in the units of the worths",
    ),
    "no time": ([*GAME, "--seconds=-1"], b"coalition,worth\n,0\na,1\n", "--seconds -1 is no"),
    "address without cluster": (
        [*GAME, "--address", "here"],
        b"coalition,worth\n,0\na,1\n",
        "--address goes with",
    ),
    "CSV of another kind": ([*GAME, "--csv", "v.html"], None, "--csv cannot write to 'v.html'"),
    "JSON of no kind": ([*GAME, "--json", "v"], None, "end the name in .json"),
    "report of no kind": (
        [*GAME, "--report", "x.pdf"],
        b"coalition,worth\n,0\na,1\n",
        "end the name in .html",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_cannot_be_used_are_refused(run, tmp_path, case):
    command, content, sentence = REFUSED[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run(*[each.format(file=path) for each in command]), sentence)
