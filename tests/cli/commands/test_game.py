"""``fairfield game``: values from a table of worths."""

import json
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import read, refused

pytest.importorskip("typer")


def test_a_game_from_its_worths(run, worths):
    result = run("game", worths, "--csv", "values.csv", "--json", "all.json", "--temperature", "1")
    assert result.exit_code == 0
    assert "Shapley" in result.stdout
    lines = {line["player"]: line for line in read("values.csv")}
    found = ff.compare([0, 1, 2, 5], temperature=1.0)
    for name, v in found.items():
        assert_allclose([float(lines[p][name]) for p in ("ann", "bob")], v.values)
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert held["about"]["temperature"] == [1.0]


@pytest.mark.parametrize("mark", ["+", ";", "|", " "])
def test_players_of_a_coalition_are_separated(run, worths, mark):
    worths.write_text(worths.read_text().replace("+", mark))
    assert run("game", worths, "--csv", "v.csv").exit_code == 0
    assert [line["player"] for line in read("v.csv")] == ["ann", "bob"]


def test_separators_and_delimiters_are_as_given(run, tmp_path):
    (tmp_path / "w.csv").write_text("coalition\tworth\n\t0\na+\t1\nb\t2\na+/b\t5\n")
    given = ["--separator", "/", "--delimiter", "\\t", "--csv", "v.csv", "--criterion", "shapley"]
    assert run("game", tmp_path / "w.csv", *given).exit_code == 0
    assert [(line["player"], float(line["shapley"])) for line in read("v.csv")] == [("a+", 2), ("b", 3)]  # fmt: skip


GAME = ["game", "{file}"]

REFUSED = {
    "no worths": (GAME, b"x,label\n1,0\n", "there is no column 'coalition'"),
    "worth is text": (GAME, b"coalition,worth\n,0\na,many\n", "the worth in line 3 of"),
    "worth is text after a gap": (
        [*GAME, "--delimiter", ";"],
        b'coalition;worth\n\n"";0\na;many\n',
        "the worth in line 4 of",
    ),
    "worth is NaN": (GAME, b"coalition,worth\n,0\na,nan\n", "every worth must be a finite number"),
    "lacking coalitions": (
        GAME,
        b"coalition,worth\n,0\na,1\na+b,3\n",
        "have no worth, {b} among them",
    ),
    "coalition twice": (GAME, b"coalition,worth\n,0\na,1\na,2\n", "line 4 of"),
    "no worths allowed": ([*GAME, "--budget", "0"], b"coalition,worth\n,0\na,1\n", "--budget 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_worths_that_make_no_game_are_refused(run, tmp_path, case):
    command, content, sentence = REFUSED[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run(*[each.format(file=path) for each in command]), sentence)
