"""``fairfield paper``: a page, and sentences where something is missing."""

import numpy as np
import pytest

from fairfield.paper import adult, claims

pytest.importorskip("typer")
pytest.importorskip("matplotlib")


@pytest.fixture
def tiny(monkeypatch):
    """Every experiment replaced by one claim; features stay what they are."""
    from fairfield.cli import paper

    def made(name):
        claim = claims.Claim("here", "says", "1", "1", "reproduced")
        return lambda run: claims.Finding(name, name, f"seed {run.seed}", [claim])

    others = {name: made(str(name)) for name in paper.FINDERS if name != "features"}
    monkeypatch.setattr(paper, "FINDERS", {**paper.FINDERS, **others})
    monkeypatch.delenv("FAIRFIELD_DATA", raising=False)

    def no_network():
        raise OSError("the network cannot be reached")

    monkeypatch.setattr(adult, "_from_openml", no_network)


def test_all_is_told_on_one_page_without_the_data(run, tmp_path, tiny):
    result = run("paper", "all", "--quick", "--out", "p", "--seed", "3")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "p" / "index.html").read_text(encoding="utf-8")
    assert "not run: the network cannot be reached" in page
    assert "set FAIRFIELD_DATA" in page
    assert page.count("seed 3") == 7
    assert run("paper", "flid", "samples", "--out", "q", "--quiet").output == ""
    assert (tmp_path / "q" / "samples.json").exists()


def test_what_is_missing_is_told_in_a_sentence(run, tmp_path, tiny):
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
        result = run("paper", *given)
        assert result.exit_code == 2, given
        assert expected in result.stderr
        assert "Traceback" not in result.output
    assert not (tmp_path / "paper").exists()  # told before any work
    assert run("paper", "everything").exit_code == 2
    assert run("paper").exit_code == 2


def test_ctrl_c_says_what_was_kept(run, tmp_path, tiny, monkeypatch):
    import fairfield as ff
    from fairfield.cli import paper

    def stopped(work):
        ff.shapley(lambda S: S.sum(axis=1), players=3, **work.options("some"))
        raise KeyboardInterrupt

    monkeypatch.setitem(paper.FINDERS, paper.Experiment.flid, stopped)
    # A store that was about to be made when it was stopped.
    (tmp_path / "p" / "stores").mkdir(parents=True)
    (tmp_path / "p" / "stores" / "begun.db").touch()
    result = run("paper", "flid", "--out", "p")
    assert result.exit_code == 130
    assert "keeps 8 worths. Run the same command" in result.stderr


def test_adult_is_studied_at_a_small_size(tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    from fairfield.paper import feature_claims
    from fairfield.paper.run import Run

    rng = np.random.default_rng(0)
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(
        rng.integers(0, 3, (120, 12)).astype(float), columns=list(adult.COLUMNS.values())
    )
    y = (X["Capital Gain"] + X["Age"] > 2).to_numpy()
    monkeypatch.setattr(feature_claims, "load_adult", lambda path: (X, y))
    monkeypatch.setattr(feature_claims, "QUICK_ROWS", 6)
    monkeypatch.setattr(feature_claims, "draw", lambda found: {f"removal_{found.model}": None})
    found = feature_claims.find(Run(tmp_path, quick=True, progress=False))
    says = {claim.says: claim for claim in found.claims}
    assert says["the index always has the smallest decoupling error"].verdict == "reproduced"
    assert len(found.tables["features"].rows) == 9
    assert len(found.tables["feature_ranks"].rows) == 3 * 2 * 3 * 12
    assert list(found.captions)[2] == "removal_mlp"
