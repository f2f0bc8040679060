"""Bars and waterfalls: their widths, names and order."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff
import pictures
from fairfield import plots
from fairfield.results.valuation import NORMAL


def bars(ax):
    return [patch for patch in ax.patches if patch.get_height() > 0.1]


def test_names_of_forty_letters_are_whole(texts_of):
    ax = plots.waterfall(pictures.one(12, players=pictures.LONG_NAMES))
    frame = ax.figure.bbox
    shown = [t for t in texts_of(ax) if "forty letters" in t.get_text()]
    assert len(shown) == 12
    for text in shown:
        assert text.get_text().split(" = ")[0] in pictures.LONG_NAMES
        assert text.get_window_extent().x0 >= frame.x0


def test_bars_are_the_values_in_order():
    found = pictures.one(12, errors=True)
    ax = plots.bar(found)
    assert_allclose([b.get_width() for b in bars(ax)], np.sort(found.values)[::-1])
    labels = [t.get_text() for t in ax.get_yticklabels()]
    assert [label.split(" = ")[0] for label in labels] == found.ranking()
    (errors,) = [c for c in ax.collections if hasattr(c, "get_segments")]
    widths = [segment[1, 0] - segment[0, 0] for segment in errors.get_segments()]
    order = np.argsort(-found.values)
    assert_allclose(widths, 2 * NORMAL * found.stderr[order])
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


def test_rounding_of_large_values_is_no_step():
    large = np.array([1e9 / 3, -1e9 / 7, 1e9 / 11])
    every = brute.coalitions(3)
    found = ff.shapley(ff.TableGame(every @ large - large.sum() * every.all(axis=1)))
    names = [t.get_text() for t in plots.waterfall(found).get_yticklabels()]
    assert "(remainder)" not in names


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


def test_explanations_name_features_and_units(texts_of):
    found = dataclasses.replace(pictures.one(60), words=pictures.EXPLAINED)
    shown = {text.get_text() for text in texts_of(plots.waterfall(found))}
    assert {"41 other features", "log-odds of an income above 50K, by variational_index"} <= shown
    ends = [f"{name} = {value:.4g}" for name, value in
            (("all features", found.grand), ("no features", found.empty))]  # fmt: skip
    assert set(ends) <= shown
    assert plots.bar(found).get_xlabel() == "variational_index (log-odds)"
    assert plots.bar(pictures.many(3)).get_xlabel() == "mean |variational_index| (log-odds)"
    assert plots.bar(pictures.many(3).mean()).get_xlabel() == "mean |value| (log-odds)"


def test_outputs_have_bars_of_their_own():
    every = pictures.classes()
    for v, height in (
        (every[0], every.values[0].max()),
        (every, np.abs(every.values).mean(axis=0).max()),
    ):
        ax = plots.bar(v)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["low", "class 7"]
        assert len(ax.patches) == 6
        assert max(patch.get_width() for patch in ax.patches) == pytest.approx(height)
    assert plots.bar(every[0]).get_xlabel() == "shapley (log-odds)"
    assert len(plots.bar(every.output("low")).patches) == 3
    with pytest.raises(ValueError, match=r"waterfall draws one row; take one row and one class"):
        plots.waterfall(every)
    assert plots.waterfall(every["x", "low"]).get_xlabel() == "margin of class low, by shapley"
