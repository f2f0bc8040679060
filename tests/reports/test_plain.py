"""A summary as text and as CSV."""

from dataclasses import replace

import numpy as np

import fairfield as ff
import pictures
from fairfield.reports.plain import csv_lines, table_of_values, text
from fairfield.reports.summarise import summarise
from fairfield.results.words import Words

NASTY = ["<script>alert(1)</script>", "</script><!--", 'say "hi", twice', "ann"]


def test_text_shows_errors_where_there_are_some(game):
    v = ff.shapley(game, temperature=1.0)
    written = text(summarise(replace(v, stderr=np.full(4, 0.1))))
    assert written.count(" ± 0.2\n") == 4
    assert "± is half the width of a 95 % interval" in written
    assert "±" not in text(summarise(v))


def test_text_names_players_and_how_it_was_found(game):
    written = text(summarise(ff.compare(game, temperature=1.0)))
    assert all(name in written for name in NASTY)
    assert "temperature 1, " in written
    assert "Shapley: exact" in written


def test_csv_of_a_batch_has_every_row_and_no_mean(batch):
    lines = csv_lines(summarise(ff.compare(batch, criteria=["shapley"])))
    assert lines[0] == ["game", "player", "shapley", "shapley marginal"]
    assert [line[0] for line in lines[1:]] == ["0"] * 4 + ["1"] * 4 + ["2"] * 4


def test_files_of_explanations_have_rows_and_features(batch):
    v = replace(ff.shapley(batch), words=Words("feature", "row"), labels=(7, 8, "last"))
    lines = csv_lines(summarise(v))
    assert lines[0] == ["row", "feature", "shapley"]
    assert [line[0] for line in lines[1:]] == ["7"] * 4 + ["8"] * 4 + ["last"] * 4
    assert text(summarise(v)).splitlines()[2].split() == ["feature", "Shapley"]


def test_columns_show_four_digits_of_their_largest_value(game):
    v = replace(ff.shapley(game), values=np.array([12.3456, -0.5, 0.001, 0.0]))
    names = [NASTY[i] for i in (0, 2, 3, 1)]
    cells = ["12.35", "0.00", "0.00", "-0.50"]
    assert table_of_values(summarise(v)) == {"player": names, "Shapley": cells}
    unsure = replace(v, stderr=np.array([1.0, 0.1, 0.1, 0.1]))
    table = table_of_values(summarise(unsure))
    halves = ["2  ", "0.2", "0.2", "0.2"]
    cells = [f"{cell} ± {half}" for cell, half in zip(cells, halves, strict=True)]
    assert table == {"player": names, "Shapley ±": cells}
    assert table_of_values(summarise(replace(v, values=np.zeros(4))))["Shapley"] == ["0"] * 4


def test_files_of_several_outputs_name_them():
    every = pictures.classes()
    lines = csv_lines(summarise(every))
    assert lines[0][:4] == ["row", "output", "feature", "data"]
    assert [line[:3] for line in lines[1::3]] == [
        [row, output, "a"] for row in "wxy" for output in ("low", "7")
    ]
    assert [line[0] for line in csv_lines(summarise(every[0]))] == [
        "output",
        *["low"] * 3,
        *["7"] * 3,
    ]
    table = table_of_values(summarise(every))
    assert list(table) == ["feature", "Shapley, low", "Shapley, class 7"]
    wide = replace(every, values=np.tile(every.values, (1, 10, 1)), outputs=tuple(range(20)),
                   data=None, empty=None, grand=None)  # fmt: skip
    assert len(table_of_values(summarise(wide))) == 13
    assert "… 8 more outputs" in text(summarise(wide))
