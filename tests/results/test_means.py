"""Means over a batch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose


def test_means_over_a_batch(many):
    overall = many.mean()
    assert_allclose(overall.mean[0], many.values.mean(axis=0))
    assert_allclose(overall.magnitude[0], np.abs(many.values).mean(axis=0))
    by = many.mean(by=["yes", "no", "no", "no"])
    assert by.labels == ("no", "yes")
    assert_allclose(by.mean[1], many.values[0])
    with pytest.raises(ValueError, match="one per game"):
        many.mean(by=["yes"])
    with pytest.raises(ValueError, match="only a batch"):
        many[0].mean()
    pytest.importorskip("pandas")
    assert by.to_frame().shape == (6, 2)


def test_means_are_shown_and_read_by_player(named):
    means = named.mean()
    assert means["<script>"] == pytest.approx(3)
    by = named.mean(by=["x", "y"])
    assert by["ann"] == pytest.approx({"x": 3, "y": -1})
    assert repr(by).splitlines()[0].split() == ["player", "mean,", "x", "mean,", "y"]
    assert "mean |value|" in repr(means)
    assert "&lt;script&gt;" in means._repr_html_()
    with pytest.raises(KeyError, match="no player 'zed'"):
        means["zed"]


def test_means_of_outputs_are_not_mixed(classes):
    means = classes.mean()
    assert means.labels == ("low", 7)
    assert_allclose(means.mean, classes.values.mean(axis=0))
    assert_allclose(means.magnitude, np.abs(classes.values).mean(axis=0))
    assert list(means["ann"]) == ["low", 7]
    by = classes.mean(by=["b", "a", "b"])
    assert by.labels == (("a", "low"), ("a", 7), ("b", "low"), ("b", 7))
    assert_allclose(by.mean[1], classes.values[1, 1])
    assert "mean, b, 7" in repr(by)
    with pytest.raises(ValueError, match="for 3 rows; give one per row"):
        classes.mean(by=["a"] * 6)
    assert_allclose(classes[0].mean().mean, classes.values[0])
    pytest.importorskip("pandas")
    assert by.to_frame().shape == (12, 2)
