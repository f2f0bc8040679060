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
