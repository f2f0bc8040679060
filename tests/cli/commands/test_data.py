"""``fairfield data``: what rows of a training table are worth."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from command_line import read, refused

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")


def test_data_is_the_data_game(run, people):
    from sklearn.model_selection import train_test_split

    from fairfield.cli.learners import learner

    result = run(
        "data",
        people,
        "--target",
        "label",
        "--groups",
        "vendor",
        "--csv",
        "v.csv",
        "--criterion",
        "shapley",
    )
    assert result.exit_code == 0, result.output
    table = pd.read_csv(people)
    X, y = table[["age", "pay", "town"]], table["label"].to_numpy()
    rows, held = train_test_split(np.arange(60), test_size=0.25, random_state=0, stratify=y)
    rows, held = np.sort(rows), np.sort(held)
    game = ff.DataGame(
        learner("logistic", X, True), X.iloc[rows], y[rows], X.iloc[held], y[held],
        groups=table["vendor"].to_numpy()[rows],
    )  # fmt: skip
    found = ff.shapley(game)
    assert_allclose([float(line["shapley"]) for line in read("v.csv")], found.values)


@pytest.mark.parametrize("model", ["forest", "boosting", "knn", "mlp", "own:Mine"])
def test_data_by_every_model_and_in_parquet(run, people, tmp_path, model):
    pytest.importorskip("pyarrow")
    (tmp_path / "own.py").write_text(
        "from sklearn.dummy import DummyClassifier\nMine = DummyClassifier\n"
    )
    table = pd.read_csv(people)
    table.to_parquet(tmp_path / "p.parquet")
    small = table.iloc[:16]
    small.to_parquet(tmp_path / "small.parquet")
    result = run(
        "data", tmp_path / "small.parquet", "--test", tmp_path / "p.parquet", "--target", "label",
        "--clusters", "2", "--model", model, "--csv", "v.csv",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert [line["group"] for line in read("v.csv")] == ["group 00", "group 01"]


def test_numbers_are_predicted_by_regression(run, people):
    result = run("data", people, "--target", "pay", "--clusters", "3", "--csv", "v.csv")
    assert result.exit_code == 0, result.output
    assert len(read("v.csv")) == 3


def test_many_rows_under_neighbours_are_a_closed_form(run, people):
    result = run(
        "data", people, "--target", "label", "--model", "knn", "--clusters", "0", "--csv", "v.csv"
    )
    assert result.exit_code == 0, result.output
    assert "closed form" in result.stdout
    assert len(read("v.csv")) == 45


def test_rows_are_named_by_their_place_in_the_file(run, people):
    command = ["data", people, "--target", "label", "--model", "knn", "--clusters", "0", "--quiet"]
    assert run(*command, "--csv", "v.csv").exit_code == 0
    names = [int(line["row"]) for line in read("v.csv")]
    assert len(names) == 45
    assert max(names) > 45


DATA = ["data", "{file}", "--target", "label"]
ROWS = "\n".join(f"{i},{i % 2}" for i in range(8))

REFUSED = {
    "one class": (DATA, b"x,label\n1,a\n2,a\n3,a\n4,a\n", "has one class, 'a'"),
    "empty target": (DATA, b"x,label\n1,0\n2,\n", "is empty in line 3 of"),
    "empty cells": (DATA, ("x,label\n" + ROWS + "\n,1\n").encode(), "column 'x' has 1 empty cells"),
    "nothing to learn from": (DATA, b"label\n1\n0\n", "no column besides 'label'"),
    "few rows": (DATA, b"x,label\n1,0\n2,1\n", "too few to hold some out"),
    "unknown group": (
        [*DATA, "--groups", "vendor"],
        b"x,label\n1,0\n2,1\n",
        "there is no column 'vendor'",
    ),
    "two ways to play": (
        [*DATA, "--groups", "x", "--clusters", "2"],
        b"x,label\n1,0\n",
        "give one of them",
    ),
    "unknown model": (
        [*DATA, "--model", "oracle"],
        f"x,label\n{ROWS}\n".encode(),
        "there is no model 'oracle'",
    ),
    "model not found": (
        [*DATA, "--model", "no.such:thing"],
        f"x,label\n{ROWS}\n".encode(),
        "could not be found",
    ),
    "too many clusters": (
        [*DATA, "--clusters", "99"],
        f"x,label\n{ROWS}\n".encode(),
        "k=99 groups of 6 rows",
    ),
    "unknown scorer": ([*DATA, "--scoring", "luck"], f"x,label\n{ROWS}\n".encode(), "luck"),
    "empty group": ([*DATA, "--groups", "x"], b"x,label\n1,0\n,1\n", "is empty in line 3 of"),
    "too many rows": (
        [*DATA, "--clusters", "0"],
        ("x,label\n" + "\n".join(f"{i},{i % 2}" for i in range(80))).encode(),
        "use --criterion leave-one-out (n + 2 fits) or --model knn, or give a --budget of worths",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_data_that_cannot_be_used_are_refused(run, tmp_path, case):
    command, content, sentence = REFUSED[case]
    path = tmp_path / "table.csv"
    if content is not None:
        path.write_bytes(content)
    refused(run(*[each.format(file=path) for each in command]), sentence)


@pytest.fixture
def stars(tmp_path, rng):
    """Ratings from 1 to 5 by three vendors."""
    x = rng.normal(size=80)
    y = np.clip(np.round(3 + x + 0.3 * rng.normal(size=80)), 1, 5).astype(int)
    table = pd.DataFrame({"x": x, "vendor": list("abcd") * 20, "stars": y})
    table.to_csv(tmp_path / "stars.csv", index=False)
    return tmp_path / "stars.csv"


def test_whole_numbers_are_numbers_where_the_task_says_so(run, stars):
    """The score of a constant prediction is 0 by R² and a share of right rows by accuracy."""
    command = ["data", stars, "--target", "stars", "--groups", "vendor", "--criterion", "shapley"]
    empty = {}
    for task in ("auto", "classification", "regression"):
        assert run(*command, "--task", task, "--json", "v.json").exit_code == 0
        held = json.loads(Path("v.json").read_text(encoding="utf-8"))
        (empty[task],) = held["criteria"][0]["empty"]
    assert empty["auto"] == empty["classification"] > 0.2
    assert empty["regression"] == pytest.approx(0, abs=0.1)
    refused(run(*command[:2], "--target", "vendor", "--task", "regression"), "is not numbers")
    refused(run(*command[:2], "--target", "x", "--task", "classification"), "has fractions")


def test_leaving_out_one_of_many_rows_fits_each_rest_once(run, people):
    """The advice that is given where there are too many players for all their worths."""
    pytest.importorskip("plotly")
    command = ["data", people, "--target", "label", "--clusters", "0", "--json", "v.json"]
    refused(run(*command), "use --criterion leave-one-out (n + 2 fits)")
    result = run(*command, "--criterion", "leave-one-out", "--report", "page.html")
    assert result.exit_code == 0, result.output
    about = json.loads(Path("v.json").read_text(encoding="utf-8"))["about"]
    assert about["evaluations"] == about["players"] + 2 == 47


def test_worths_of_estimates_and_of_their_curves_are_kept(run, people):
    pytest.importorskip("plotly")
    command = ["data", people, "--target", "label", "--clusters", "9", "--criterion", "shapley"]
    result = run(*command, "--budget", "30", "--store", "kept.db", "--report", "page.html")
    assert result.exit_code == 0, result.output
    assert "none were kept" not in result.stderr
    assert ff.describe_store("kept.db").worths >= 30
