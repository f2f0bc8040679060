"""The command line in this process, and tables for it."""

import numpy as np
import pytest


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in an empty folder and gives its result; bugs are raised, not hidden."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from fairfield.cli.app import app

    monkeypatch.chdir(tmp_path)

    def go(*arguments):
        result = CliRunner().invoke(app, [str(each) for each in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return go


@pytest.fixture
def people(tmp_path):
    """A training table: two numbers, a text, a vendor, a label that follows the first number."""
    rng = np.random.default_rng(0)
    lines = ["age,pay,town,vendor,label"]
    for row in range(60):
        age, pay = rng.normal(), rng.normal()
        label = "yes" if age + 0.3 * rng.normal() > 0 else "no"
        lines.append(f"{age:.3f},{pay:.3f},{'ab'[row % 2]},{'xyz'[row % 3]},{label}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def worths(tmp_path):
    """The worths of all coalitions of two players."""
    path = tmp_path / "worths.csv"
    path.write_text("coalition,worth\n,0\nann,1\nbob,2\nann+bob,5\n")
    return path
