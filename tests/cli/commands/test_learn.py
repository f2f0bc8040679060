"""``fairfield learn`` does what the library does, and refuses what is no basket."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import page_data, read, refused

pytest.importorskip("pandas")
pytest.importorskip("typer")

NAMES = ("beer", "bread", "milk", "tea")


@pytest.fixture
def baskets(tmp_path):
    """Tea goes with milk, beer with bread."""
    rng = np.random.default_rng(0)
    afternoon = rng.random((200, 1)) < 0.5
    chances = np.where(afternoon, [0.1, 0.2, 0.7, 0.7], [0.7, 0.6, 0.1, 0.1])
    inside = rng.random((200, 4)) < chances
    path = tmp_path / "baskets.csv"
    path.write_text("".join(",".join(np.array(NAMES)[row]) + "\n" for row in inside))
    return path


def values(path="v.csv"):
    return {line["player"]: line for line in read(path)}


def test_values_scores_and_pairs(run, baskets):
    result = run("learn", baskets, "--strength", "2", "--csv", "v.csv", "--json", "all.json")
    assert result.exit_code == 0, result.output
    train, test = ff.learning.read_baskets(baskets).split(0.2, 0)
    game = ff.learn(train, strength=2.0)
    index = ff.variational_index(game, temperature=1.0, start=train.frequencies)
    shapley = ff.shapley(game)
    found = values()
    assert list(found) == list(NAMES)
    assert_allclose([float(found[p]["variational_index"]) for p in NAMES], index.values)
    assert_allclose([float(found[p]["shapley"]) for p in NAMES], shapley.values)
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert held["about"]["temperature"] == [1.0]
    names = [each["game"] for each in held["scores"]["games"]]
    assert names == ["pairwise by pseudolikelihood", "independent players"]
    scores = ff.learning.score(game, test)
    assert held["scores"]["games"][0]["percentile_rank"] == pytest.approx(scores.percentile_rank)
    assert_allclose(held["interactions"]["matrix"][0], game.form.quadratic, rtol=1e-5, atol=1e-9)
    for shown in ("log-likelihood", "independent players", "Shapley", "milk + tea"):
        assert shown in result.stdout


def test_a_law_worse_than_independent_players_is_warned_of(run, tmp_path):
    path = tmp_path / "b.csv"
    rows = np.random.default_rng(3).random((100, 8)) < 0.3
    path.write_text("a,b,c,d,e,f,g,h\n" + "\n".join(",".join(map(str, r)) for r in rows))
    result = run("learn", path, "--strength", "0.01")
    assert result.exit_code == 0, result.output
    assert "warning: as a law of whole baskets" in result.stderr
    assert "--objective nce may help" in result.stderr
    calm = run("learn", path, "--model", "linear")
    assert calm.stderr == ""


def test_few_held_out_baskets_are_warned_of(run, tmp_path):
    path = tmp_path / "b.csv"
    rows = np.random.default_rng(3).random((20, 4)) < 0.3
    path.write_text("a,b,c,d\n" + "\n".join(",".join(map(str, r)) for r in rows))
    warned = run("learn", path, "--strength", "1", "--seed", "1").stderr
    assert warned.startswith("warning: few baskets are held out, 4 for the scores; do not")
    assert warned.count("\n") == 1
    both = run("learn", path).stderr
    assert "4 for the scores and 3 for the choice of the strength" in both
    assert run("learn", path, "--strength", "1", "--held-out", "0").stderr == ""


def test_nothing_is_held_out_and_no_pairs_are_shown(run, baskets):
    result = run(
        "learn", baskets, "--held-out", "0", "--top", "0", "--strength", "2", "--csv", "v.csv",
        "--criterion", "shapley", "--temperature", "1x",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "independent" not in result.stdout
    assert "interaction" not in result.stdout
    game = ff.learn(ff.learning.read_baskets(baskets), strength=2.0)
    assert_allclose([float(values()[p]["shapley"]) for p in NAMES], ff.shapley(game).values)


def test_models_objectives_and_interactions_by_name(run, baskets):
    result = run(
        "learn", baskets, "--model", "fldc", "--objective", "nce", "--strength", "1",
        "--dimensions", "2", "--noise", "3", "--starts", "1", "--redraws", "1",
        "--interactions", "log-odds", "--top", "2", "--seed", "5", "--json", "all.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "fldc by nce" in result.stdout
    assert "log odds interaction" in result.stdout
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))
    assert held["about"]["seed"] == 5
    assert held["interactions"]["criterion"] == "log_odds"


def test_pairs_are_read_where_the_values_are(run, baskets, monkeypatch):
    """Both at the index that is found from the frequencies of the baskets."""
    asked = []

    def interactions(*given, **keywords):
        asked.append(keywords["start"])
        return ff.interactions(*given, **keywords)

    monkeypatch.setattr("fairfield.cli.commands.learn.interactions", interactions)
    result = run(
        "learn", baskets, "--strength", "2", "--interactions", "variational-index", "--quiet"
    )
    assert result.exit_code == 0, result.output
    train, _ = ff.learning.read_baskets(baskets).split(0.2, 0)
    assert_allclose(asked, [train.frequencies])


def test_the_strongest_pairs_of_many_items_are_a_list(run, baskets, monkeypatch):
    monkeypatch.setattr("fairfield.cli.commands.learn.MOST_PAIRS", 3)
    given = ["learn", baskets, "--strength", "2", "--top", "2", "--json", "all.json"]
    assert run(*given).exit_code == 0
    held = json.loads(Path("all.json").read_text(encoding="utf-8"))["interactions"]
    assert held["matrix"] == []
    train, _ = ff.learning.read_baskets(baskets).split(0.2, 0)
    expected = ff.interactions(ff.learn(train, strength=2.0)).top(2)
    assert [tuple(pair) for pair, _ in held["strongest"]] == [pair for pair, _ in expected]


@pytest.mark.parametrize("layout", ["long", "matrix"])
def test_every_layout_gives_the_same_values(run, baskets, tmp_path, layout):
    rows = [line.split(",") for line in baskets.read_text().splitlines() if line]
    other = tmp_path / "other.csv"
    if layout == "long":
        lines = ["day,order,product"]
        lines += [f"mon,{k},{item}" for k, row in enumerate(rows) for item in row]
        more = ["--columns", "order,product"]
    else:
        lines = [",".join(NAMES)]
        lines += [",".join(str(int(name in row)) for name in NAMES) for row in rows]
        more = []
    other.write_text("\n".join(lines))
    baskets.write_text("\n".join(",".join(row) for row in rows))
    given = ["--strength", "1", "--held-out", "0", "--quiet"]
    assert run("learn", baskets, *given, "--csv", "one.csv").output == ""
    assert run("learn", other, *given, *more, "--csv", "two.csv").output == ""
    assert Path("one.csv").read_text() == Path("two.csv").read_text()


def test_the_page_has_the_scores(run, baskets):
    pytest.importorskip("plotly")
    assert run("learn", baskets, "--strength", "1", "--report", "page.html").exit_code == 0
    held = page_data("page.html")
    assert len(held["scores"]["games"]) == 2
    assert "40 observed coalitions" in held["scores"]["held_out"]
    assert held["interactions"]["players"] == list(NAMES)


REFUSED = {
    "missing file": ([], None, "there is no file"),
    "empty": ([], b"", "is empty; it must hold at least one basket"),
    "blank": ([], b"\n\n", "is empty"),
    "not UTF-8": ([], "thé,lait\n".encode("latin-1"), "byte 0xe9 in line 1; save it as UTF-8"),
    "binary": ([], b"tea\0,milk\n", "is no text file; a text file of baskets is needed"),
    "open quote": ([], b'"tea,milk\nbread\n', "is malformed: line"),
    "counts": ([], b"tea,milk\n1,0\n2,1\n", "line 3 of"),
    "too few cells": ([], b"tea,milk\n1,0\n1\n", "line 3 has 1 cells, its head has 2"),
    "index column": ([], b",tea,milk\n0,1,0\n1,0,1\n", "column 1 of"),
    "equal names": ([], b"tea,tea\n1,0\n0,1\n", "named twice"),
    "no baskets": ([], b"basket,item\n", "has a head but no baskets"),
    "no such column": (["--columns", "a,b"], b"basket,item\n1,tea\n", "{a, b} was asked for"),
    "one column": (["--columns", "basket"], b"basket,item\n1,tea\n", "needs two columns"),
    "no item": ([], b"basket,item\n1,tea\n2,\n", "line 3 of"),
    "unknown layout": (["--layout", "heap"], b"tea\nmilk\n", "there is no layout 'heap'"),
    "two layouts": (["--layout", "lines", "--columns", "a,b"], b"a,b\n", "of a long table"),
    "long delimiter": (["--delimiter", "::"], b"tea::milk\n", "a single character"),
    "unknown model": (["--model", "cubic"], b"tea\nmilk\n", "there is no model 'cubic'"),
    "unknown objective": (["--objective", "luck"], b"tea\nmilk\n", "no objective 'luck'"),
    "unknown interactions": (["--interactions", "love"], b"tea\nmilk\n", "no interactions 'love'"),
    "unknown criterion": (["--criterion", "karma"], b"tea\nmilk\n", "no criterion 'karma'"),
    "strength below 0": (["--strength=-1"], b"tea\nmilk\ntea\n", "--strength -1"),
    "a table": ([], b"name,age\nann,31\nbob,45\neve,27\n", "column 2 of its 2 holds numbers"),
    "a table of no names": (
        [],
        b"ann,31,tea\nbob,45,tea\neve,27,milk\njoe,27,tea\n",
        "give their names as --columns, and if every line is a basket, give --layout 'lines'",
    ),
    "all held out": (["--held-out", "1"], b"tea\nmilk\n", "--held-out 1 is no share"),
    "one basket": ([], b"tea,milk\n", "cannot be split in two"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_basket_is_refused(run, tmp_path, case):
    more, content, sentence = REFUSED[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run("learn", path, *more), sentence)


@pytest.mark.parametrize(
    "text",
    [
        "tea,milk\n7,tea\nmilk\n7,8\n",  # of many lengths
        "1,2,3\n2,4,5\n1,3,5\n2,3,4\n",  # of three numbered items
        "tea,7\n7,milk\nmilk,8\n8,tea\n",  # numbered and named ones in any place
    ],
)
def test_numbered_items_are_no_table(tmp_path, text):
    path = tmp_path / "b.csv"
    path.write_text(text)
    assert ff.learning.read_baskets(path).total == 4


def test_a_table_is_taken_for_baskets_where_that_is_said(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("name,age\nann,31\nbob,45\neve,27\n")
    assert ff.learning.read_baskets(path, layout="lines").total == 4


def test_items_never_varying_are_no_trouble(run, tmp_path):
    path = tmp_path / "b.csv"
    path.write_text("tea,milk,salt\n" + "1,0,0\n1,1,0\n1,1,0\n1,0,0\n" * 5)
    assert run("learn", path, "--held-out", "0", "--csv", "v.csv").exit_code == 0
    found = {name: float(line["variational_index"]) for name, line in values().items()}
    assert found["tea"] == pytest.approx(np.log(41))
    assert found["salt"] == pytest.approx(-np.log(41))
