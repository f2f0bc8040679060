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
