"""Names from files and models reach terminals, spreadsheets and pictures as plain text."""

import csv
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import fairfield as ff

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\r\n\u202egnp"
SAFE = r"\x1b]0;owned\x07\x1b[31m\x9b2J\r\n\u202egnp"


def controls(text):
    return [each for each in text if each != "\n" and (ord(each) < 32 or 127 <= ord(each) < 160)]


def test_no_control_character_of_a_name_is_shown(tmp_path):
    game = ff.TableGame([0, 1, 1, 4], players=[EVIL, "b"])
    v = ff.shapley(game)
    for found in (v, ff.compare(game), ff.interactions(game), ff.compare(game).first):
        assert SAFE in repr(found)
        assert not controls(repr(found))
    ff.report(ff.compare(game), tmp_path / "r.txt")
    assert not controls((tmp_path / "r.txt").read_text())
    with pytest.raises(KeyError) as missing:
        v["c"]
    assert not controls(str(missing.value))

    def fails(S):
        raise ValueError("no")

    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(ff.FunctionGame(fails, [EVIL]))
    assert not controls(str(failed.value))


def test_nor_by_the_command_line(tmp_path):
    worths = tmp_path / "worths.csv"
    worths.write_text('coalition,worth\n,0\n"a\x1b[31m",1\nb,1\n"a\x1b[31m b",4\n')
    store = tmp_path / "s.db"
    ff.shapley(ff.FunctionGame(len, [EVIL, "b"], takes="names", name=EVIL), store=store)
    for given in (["game", worths], ["store", "show", store, "--full"]):
        command = [sys.executable, "-m", "fairfield", *map(str, given)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not controls(done.stdout + done.stderr)
        assert "\\x1b[31m" in done.stdout


def test_a_spreadsheet_runs_no_name_as_a_formula(tmp_path):
    names = [
        '=HYPERLINK("http://x","y")',
        "+1+cmd|' /C calc'!A0",
        "-2-3",
        "@SUM(A1)",
        "-2.5",
        "a=b",
    ]
    found = ff.shapley(ff.TableGame(range(2 ** len(names)), players=names))
    lines = ff.report(found, tmp_path / "r.csv").read_text().splitlines()[1:]
    starts = [line.lstrip('"')[:2] for line in lines]
    assert starts == ["'=", "'+", "'-", "'@", "-2", "a="]


# Controls of both kinds, soft hyphens, marks of direction and width, tags, a lone surrogate.
HIDDEN = "".join(map(chr, [*range(32), *range(127, 160)]))
HIDDEN += "\xad\u061c\u200b\u200e\u202e\u2028\u2066\ufeff\ufff9\U000e0041\ud800"


def test_no_hidden_character_is_written(tmp_path):
    names = [f"a{HIDDEN}z", "\t =1+1", "b"]
    game = ff.TableGame(np.arange(8.0), players=names)
    v, both = ff.shapley(game), ff.compare(game, criteria=["shapley", "banzhaf"])
    texts = [repr(v), repr(both), repr(ff.interactions(game)), v._repr_html_(), v.to_json()]
    for each, ending in product((v, both), ("csv", "json", "txt", "html")):
        texts.append(ff.report(each, tmp_path / f"r.{ending}").read_bytes().decode())
    for text in texts:
        assert not set(HIDDEN.replace("\n", "")) & set(text)
    # JSON holds the names as they were; a spreadsheet has one line for each.
    assert json.loads(v.to_json())["players"] == names
    with (tmp_path / "r.csv").open(newline="") as file:
        cells = [line[0] for line in csv.reader(file)][1:]
    assert len(cells) == 3
    assert cells[0].startswith(r"a\x00\x01")
    assert cells[1] == r"'\t =1+1"


def test_nor_said_by_the_errors_of_others(tmp_path):
    def fails(S):
        raise ValueError("first\x1b[31m\u202e\nsecond")

    with pytest.raises(ff.WorthError) as failed:
        ff.shapley(fails, players=2)
    assert str(failed.value).endswith("ValueError: first\\x1b[31m\\u202e second")
    (tmp_path / "a\x1b[2J.npz").write_bytes(b"none")
    with pytest.raises(ValueError, match=r"a\\x1b\[2J\.npz is not a saved valuation"):
        ff.Valuation.load(tmp_path / "a\x1b[2J.npz")


def test_dollar_signs_in_names_are_drawn(tmp_path):
    plots, pyplot = map(pytest.importorskip, ("fairfield.plots", "matplotlib.pyplot"))
    game = ff.TableGame([0.0, 1, 1, 4, 2, 2, 2, 7], players=[r"$\frac{$", "$x$", EVIL])
    v = ff.variational_values(game, 2, temperature=1.0)
    pictures = [plots.bar(v), plots.waterfall(v), plots.trajectory(v)]
    pictures.append(plots.ranks(ff.compare(game)))
    pictures.append(plots.interactions(ff.interactions(game)))
    rows = np.arange(12.0).reshape(4, 3)
    table = pd.DataFrame(rows, columns=game.players)
    found = ff.explain(lambda X: np.asarray(X)[:, 0] ** 2, table, table, "shapley")
    pictures.append(plots.dependence(found, game.players[0], color=game.players[1]))
    pictures.append(plots.text(v))
    for ax in pictures:
        ax.figure.savefig(tmp_path / "p.png")
        pyplot.close(ax.figure)


def test_dollar_signs_in_labels_of_criteria_cohorts_curves_and_classes_are_drawn(tmp_path):
    plots, pyplot = map(pytest.importorskip, ("fairfield.plots", "matplotlib.pyplot"))
    dollar = r"$\frac{$"
    game = ff.TableGame(np.arange(8.0) ** 2, players=[dollar, "b", "c"])
    both = {dollar: "shapley", "b": "banzhaf"}
    path = ff.annealing(game, [1.0, 2.0], criteria=both)
    pictures = [plots.ranks(ff.compare(game, criteria=both))]
    pictures += [
        plots.annealing(path, criterion=dollar),
        plots.annealing(path, what="decoupling_errors"),
    ]
    v = replace(ff.shapley(game), criterion=dollar)
    pictures += [plots.curves(ff.removal_curve(game, v)), plots.waterfall(v)]
    rows = np.arange(12.0).reshape(6, 2)
    found = ff.shapley(ff.FeatureGame(lambda X: X[:, 0] * X[:, 1], rows, rows[:2]))
    found = replace(found, criterion=dollar)
    pictures += [plots.cohorts(found, [dollar, "b"] * 3), plots.heatmap(found), plots.box(found)]
    pictures += [plots.beeswarm(found), plots.dependence(found, found.players[0])]
    segments = np.arange(4).reshape(2, 2)
    picture = ff.ImageGame(
        lambda X: X.reshape(len(X), -1).sum(axis=1), np.eye(2), segments=segments
    )
    pictures.append(plots.image(replace(ff.shapley(picture), criterion=dollar), picture))
    pairs = replace(ff.interactions(game), criterion=dollar)
    pictures += [plots.interactions(pairs), plots.network(pairs)]
    for ax in pictures:
        ax.figure.savefig(tmp_path / "p.png")
        pyplot.close(ax.figure)


@pytest.mark.parametrize("columns", ["20", "40", "80"])
def test_a_narrow_terminal_keeps_the_players(columns, run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    worths = tmp_path / "worths.csv"
    worths.write_text("coalition,worth\n,0\nannabel,1\nbob,1\nannabel bob,4\n")
    found = run("game", worths, "--criterion", "all,free-energy-value")
    assert found.exit_code == 0
    assert "annabel" in found.output
    assert sum(line.count("2.000") for line in found.output.splitlines()) >= 2
