"""``python -m paper``: a page, and sentences where something is missing."""

from dataclasses import replace

import numpy as np
import pytest

from paper import adult, claims, registry
from paper.kept import kept

pytest.importorskip("matplotlib")


@pytest.fixture
def tiny(monkeypatch):
    """Every experiment replaced by one claim; features stay what they are."""

    def made(name):
        claim = claims.Claim("here", "says", "1", "1", claims.holds(True))
        return lambda run: claims.Finding(name, name, f"seed {run.seed}", [claim])

    for each in registry.experiments():
        if each.name != "features":
            monkeypatch.setitem(registry.REGISTERED, each.name, replace(each, find=made(each.name)))
    monkeypatch.delenv("FAIRFIELD_DATA", raising=False)

    def no_network():
        raise OSError("the network cannot be reached")

    monkeypatch.setattr(adult, "_from_openml", no_network)


def test_all_is_shown_on_one_page_without_the_data(run, tmp_path, tiny):
    result = run("all", "--quick", "--out", "p", "--seed", "3")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "p" / "index.html").read_text(encoding="utf-8")
    assert "not run: the network cannot be reached" in page
    assert "set FAIRFIELD_DATA" in page
    assert page.count("seed 3") == 8
    assert run("flid", "samples", "--out", "q", "--quiet").output == ""
    assert (tmp_path / "q" / "samples.json").exists()


def test_what_is_missing_is_said_in_a_sentence(run, tmp_path, tiny):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "paper_.npz").write_bytes(b"no archive")
    for given, expected in (
        (["all", "--reference", "nowhere"], "there is no folder nowhere"),
        (["flid", "--reference", "empty"], "holds none of the authors' splits"),
        (["flid", "--reference", "broken"], "could not be read as .npz"),
        (["all", "--data", "nowhere"], "there is no adult_train.csv.gz in nowhere"),
        (["features"], "the network cannot be reached"),
    ):
        result = run(*given)
        assert result.exit_code == 2, given
        assert expected in result.stderr
        assert "Traceback" not in result.output
    assert not (tmp_path / "build").exists()  # said before any work
    assert run("everything").exit_code == 2
    assert run().exit_code == 2


def test_ctrl_c_says_what_was_kept(run, tmp_path, tiny, monkeypatch):
    def stopped(work):
        kept(work, "some", "part", lambda: {"a": [1.0]})
        raise KeyboardInterrupt

    flid = replace(registry.REGISTERED["flid"], find=stopped)
    monkeypatch.setitem(registry.REGISTERED, "flid", flid)
    result = run("flid", "--out", "p")
    assert result.exit_code == 130
    assert "keeps 1 parts. Run the same command" in result.stderr


def test_adult_is_studied_at_a_small_size(tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    from paper.experiments import features
    from paper.run import Run

    rng = np.random.default_rng(0)
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(
        rng.integers(0, 3, (120, 12)).astype(float), columns=list(adult.COLUMNS.values())
    )
    y = (X["Capital Gain"] + X["Age"] > 2).to_numpy()
    monkeypatch.setattr(features, "load_adult", lambda path: (X, y))
    monkeypatch.setattr(features, "QUICK_ROWS", 6)
    for name in ("draw_row", "draw_statistics"):  # drawn in test_features
        monkeypatch.setattr(features, name, lambda *arguments: None)
    found = features.find(Run(tmp_path, quick=True, progress=False))
    says = {claim.says: claim for claim in found.claims}
    assert says["the index always has the smallest decoupling error"].verdict == "reproduced"
    assert len(found.tables["features"].rows) == 3 * 2 * 3
    assert len(found.tables["ranks_mlp_True"].rows) == 12
    assert set(found.figures) == set(found.captions)


def test_help_is_there_with_an_example_and_every_experiment(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert "python -m paper all" in result.output
    for each in registry.experiments():
        assert f"  {each.name} " in result.output
        assert each.sentence in result.output


def test_without_a_name_every_experiment_runs_long_ones_last(run, tmp_path, tiny):
    result = run("--full", "--seed", "2")
    assert result.exit_code == 0
    done = [line.split(":")[0] for line in result.stderr.splitlines() if line.endswith(" s")]
    assert done == [
        "statements", "algorithms", "flid", "features", "large", "samples", "data", "convergence",
        "tradeoff",
    ]  # fmt: skip
    assert (tmp_path / "build" / "paper" / "index.html").exists()
    assert run("--full", "--quick").exit_code == 2
    assert run("flid", "--seed", "-1").exit_code == 2


def test_options_may_stand_between_experiments(run, tmp_path, tiny):
    assert run("flid", "--quick", "samples", "--jobs", "-1", "--out", "q").exit_code == 0
    assert (tmp_path / "q" / "flid.json").exists()
    assert (tmp_path / "q" / "samples.json").exists()


def test_problems_choose_the_experiments_that_have_them(run, tmp_path, monkeypatch, tiny):
    given = []

    def noted(work):
        given.append(work)
        return claims.Finding("data", "data", "", [])

    data = replace(registry.REGISTERED["data"], find=noted)
    monkeypatch.setitem(registry.REGISTERED, "data", data)
    result = run("all", "--problem", "digits", "--splits", "2", "--out", "q")
    assert result.exit_code == 0
    assert (given[0].problems, given[0].splits) == (("digits",), 2)
    assert sorted(f.stem for f in (tmp_path / "q").glob("*.json")) == ["convergence", "data"]
    for arguments, expected in (
        (["flid", "--problem", "digits"], "flid has none of the problems digits"),
        (["flid", "--splits", "2"], "flid has no splits"),
        (["data", "--problem", "iris"], "invalid choice: 'iris'"),
        (["data", "--splits", "0"], "0 is below 1"),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 2
        assert expected in refused.stderr


def test_a_file_registers_its_experiment(monkeypatch):
    monkeypatch.setattr(registry, "REGISTERED", dict(registry.REGISTERED))

    @registry.experiment("new", "One sentence.")
    def find(work):
        return claims.Finding("new", "New", "", [])

    assert registry.experiments()[-1] == registry.Experiment("new", "One sentence.", find)
    registry.experiment("new", "The same, run again.")(find)
    assert registry.experiments()[-1].sentence == "The same, run again."
    with pytest.raises(ValueError, match="there is an experiment 'flid' already, find; choose"):
        registry.experiment("flid", "Another.")(find)
