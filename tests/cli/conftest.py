"""Tables for the command line."""

import numpy as np
import pytest

TRIALS = {}


@pytest.fixture(autouse=True)
def each_model_is_tried_once(monkeypatch):
    """A model file is tried in a process of its own; the same file again only with the same end."""
    pytest.importorskip("typer")
    from fairfield.cli import model_files

    complaint = model_files.complaint

    def remembered(path):
        key = path.suffix, path.read_bytes()
        if key not in TRIALS:
            TRIALS[key] = complaint(path)
        return TRIALS[key]

    monkeypatch.setattr(model_files, "complaint", remembered)


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
