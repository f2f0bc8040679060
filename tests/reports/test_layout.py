"""Which players and rows a report shows."""

import numpy as np
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.reports import layout
from fairfield.reports.plain import csv_lines
from fairfield.reports.summarise import summarise


def test_a_page_keeps_the_largest_of_many_players_and_says_so():
    game = ff.PairwiseGame(np.arange(50.0) - 10, np.zeros((50, 50)))
    found = ff.shapley(game)
    summary = summarise(found, most_players=10)
    assert summary["players"] == [str(i) for i in range(40, 50)]
    assert "10 of 50 players" in summary["warnings"][0]
    assert len(summarise(found)["players"]) == 50


def test_a_long_batch_keeps_its_first_rows_and_the_mean_of_all(batch, monkeypatch):
    monkeypatch.setattr(layout, "MOST_NUMBERS", 16)
    found = ff.shapley(batch, temperature=1.0)
    summary = summarise(found, most_players=4)
    assert summary["rows"] == ["mean of 3 games", "game 0", "game 1"]
    assert_allclose(summary["criteria"][0]["values"][0], found.values.mean(axis=0))
    assert "first 2 of 3 games" in summary["warnings"][0]
    assert len(csv_lines(summarise(found))) == 1 + 3 * 4  # files for programs lose nothing
