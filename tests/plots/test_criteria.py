"""Criteria side by side, and ranks that differ."""

import numpy as np
import pytest

import fairfield as ff
import pictures
from fairfield import plots


def test_a_legend_does_not_lie_on_the_bars():
    found = ff.compare(np.random.default_rng(0).standard_normal(16), temperature=0.5)
    ax = plots.criteria(found)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1 - 1
    assert box.y1 <= ax.figure.bbox.y1 + 1
    assert box.x1 <= ax.figure.bbox.x1 + 1
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].startswith("variational_index (decoupling error")


def test_means_beside_ranks_have_the_same_digits():
    shown = [t.get_text() for t in plots.ranks(pictures.compared(12, batch=True)).texts]
    digits = {len(text.partition(".")[2]) for text in shown if "(+" in text or "(−" in text}
    assert len(digits) == 1


def test_differing_ranks_are_coloured():
    same = ff.compare(lambda S: S @ [3.0, 2.0, 1.0], players=list("abc"))
    colours = {t.get_color() for t in plots.ranks(same).texts}
    assert colours == {"black"}
    ax = plots.ranks(pictures.compared(12))
    coloured = {t.get_text() for t in ax.texts if t.get_color() != "black"}
    assert {"Relationship", "Country"} <= coloured
    assert "Sex" not in coloured


def test_criteria_of_outputs_are_magnitudes():
    every = pictures.classes()
    both = ff.Comparison({"one": every, "two": every})
    ax = plots.criteria(both)
    assert ax.get_xlabel() == "mean |value| (log-odds)"
    widest = np.abs(every.values).mean(axis=(0, 1)).max()
    assert max(patch.get_width() for patch in ax.patches) == pytest.approx(widest)
    with pytest.raises(ValueError, match="ranks draws one class"):
        plots.ranks(both)
    plots.ranks(both.output("low"))
