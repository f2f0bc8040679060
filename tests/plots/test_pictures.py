"""Every picture as an image, its labels inside the figure and apart.

After an intended change: ``pytest tests/plots --mpl-generate-path=tests/plots_baseline``,
and look at what it wrote.
"""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import fairfield as ff
import pictures
from fairfield import plots

plt = pytest.importorskip("matplotlib.pyplot")

# Fonts are drawn a little differently by other versions of matplotlib.
IMAGE = {"style": "default", "tolerance": 12, "savefig_kwargs": {"dpi": 36}}


def is_inside(ax, text):
    box, frame = text.get_window_extent(), ax.figure.bbox
    return box.x0 >= -1 and box.x1 <= frame.x1 + 1 and box.y0 >= -1 and box.y1 <= frame.y1 + 1


@pytest.mark.parametrize("name", pictures.ALL)
@pytest.mark.mpl_image_compare(**IMAGE)
def test_image(name, texts_of):
    ax = pictures.draw(name, 12)
    assert all(is_inside(ax, text) for text in texts_of(ax))
    return ax.figure


@pytest.mark.parametrize("name", ["bar", "waterfall", "annealing", "ranks"])
@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_of_sixty(name):
    return pictures.draw(name, 60).figure


@pytest.mark.parametrize("name", sorted(set(pictures.ALL) - {"bar_batch", "annealing_marginals"}))
def test_texts_lie_inside_with_sixty_players(name, texts_of):
    ax = pictures.draw(name, 60)
    outside = [text.get_text() for text in texts_of(ax) if not is_inside(ax, text)]
    assert not outside


@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_of_long_names():
    return plots.waterfall(pictures.one(12, players=pictures.LONG_NAMES)).figure


@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_of_curves():
    labels = {"variational_index": 0.032201, "shapley": 0.081885, "banzhaf": 0.081227}
    curves = [
        pictures.curve(label, rate) for label, rate in zip(labels, (3.1, 2.0, 2.5), strict=True)
    ]
    return plots.curves(curves, errors=labels).figure


@pytest.mark.parametrize("count", [12, 60])
@pytest.mark.parametrize("name", ["bar", "criteria", "waterfall"])
def test_names_do_not_touch(name, count, texts_of):
    ax = pictures.draw(name, count)
    texts_of(ax)
    boxes = sorted((t.get_window_extent() for t in ax.get_yticklabels()), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))
    assert all(t.get_fontsize() >= 6 for t in ax.get_yticklabels())


@pytest.mark.parametrize("name", ["bar", "box", "beeswarm", "criteria"])
def test_an_axes_that_is_given_is_used(name):
    _, (left, right) = plt.subplots(1, 2)
    given = pictures.compared(12) if name == "criteria" else pictures.many(12)
    assert getattr(plots, name)(given, right) is right
    assert not left.has_data()


def test_what_cannot_be_drawn_is_refused():
    one, many = pictures.one(12), pictures.many(12)
    with pytest.raises(ValueError, match="waterfall draws one row"):
        plots.waterfall(many)
    with pytest.raises(ValueError, match="beeswarm draws a batch"):
        plots.beeswarm(one)
    with pytest.raises(ValueError, match="no trajectory; use variational_values"):
        plots.trajectory(one)
    shapley = ff.annealing(np.random.default_rng(0).standard_normal(8), criteria="shapley")
    with pytest.raises(ValueError, match="was not annealed; choose one of shapley"):
        plots.annealing(shapley)
    assert len(plots.annealing(shapley, what="decoupling_errors").lines) == 1
    with pytest.raises(ValueError, match="annealing draws one game"):
        plots.annealing(ff.annealing(np.random.default_rng(0).standard_normal((2, 8))))
    with pytest.raises(ValueError, match=r"does not know F\(∅\)"):
        plots.waterfall(dataclasses.replace(one, empty=None))
