"""Every picture as an image, its parts counted, its labels inside the figure and apart.

After a change that is meant: ``pytest tests/plots --mpl-generate-path=tests/plots_baseline``,
and look at what it wrote.
"""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import brute
import fairfield as ff
import pictures
from fairfield import plots
from fairfield.plots.canvas import GREY, apart, number, signed

plt = pytest.importorskip("matplotlib.pyplot")
to_rgba = pytest.importorskip("matplotlib.colors").to_rgba

# Fonts are drawn a little differently by other versions of matplotlib.
IMAGE = {"style": "default", "tolerance": 12, "savefig_kwargs": {"dpi": 36}}


@pytest.fixture(autouse=True)
def _put_away():
    plt.switch_backend("agg")
    yield
    plt.close("all")


def texts_of(ax):
    """All texts that are drawn with an axes, its figure laid out."""
    ax.figure.canvas.draw()
    if not ax.axison:
        return ax.texts
    (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    ticks = [t for t in ax.get_xticklabels() if left <= t.get_position()[0] <= right]
    ticks += [t for t in ax.get_yticklabels() if low <= t.get_position()[1] <= high]
    every = [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label]
    return [text for text in every if text.get_text().strip()]


def is_inside(ax, text):
    box, frame = text.get_window_extent(), ax.figure.bbox
    return box.x0 >= -1 and box.x1 <= frame.x1 + 1 and box.y0 >= -1 and box.y1 <= frame.y1 + 1


@pytest.mark.parametrize("name", pictures.ALL)
@pytest.mark.mpl_image_compare(**IMAGE)
def test_image(name):
    ax = pictures.draw(name, 12)
    assert all(is_inside(ax, text) for text in texts_of(ax))
    return ax.figure


@pytest.mark.parametrize("name", ["bar", "waterfall", "annealing", "ranks"])
@pytest.mark.mpl_image_compare(**IMAGE)
def test_image_of_sixty(name):
    return pictures.draw(name, 60).figure


@pytest.mark.parametrize("name", sorted(set(pictures.ALL) - {"bar_batch", "annealing_marginals"}))
def test_texts_lie_inside_with_sixty_players(name):
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
def test_names_do_not_touch(name, count):
    ax = pictures.draw(name, count)
    texts_of(ax)
    boxes = sorted((t.get_window_extent() for t in ax.get_yticklabels()), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))
    assert all(t.get_fontsize() >= 6 for t in ax.get_yticklabels())


def test_names_of_forty_letters_are_whole():
    ax = plots.waterfall(pictures.one(12, players=pictures.LONG_NAMES))
    frame = ax.figure.bbox
    shown = [t for t in texts_of(ax) if "forty letters" in t.get_text()]
    assert len(shown) == 12
    for text in shown:
        assert text.get_text().split(" = ")[0] in pictures.LONG_NAMES
        assert text.get_window_extent().x0 >= frame.x0


def bars(ax):
    return [patch for patch in ax.patches if patch.get_height() > 0.1]


def test_bars_are_the_values_in_order():
    found = pictures.one(12, errors=True)
    ax = plots.bar(found)
    assert_allclose([b.get_width() for b in bars(ax)], np.sort(found.values)[::-1])
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert [label.split(" = ")[0] for label in labels] == found.ranking()
    (errors,) = [c for c in ax.collections if hasattr(c, "get_segments")]
    widths = [segment[1, 0] - segment[0, 0] for segment in errors.get_segments()]
    order = np.argsort(-found.values)
    assert_allclose(widths, 2 * 1.96 * found.stderr[order])
    assert len(bars(plots.bar(found, most=5))) == 5


@pytest.mark.parametrize("criterion", [ff.shapley, ff.variational_index])
@pytest.mark.parametrize("count", [12, 60])
def test_a_waterfall_leads_from_the_empty_to_the_grand_coalition(count, criterion):
    found = pictures.one(count, criterion)
    ax = plots.waterfall(found)
    steps = bars(ax)
    names = [t.get_text() for t in ax.get_yticklabels()]
    remainder = criterion is ff.variational_index
    assert ("(remainder)" in names) == remainder
    assert len(steps) == min(count, 20) + remainder
    assert ("41 other players" in names) == (count == 60)
    assert_allclose(sum(s.get_width() for s in steps), found.grand - found.empty)
    assert_allclose(steps[0].get_x() + steps[0].get_width(), found.grand)
    assert_allclose(steps[-1].get_x(), found.empty, atol=1e-9)


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


def test_rounding_of_large_values_is_no_step():
    large = np.array([1e9 / 3, -1e9 / 7, 1e9 / 11])
    every = brute.coalitions(3)
    found = ff.shapley(ff.TableGame(every @ large - large.sum() * every.all(axis=1)))
    names = [t.get_text() for t in plots.waterfall(found).get_yticklabels()]
    assert "(remainder)" not in names


def test_a_swarm_does_not_hide_equal_values():
    batch = pictures.many(3, games=9)
    batch = dataclasses.replace(batch, values=np.zeros((9, 3)))
    offsets = plots.beeswarm(batch).collections[0].get_offsets()
    assert len({round(float(y), 6) for _, y in offsets}) == 9


def test_a_legend_does_not_lie_on_the_bars():
    found = ff.compare(np.random.default_rng(0).standard_normal(16), temperature=0.5)
    ax = plots.criteria(found)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1 - 1
    assert box.y1 <= ax.figure.bbox.y1 + 1
    assert box.x1 <= ax.figure.bbox.x1 + 1
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told[0].startswith("variational_index (decoupling error")


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


