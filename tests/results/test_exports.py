"""Valuations as DataFrames."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import fairfield as ff
from fairfield.results.words import Words

NAMES = ["ann", "bob", "<script>"]


def test_players_may_be_tuples(tmp_path):
    pytest.importorskip("pandas")
    v = ff.shapley(lambda S: S.sum(axis=1), players=[("a", 1), ("b", 2)])
    assert list(v.to_frame().index) == [("a", 1), ("b", 2)]


def test_frames(one, many):
    pytest.importorskip("pandas")
    frame = one.to_frame()
    assert list(frame.columns) == ["value", "marginal"]
    assert list(frame.index) == NAMES
    assert many.to_frame().index.names == ["game", "player"]
    assert many.to_frame().loc[2, "value"].tolist() == many.values[2].tolist()
    both = ff.compare(np.arange(8.0), temperature=1.0).to_frame()
    assert list(both.columns) == ["variational_index", "banzhaf", "shapley"]


def test_frames_of_named_games(named):
    pytest.importorskip("pandas")
    assert_allclose(named.to_frame().loc["loss", "value"], [-1, 0, 5], atol=1e-12)


def test_frames_of_explanations_name_rows_and_features(many):
    pytest.importorskip("pandas")
    batch = dataclasses.replace(many, words=Words("feature", "row"))
    assert batch.to_frame().index.names == ["row", "feature"]
    assert batch[0].to_frame().index.name == "feature"
    assert batch.mean().to_frame().index.names == ["label", "feature"]


def test_frames_name_outputs(classes):
    pytest.importorskip("pandas")
    frame = classes.to_frame()
    assert frame.index.names == ["row", "output", "feature"]
    assert frame.loc[("x", 7, "bob"), "value"] == classes.values[1, 1, 1]
    assert classes[0].to_frame().index.names == ["output", "feature"]
    assert classes.output(7).to_frame().index.names == ["row", "feature"]


def test_shap_has_outputs_last(classes_game):
    pytest.importorskip("shap")
    for criterion in (ff.shapley, ff.banzhaf):
        v = criterion(classes_game * 1.0 + 0.5 * classes_game)
        assert v.to_shap()[..., 0].values.shape == v.output("low").to_shap().values.shape
    v = dataclasses.replace(ff.variational_index(classes_game), stderr=np.ones((3, 2, 3)))
    view = v.to_shap()
    assert view.output_names == ["low", "7"]
    for at, name in enumerate(("low", 7)):
        one, alone = view[..., at], v.output(name).to_shap()
        for what in ("values", "base_values", "data", "lower_bounds"):
            assert_allclose(getattr(one, what), getattr(alone, what))
    assert v[0].to_shap().values.shape == (*view.values.shape[1:],)
