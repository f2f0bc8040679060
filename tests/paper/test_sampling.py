"""The paper's large experiment and its figure on samples, in their quick sizes."""

import csv

import numpy as np
import pytest

from fairfield.paper import large, samples

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")


def test_the_large_experiment_ranks_eighty_players(tmp_path):
    found = large.large(quick=True)
    best = found.best()
    assert list(best) == ["variational_index", "banzhaf", "shapley"]
    assert all(len(set(players)) == 15 for players in best.values())
    assert all(0 <= count <= 15 for count in found.shared().values())
    apart = found.distances()
    # The paper's claim: the index ranks more like Banzhaf than like Shapley.
    assert apart["variational_index", "banzhaf"] < apart["variational_index", "shapley"]
    table, picture = large.write(found, tmp_path)
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 240
    assert [int(line["player"]) for line in lines[:15]] == best["variational_index"]
    assert picture.stat().st_size > 1000


def test_the_generator_is_learnable_and_repeats():
    X, y = large.synthetic(180, 3, 80)
    again = large.synthetic(180, 3, 80)
    assert X.shape == (180, 10)
    assert 0.2 < y.mean() < 0.8
    assert (again[0] == X).all()
    assert (y == again[1]).all()


def test_more_samples_settle_sooner(tmp_path):
    found = samples.samples(quick=True, temperature=4.0)
    assert list(found.differences) == [14, 70, 140]
    last = [curve[-1] for curve in found.differences.values()]
    assert last[2] < last[0]
    table, picture = samples.write(found, tmp_path)
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    kept = np.array([float(line["difference"]) for line in lines]).reshape(3, 3)
    assert (kept == np.stack(list(found.differences.values()))).all()
    assert picture.stat().st_size > 1000


def test_more_samples_than_coalitions_are_refused():
    with pytest.raises(ValueError, match="take more players or fewer samples"):
        samples.samples(quick=True, times=[100])
