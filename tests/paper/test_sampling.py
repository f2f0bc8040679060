"""The paper's large experiment and its figure on samples, in their quick sizes."""

import pytest

from paper import synthetic
from paper.experiments import large, samples
from paper.run import Run

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")


def test_the_large_experiment_ranks_eighty_players(tmp_path, monkeypatch):
    found = large.large(quick=True)
    best = found.best()
    assert list(best) == ["variational_index", "banzhaf", "shapley"]
    assert all(len(set(players)) == 15 for players in best.values())
    assert all(0 <= count <= 15 for count in found.shared().values())
    apart = found.distances()
    # The paper's claim: the index ranks more like Banzhaf than like Shapley.
    assert apart["variational_index", "banzhaf"] < apart["variational_index", "shapley"]
    monkeypatch.setattr(large, "large", lambda **options: found)
    finding = large.find(Run(tmp_path, quick=True))
    assert [c.verdict for c in finding.claims] == ["reproduced", "wrong"]
    assert "player 18 twice, so 14 players" in finding.claims[1].ours
    # Players in common among the printed ones, counted by hand.
    assert finding.claims[0].paper.startswith("11 and 7 players")
    assert "(42, 46, 40, 6, 18, 23)" in finding.claims[1].why
    rows = finding.tables["large"].rows
    assert [player for name, _, player in rows if name == "shapley"] == best["shapley"]


def test_the_generator_is_learnable_and_repeats():
    X, y = synthetic.synthetic(180, 3, 80)
    again = synthetic.synthetic(180, 3, 80)
    assert X.shape == (180, 10)
    assert 0.2 < y.mean() < 0.8
    assert (again[0] == X).all()
    assert (y == again[1]).all()


def test_more_samples_settle_sooner(tmp_path):
    found = samples.samples(quick=True, temperature=4.0)
    assert list(found.differences) == [14, 70, 140]
    last = [curve[-1] for curve in found.differences.values()]
    assert last[2] < last[0]
    finding = samples.find(Run(tmp_path, quick=True))
    assert len(finding.tables["samples"].rows) == 9
    assert len(finding.figures["samples"].axes[0].lines) == 3


def test_more_samples_than_coalitions_are_refused():
    with pytest.raises(ValueError, match="take more players or fewer samples"):
        samples.samples(quick=True, times=[100])
