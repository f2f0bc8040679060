"""The ending of a file picks its form."""

import csv
import io
import json

import pytest

import fairfield as ff
from fairfield.reports.summarise import summarise

NASTY = ["<script>alert(1)</script>", "</script><!--", 'say "hi", twice', "ann"]


def test_the_ending_picks_the_form(game, tmp_path):
    found = ff.compare(game, temperature=1.0)
    path = ff.report(found, tmp_path / "values.json")
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
