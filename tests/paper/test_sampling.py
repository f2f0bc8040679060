"""The paper's large experiment and its figure on samples, in small."""

import numpy as np
import pytest

from paper import synthetic
from paper.experiments import large, samples
from paper.run import Run
from paper.verdicts import large as judge

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")


def test_the_large_experiment_compares_ranks(tmp_path, monkeypatch):
    """Values that are known: the index ranks as Banzhaf does, Shapley the other way round."""

    def known(seed, budget, run):
        line = np.arange(80.0)
        return np.array([[line, -line, line + 0.1]] * 2)

    monkeypatch.setattr(large, "values", known)
    finding = large.find(Run(tmp_path, quick=True))
    assert [c.verdict for c in finding.claims] == ["reproduced", "wrong"]
    assert finding.claims[0].ours.startswith(
        "mean distance of ranks 0.00 and 40.00, noise floor 0.00"
    )
    # Players in common among the printed ones, counted by hand.
    assert finding.claims[0].paper.startswith("11 and 7")
    assert "(42, 46, 40, 6, 18, 23)" in finding.claims[1].why
    assert [row[1] for row in finding.tables["large"].rows] == list(range(79, 64, -1))
    assert [row[4] for row in finding.tables["large"].rows] == list(
        judge.PRINTED["variational_index"]
    )


def test_eighty_players_are_valued(tmp_path, monkeypatch):
    monkeypatch.setattr(large, "CRITERIA", ("variational_index",))
    run = Run(tmp_path, progress=False)
    found = large.values(0, 170, run)
    assert found.shape == (2, 1, 80)
    assert large.distance(found[0, 0], found[0, 0]) == 0
    assert (large.values(0, 170, run) == found).all()


def test_the_generator_is_learnable_and_repeats():
    X, y = synthetic.synthetic(180, 3, 80)
    again = synthetic.synthetic(180, 3, 80)
    assert X.shape == (180, 10)
    assert 0.2 < y.mean() < 0.8
    assert (again[0] == X).all()
    assert (y == again[1]).all()


def test_more_samples_lower_the_floor(tmp_path, monkeypatch):
    monkeypatch.setattr(samples, "TIMES", (1, 5))
    monkeypatch.setattr(samples, "QUICK_SEEDS", 1)
    monkeypatch.setattr(samples, "STEPS", 4)
    finding = samples.find(Run(tmp_path, quick=True, progress=False))
    rows = {(m, step): value for m, step, value in finding.tables["samples"].rows}
    assert len(rows) == 8
    assert rows[100, 4] < rows[20, 4]
    assert [c.verdict for c in finding.claims] == ["open"]  # one data set


def test_epochs_are_counted_to_a_tolerance():
    """Of a run that never gets there, one more than it has; its own floor is another tolerance."""
    curves = np.array([[[9.0, 3, 2, 3], [9.0, 8, 1, 1]], [[9.0, 3, 3, 3], [2.0, 1, 1, 1]]])
    assert samples.epochs(curves, 2.0).tolist() == [[3, 3], [5, 1]]
    floors = curves[..., -2:].mean(axis=-1)
    assert samples.epochs(curves, 2 * floors[..., None]).tolist() == [[2, 3], [2, 1]]
