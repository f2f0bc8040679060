"""``fairfield store``: what a file of worths holds."""

import json
from pathlib import Path

import pytest

import fairfield as ff
from command_line import refused

pytest.importorskip("typer")


def test_a_store_is_kept_shown_checked_and_used(run, people):
    arguments = ["data", people, "--target", "label", "--groups", "vendor", "--store", "w.db"]
    assert run(*arguments).exit_code == 0
    assert ff.describe_store("w.db").worths == 8
    resumed = run(*arguments, "--json", "v.json")
    assert resumed.exit_code == 0
    assert json.loads(Path("v.json").read_text(encoding="utf-8"))["about"]["evaluations"] == 0
    shown = run("store", "show", "w.db")
    assert "DataGame" in shown.stdout
    assert "8 of 8" in shown.stdout
    assert len(shown.stdout.splitlines()) == 5
    assert "fallback" in run("store", "show", "w.db", "--full").stdout
    whole = json.loads(run("store", "show", "w.db", "--json").stdout)
    assert whole["description"]["fallback"] == "constant"
    assert run("store", "check", "w.db").stdout == "w.db is intact: 8 worths\n"


def test_a_store_of_another_game(run, tmp_path, people):
    assert (
        run("data", people, "--target", "label", "--groups", "vendor", "--store", "w.db").exit_code
        == 0
    )
    refused(
        run("data", people, "--target", "town", "--groups", "vendor", "--store", "w.db"),
        "another game, with other parameters, data (X, y, X_test, y_test), groups; use another",
    )
    refused(run("store", "show", tmp_path / "none.db"), "there is no store")
    refused(run("store", "check", people), "not a store of fairfield")
