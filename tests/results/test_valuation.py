"""Valuations are read, sliced and frozen."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
from fairfield.results.words import Words

NAMES = ["ann", "bob", "<script>"]


def test_it_tells_what_was_done(one):
    assert one.criterion == "variational_index"
    assert one.method == "exact table"
    assert one.game == "TableGame: 3 players"
    assert one.evaluations == 0
    assert one.seconds > 0
    assert one.converged is True
    assert {"fairfield", "numpy", "scipy"} <= set(one.versions)
    assert isinstance(one.decoupling_error, float)


def test_numpy_takes_the_values_not_the_names():
    v = ff.shapley([0, 1, 1, 4])
    assert_array_equal(np.asarray(v), v.values)
    assert np.sum(v) == 4
    pairs = ff.interactions([0, 1, 1, 4])
    assert_array_equal(np.asarray(pairs, dtype=np.float32), pairs.values)


def test_empty_and_grand_are_the_ends(rng):
    table = rng.standard_normal(8)
    v = ff.shapley(table)
    assert (v.empty, v.grand) == (table[0], table[-1])
    assert_allclose(v.values.sum(), v.grand - v.empty)
    assert v.marginals is None
    assert v.decoupling_error is None


def test_ranking_and_difference():
    v = ff.shapley(lambda S: S @ [1.0, 3.0, 2.0], players=NAMES)
    assert v.ranking() == ["bob", "<script>", "ann"]
    assert v.difference("bob", "ann") == (2, 2, 2)


def test_rows_of_a_batch(many):
    assert many.batch == (4,)
    row = many[2]
    assert row.batch == ()
    assert_array_equal(row.values, many.values[2])
    assert_array_equal(row.trajectory, many.trajectory[:, 2])
    assert isinstance(row.elbo, float)
    assert row.stop == "took the steps asked for"
    assert many.stop == "4 × took the steps asked for"
    assert many[1:3].batch == (2,)
    assert len(many.converged) == 4
    assert row[0] == row.values[0]
    with pytest.raises(KeyError, match="no player 'zed'"):
        row["zed"]
    with pytest.raises(ValueError, match="take one game"):
        many.ranking()


def test_a_batch_as_long_as_its_players_is_sliced_right(rng):
    """Square arrays must not be taken for something else."""
    v = ff.variational_index(rng.standard_normal((3, 8)), temperature=1.0)
    assert v[1].players == v.players
    assert_array_equal(v[1].values, v.values[1])
    assert v[1].temperature == 1.0


def test_a_batch_of_two_axes_is_sliced_along_them(rng):
    v = ff.variational_values(rng.standard_normal((2, 3, 8)), 2, temperature=1.0)
    assert v[1].batch == (3,)
    assert_array_equal(v[1, 2].values, v.values[1, 2])
    assert_array_equal(v[..., 0].values, v.values[:, 0])
    assert_array_equal(v[1].trajectory, v.trajectory[:, 1])
    assert v[1, 2].elbo == v.elbo[1, 2]
    assert [row.batch for row in v] == [(3,), (3,)]
    with pytest.raises(IndexError):
        v[0, 0, 0]


def test_one_game_is_read_by_player():
    v = ff.shapley(lambda S: S @ [1.0, 3.0, 2.0], players=NAMES)
    assert v["bob"] == pytest.approx(3)
    assert v.to_dict()["values"] == pytest.approx([1, 3, 2])
    assert v.to_dict()["players"] == NAMES
    assert list(v) == NAMES
    assert len(v) == 3
    assert "ann" in v
    assert "zed" not in v


def test_it_cannot_be_changed(one):
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.criterion = "other"


def test_decoupling_can_be_left_out(rng):
    table = brute.mixed(rng, 5)
    v = ff.variational_index(table, temperature=1.0, decoupling=False)
    assert v.log_z is None
    assert v.decoupling_error is None
    assert v.marginals is not None


def test_games_that_share_a_name_come_together(named):
    alike = dataclasses.replace(named, labels=("hits", "hits"))
    assert alike["hits"].batch == (2,)
    pytest.importorskip("pandas")
    frame = ff.Comparison({"one": alike, "two": alike}).to_frame()
    assert_array_equal(frame["two"], named.values.ravel())


def test_games_of_a_batch_are_picked_by_name(named, named_game):
    assert_allclose(named["loss"].values, [-1, 0, 5], atol=1e-12)
    assert named[::-1].labels == ("loss", "hits")
    with pytest.raises(KeyError, match=r"the games of this batch are \{hits, loss\}"):
        named["accuracy"]
    with pytest.raises(KeyError, match="have no names, take one as v"):
        ff.shapley(np.arange(8.0).reshape(2, 4))["hits"]
    assert ff.shapley(2.0 * named_game)["loss"]["bob"] == pytest.approx(0)


def test_errors_speak_of_features_and_rows(many):
    batch = dataclasses.replace(many, words=Words("feature", "row"))
    with pytest.raises(KeyError, match="there is no feature 'zed'; the features are"):
        batch[0]["zed"]
    with pytest.raises(KeyError, match="there is no row 'zed'; the rows of this batch"):
        batch["zed"]
    with pytest.raises(ValueError, match="take one row"):
        batch.ranking()
    with pytest.raises(ValueError, match="for 4 rows; give one per row"):
        batch.mean(by=["yes"])


def test_outputs_are_taken_by_name(classes):
    assert classes.batch == (3, 2)
    assert (classes.lead, classes.extent) == ((3,), "3 rows × 2 classes")
    for at, name in enumerate(["low", 7]):
        one = classes.output(name)
        assert one.outputs is None
        assert_array_equal(one.values, classes.values[:, at])
        assert_array_equal(one.temperature, classes.temperature[:, at])
        assert one.labels == ("w", "x", "y")
        assert one.words == Words("feature", "row", f"margin of class {name}", "log-odds")
    assert_array_equal(classes[:, "low"].values, classes.values[:, 0])
    assert_array_equal(classes["x", "low"].values, classes.values[1, 0])
    assert_array_equal(classes["x"]["low"].values, classes.values[1, 0])
    assert_array_equal(classes[..., 1].values, classes.values[:, 1])
    assert isinstance(classes["x", "low"].elbo, float)
    with pytest.raises(KeyError, match=r"there is no class 'mid'; the classes are \{low, 7\}"):
        classes.output("mid")
    with pytest.raises(KeyError, match="no class 'w'"):
        classes[:, "w"]
    with pytest.raises(ValueError, match="of one output, the margin of class low"):
        classes.output("low").output("low")


def test_some_rows_or_outputs_keep_their_names(classes):
    row = classes[1]
    assert (row.batch, row.outputs, row.labels) == ((2,), ("low", 7), ("x",))
    assert (classes[::-1].labels, classes[::-1].outputs) == (("y", "x", "w"), ("low", 7))
    turned = classes[1:, ::-1]
    assert (turned.batch, turned.outputs) == ((2, 2), (7, "low"))
    assert_array_equal(turned.values, classes.values[1:, ::-1])
    assert (classes[:, :1].batch, classes[:, :1].outputs) == ((3, 1), ("low",))
    assert_array_equal(classes[[True, False, True], 0].values, classes.values[[0, 2], 0])
    assert [each.outputs for each in classes] == [("low", 7)] * 3
    with pytest.raises(IndexError):
        classes[0, 0, 0]


def test_one_of_several_outputs_is_asked_for(classes):
    with pytest.raises(ValueError, match=r"take one row and one class, v.output\('low'\)\[i\]"):
        classes.ranking()
    with pytest.raises(ValueError, match=r"take one class, v.output\('low'\).ranking"):
        classes[0].ranking()


def test_sums_of_games_keep_their_outputs(classes_game):
    assert ff.shapley(2.0 * classes_game).outputs == ("low", 7)
    assert repr(2.0 * classes_game) == "Combination: 3 rows of 3 features, for 2 classes"


def test_values_of_one_player_over_a_batch(classes):
    assert_array_equal(classes[:, "low", "bob"], classes.output("low").values[:, 1])
    low = classes.output("low")
    assert_array_equal(low[:, "bob"], low.values[:, 1])
    assert low["x", "bob"] == low["x"].values[1]
    with pytest.raises(KeyError, match="there is no feature 'z'"):
        low[:, "z"]


def test_means_of_labels_that_are_missing():
    v = ff.shapley(np.arange(16.0).reshape(4, 4))
    means = v.mean(by=[2.0, float("nan"), 2.0, None])
    assert means.labels == (2.0, "missing")
    assert_array_equal(means.mean, [v.values[[0, 2]].mean(axis=0), v.values[[1, 3]].mean(axis=0)])