def test_paths_name_their_players():
    ax = pictures.draw("trajectory", 12)
    assert len([line for line in ax.lines if len(line.get_xdata()) == 11]) == 12
    assert {t.get_text() for t in ax.texts} == set(pictures.FEATURES)
    crowded = pictures.draw("annealing", 60)
    assert "grey: 48 other players" in {t.get_text() for t in crowded.texts}
    assert len(crowded.texts) == 13


def test_curves_and_annealing_tell_their_decoupling_errors():
    table = ff.compare(np.random.default_rng(0).standard_normal(16), temperature=0.5)
    ax = plots.curves([pictures.curve("shapley", 2.0)], errors=table)
    (label,) = [t.get_text() for t in ax.get_legend().get_texts()]
    assert label == f"shapley (decoupling error {table['shapley'].decoupling_error:.3g})"
    game = np.random.default_rng(0).standard_normal(16)
    ax = plots.curves([ff.removal_curve(ff.TableGame(game), table["banzhaf"])], errors=table)
    (label,) = [t.get_text() for t in ax.get_legend().get_texts()]
    assert label.startswith("banzhaf, highest removed first (decoupling error")
    many = ff.TableGame(np.random.default_rng(0).standard_normal((3, 16)))
    curve = ff.removal_curve(many, [3.0, 1.0, 2.0, 0.0])
    (line,) = plots.curves([curve]).lines
    assert_allclose(line.get_ydata(), curve.worths.mean(axis=0))
    path = ff.annealing(np.random.default_rng(0).standard_normal(16))
    ax = plots.annealing(path, what="decoupling_errors")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == list(path.comparisons[0])
    with pytest.raises(ValueError, match="choose values, marginals or"):
        plots.annealing(path, what="energies")


def test_coalitions_that_make_no_matrix_are_bars():
    game = pictures.game(12)
    three = ff.interactions(game + ff.UnanimityGame(game.players[:3], players=game.players),
                            "banzhaf", order=3)  # fmt: skip
    ax = plots.interactions(three)
    assert len(ax.patches) == 20
    assert ax.patches[0].get_width() == pytest.approx(1.0)
    assert ax.get_yticklabels()[0].get_text() == "{Age, Workclass, Education-Num}"
    many = ff.interactions(pictures.game(120), "banzhaf", top=5)
    assert len(plots.interactions(many).patches) == 5
    some = ff.interactions(pictures.game(12), "banzhaf", top=5)
    assert len(plots.interactions(some).patches) == 5
    errors = dataclasses.replace(many, stderr=np.full(5, 0.1))
    assert len(plots.interactions(errors).containers) == 2


def test_critical_temperatures_are_marked():
    path = ff.annealing([0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.6, 0.4, 0.2])
    dotted = [line for line in plots.annealing(path).lines if line.get_linestyle() == ":"]
    assert [line.get_xdata()[0] for line in dotted] == list(path.critical)


def test_interactions_fill_a_matrix():
    found = ff.interactions(pictures.game(12), "banzhaf")
    ax = plots.interactions(found)
    shown = ax.images[0].get_array()
    assert_allclose(shown.filled(0), found.matrix())
    assert len(ax.texts) == 12 * 11
    batch = ff.interactions(np.random.default_rng(0).standard_normal((5, 8)))
    assert_allclose(
        plots.interactions(batch).images[0].get_array().filled(0), batch.matrix().mean(axis=0)
    )


@pytest.mark.parametrize("name", ["bar", "box", "beeswarm", "criteria"])
def test_an_axes_that_is_given_is_used(name):
    _, (left, right) = plt.subplots(1, 2)
    given = pictures.compared(12) if name == "criteria" else pictures.many(12)
    assert getattr(plots, name)(given, right) is right
    assert not left.has_data()


def test_what_cannot_be_drawn_is_told():
    one, many = pictures.one(12), pictures.many(12)
    with pytest.raises(ValueError, match="waterfall draws one game"):
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


def test_labels_stand_apart_between_their_bounds(rng):
    heights = rng.random(9)
    moved = apart(heights, 0.2, 0.0, 2.0)
    assert np.diff(np.sort(moved)).min() >= 0.2 - 1e-12
    assert moved.min() >= 0
    assert moved.max() <= 2.0 + 1e-12
    assert (np.argsort(moved) == np.argsort(heights)).all()


def test_numbers_are_short():
    assert [signed(v, 1.0) for v in (0.5, -0.25, 0.0)] == ["+0.50", "−0.25", "0"]
    assert [number(v) for v in (3.14159265, "x", True, 7, None)] == [
        "3.142",
        "x",
        "True",
        "7",
        "None",
    ]


def test_one_curve_may_be_given_as_it_is():
    worth = lambda S: S @ [3.0, 2.0, 1.0]  # noqa: E731
    ax = plots.curves(ff.removal_curve(worth, [3, 2, 1]))
    assert_array_equal(ax.lines[0].get_ydata(), [6, 3, 1, 0])


def test_bars_of_means(rng):
    v = ff.shapley(rng.standard_normal((5, 8)))
    whole = plots.bar(v.mean())
    widths = [bar.get_width() for bar in whole.patches]
    assert_allclose(widths, -np.sort(-v.mean().magnitude[0]))
    by = v.mean(by=list("xxyyy"))
    ax = plots.bar(by, most=2)
    assert len(ax.patches) == 4
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x", "y"]
    first = np.argmax(by.magnitude.max(axis=0))
    assert_allclose([ax.patches[0].get_width(), ax.patches[2].get_width()], by.magnitude[:, first])
