"""Pictures of many rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pictures
from fairfield import plots

plt = pytest.importorskip("matplotlib.pyplot")


def test_a_map_holds_every_value_of_the_players_that_are_asked_for():
    v = pictures.many(12)
    ax = plots.heatmap(v, most=3)
    drawn = ax.images[0].get_array()
    order = np.argsort(-np.abs(v.values).mean(axis=0))[:3]
    assert drawn.shape == (3, 200)
    assert_allclose(np.sort(drawn, axis=1), np.sort(v.values[:, order].T, axis=1))


def test_cohorts_are_means_with_their_intervals():
    v = pictures.many(12)
    by = np.where(np.arange(200) < 50, "few", "many").astype(object)
    by[:10] = None
    ax = plots.cohorts(v, by, most=2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "few (40)", "many (150)", "missing (10)"
    ]  # fmt: skip
    dots, _, bars = ax.containers[1].lines
    size = np.abs(v.values[50:])
    assert_allclose(dots.get_xdata()[0], size[:, 0].mean())
    ends = bars[0].get_segments()[0][:, 0]
    half = 1.96 * size[:, 0].std(ddof=1) / np.sqrt(150)
    assert_allclose(ends, size[:, 0].mean() + np.array([-half, half]), rtol=1e-4)
