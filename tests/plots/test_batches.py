"""Boxes and swarms over a batch."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import fairfield as ff
import pictures
from fairfield import plots
from fairfield.plots.canvas import GREY


def test_boxes_and_dots_are_counted():
    batch = pictures.many(12)
    assert len(plots.box(batch).patches) == 12
    assert len(plots.box(pictures.compared(12, batch=True)).patches) == 36
    ax = plots.beeswarm(batch)
    assert [len(dots.get_offsets()) for dots in ax.collections] == [200] * 12
    words = dataclasses.replace(batch, data=batch.data.astype(str).astype(object) + "x")
    assert len(plots.beeswarm(words).figure.axes) == 1  # no colours, no colour bar
    bare = dataclasses.replace(batch, data=None)
    assert len(plots.beeswarm(bare).figure.axes) == 1


def test_what_is_no_number_is_grey_in_a_swarm():
    from matplotlib.colors import to_rgba

    batch = pictures.many(3)
    data = np.array(batch.data, dtype=float)
    data[::2] = np.nan
    ax = plots.beeswarm(dataclasses.replace(batch, data=data))
    for dots in ax.collections:
        dots.update_scalarmappable()
        grey = (dots.get_facecolors() == to_rgba(GREY)).all(axis=1)
        assert len(grey) == len(data)
        assert_array_equal(grey, np.isnan(data[:, 0]))
    lost = dataclasses.replace(batch, data=np.full_like(data, np.nan))
    assert len(plots.beeswarm(lost).figure.axes) == 1


def test_a_swarm_does_not_hide_equal_values():
    batch = pictures.many(3, games=9)
    batch = dataclasses.replace(batch, values=np.zeros((9, 3)))
    offsets = plots.beeswarm(batch).collections[0].get_offsets()
    assert len({round(float(y), 6) for _, y in offsets}) == 9


def test_outputs_have_boxes_of_their_own():
    every = pictures.classes()
    ax = plots.box(every)
    assert len(ax.patches) == 6
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["low", "class 7"]
    assert ax.get_xlabel() == "shapley (log-odds)"
    for draw, given in ((plots.beeswarm, every), (plots.box, ff.Comparison({"one": every}))):
        with pytest.raises(ValueError, match=r"draws one class; take it by .output\('low'\)"):
            draw(given)
    assert len(plots.beeswarm(every.output(7)).collections) == 3
    with pytest.raises(ValueError, match="draws a batch of rows; this valuation is of one"):
        plots.box(every[0])
