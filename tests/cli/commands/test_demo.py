"""``fairfield demo``: its two games."""

import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("numba")


def test_groups_of_rows_and_the_features_of_one_prediction():
    from fairfield.cli.commands.demo import _games

    data, features = _games()
    assert sorted(data.players) == [f"group {i}" for i in range(10)]
    assert data.info.noun == "group"
    assert len(features.players) == 30
    assert features.info.noun == "feature"
    assert features.batch == ()
    assert features.extension() is not None  # exact at 30 features


def test_what_compiles_ahead_ends_with_an_interrupt():
    from fairfield.cli.commands.demo import _compiling_ahead

    with pytest.raises(KeyboardInterrupt), _compiling_ahead() as ahead:
        raise KeyboardInterrupt
    assert ahead.poll() is not None


def test_the_folder_of_the_demo_is_made(tmp_path, monkeypatch):
    import fairfield as ff
    from fairfield.cli.commands import demo

    small = ff.TableGame([0.0, 1.0, 2.0, 4.0])
    monkeypatch.setattr(demo.os, "cpu_count", lambda: 1)  # nothing is to be compiled ahead
    monkeypatch.setattr(demo, "_games", lambda: (small, small))
    demo.demo(out=tmp_path / "new")
    made = sorted(each.name for each in (tmp_path / "new").iterdir())
    assert made == ["features.html", "report.html"]
