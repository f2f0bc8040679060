"""Interactions as a table, a matrix and a list."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.results.exports import SHAPIQ
from fairfield.results.words import Words


def interactions(values, stderr=None):
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    words = Words("feature", "row", "prediction")
    found = np.asarray(values, dtype=float)
    return ff.Interactions("shapley", ("a", "b", "c"), pairs, found, "exact table", "a game",
                           stderr=stderr, words=words)  # fmt: skip


def test_the_strongest_come_first():
    found = interactions([1, -3, 2], stderr=np.array([0.1, 0.2, 0.3]))
    assert found.top(2) == [(("a", "c"), -3.0), (("b", "c"), 2.0)]
    lines = repr(found).splitlines()
    assert lines[0].split() == ["coalition", "interaction", "±"]
    assert lines[1].split() == ["{a,", "c}", "-3", "0.392"]
    assert lines[-1] == "shapley interactions of a game, exact table"


def test_a_batch_is_shown_by_its_means():
    batch = interactions([[1, 2, 3], [-4, 5, 6]])
    lines = repr(batch).splitlines()
    assert lines[0].split("  ") == ["coalition", "mean interaction", "mean |interaction|"]
    assert lines[1].split()[2:] == ["4.5", "4.5"]
    assert lines[3].split() == ["{a,", "b}", "-1.5", "2.5"]
    assert lines[4] == "mean of 2 rows"
    assert batch.matrix().shape == (2, 3, 3)
    assert batch.top(2) == [(("b", "c"), 4.5), (("a", "c"), 3.5)]


def test_games_of_a_batch_are_taken_by_place_and_by_name():
    batch = dataclasses.replace(
        interactions([[1, 2, 3], [-4, 5, 6]], stderr=np.full((2, 3), 0.5)),
        labels=("first", "last"), baseline=np.array([7.0, 8.0]),
    )  # fmt: skip
    row = batch["last"]
    assert (row["a", "b"], row["b", "a"], row[frozenset("bc")]) == (-4, -4, 6)
    assert (row.baseline, row.labels) == (8.0, ("last",))
    assert (row.stderr == 0.5).all()
    assert batch[:1].values.tolist() == [[1, 2, 3]]
    assert len(batch) == 2
    assert [each["a", "c"] for each in batch] == [2, 5]
    assert list(row) == row.coalitions
    with pytest.raises(KeyError, match=r"no interaction of \{a\}"):
        row["a"]
    with pytest.raises(KeyError, match="no row 'zed'"):
        batch["zed"]


def test_outputs_are_taken_by_name():
    every = dataclasses.replace(interactions([[1, 2, 3], [-4, 5, 6]]), outputs=("low", "high"))
    assert every.output("high")["a", "b"] == -4
    assert [each["a", "c"] for each in every] == [2, 5]
    assert repr(every).splitlines()[0].split("  ") == ["coalition", "mean |interaction|"]
    assert set(every.mean().labels) == {"low", "high"}


def test_errors_are_an_array_and_zero_where_exact():
    assert interactions([1, 2, 3]).stderr.tolist() == [0, 0, 0]
    assert "±" not in repr(interactions([1, 2, 3]))
    assert interactions([[1, 2, 3]], stderr=0.25).stderr.tolist() == [[0.25] * 3]


def test_means_are_signed_and_absolute():
    means = interactions([[1, 2, 3], [-4, 5, 6]]).mean()
    assert means["a", "b"] == -1.5
    assert means.magnitude.tolist() == [[2.5, 3.5, 4.5]]
    assert repr(means).splitlines()[1].split() == ["{b,", "c}", "4.5", "4.5"]
    apart = interactions([[1, 2, 3], [-4, 5, 6]]).mean(by=["x", "y"])
    assert apart["a", "b"] == {"x": 1, "y": -4}
    with pytest.raises(ValueError, match="only a batch has means"):
        interactions([1, 2, 3]).mean()


def test_sizes_and_the_matrix_with_players_alone():
    found = ff.interactions(ff.TableGame(np.arange(8.0) ** 2, ["a", "b", "c"]), "stii", order=3)
    assert found.of_size(2).coalitions == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found["a"] == found.values[0]
    with pytest.raises(ValueError, match="only pairs make a matrix"):
        found.matrix()
    with pytest.raises(ValueError, match="no interactions of 4 players"):
        found.of_size(4)
    both = ff.interactions(ff.TableGame(np.arange(8.0) ** 2, ["a", "b", "c"]), "stii")
    assert both.square
    assert_allclose(np.diag(both.matrix()), both.values[:3])
    assert_allclose(both.matrix()[0, 1], both["a", "b"])


@pytest.mark.parametrize("criterion", ["shapley", "k_sii"])
def test_saved_as_plain_data(criterion, tmp_path, rng):
    game = ff.TableGame(rng.standard_normal((2, 3, 8)), ["a", ("b", 1), 7])
    found = ff.interactions(game, criterion)
    found.save(tmp_path / "found.npz")
    again = ff.Interactions.load(tmp_path / "found.npz")
    assert repr(again) == repr(found)
    assert_allclose(again.values, found.values, rtol=0)
    assert_allclose(again.baseline, found.baseline, rtol=0)
    assert (again.stderr == 0).all()
    assert again[1, 2]["a", 7] == found[1, 2]["a", 7]
    with pytest.raises(ValueError, match="holds a list of interactions"):
        ff.Valuation.load(tmp_path / "found.npz")


def test_frames_name_games_outputs_and_coalitions(rng):
    pytest.importorskip("pandas")
    batch = dataclasses.replace(interactions([[1, 2, 3], [-4, 5, 6]]), labels=("x", "y"))
    frame = batch.to_frame()
    assert frame.index.names == ["row", "coalition"]
    assert list(frame.columns) == ["value", "stderr"]
    assert frame.loc["y", "value"].tolist() == [-4, 5, 6]
    assert list(batch[0].to_frame().index) == batch.coalitions
    assert "mean |interaction|" in batch.mean().to_frame()


def test_shapiq_has_the_same_interactions(rng):
    shapiq = pytest.importorskip("shapiq")
    game = ff.TableGame(rng.standard_normal(2**6))
    computer = shapiq.ExactComputer(n_players=6, game=ff.to_shapiq(game))
    for criterion, index in SHAPIQ.items():
        for order in (2, 3):
            found = ff.interactions(game, criterion, order=order)
            theirs, ours = computer(index, order=order), found.to_shapiq()
            # Their FSII binds the fit to its ends by large weights.
            close = 1e-8 if index == "FSII" else 1e-10
            for coalition in found.coalitions:
                assert ours[coalition] == found[coalition]
                assert theirs[coalition] == pytest.approx(ours[coalition], abs=close)
            assert ours.baseline_value == found.baseline
    with pytest.raises(ValueError, match="shapiq has no interactions by log_odds"):
        ff.interactions(game, "log_odds").to_shapiq()
    with pytest.raises(ValueError, match="a batch has no single to_shapiq"):
        interactions([[1, 2, 3], [-4, 5, 6]]).to_shapiq()
