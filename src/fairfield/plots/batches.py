"""The values of many games, player by player: boxes and swarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.plots.canvas import (
    GREY,
    HATCHES,
    SERIES,
    batch_values,
    check_kind,
    check_one_output,
    list_axes,
    name_lines,
    names_of,
    number,
    plain,
)
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points of a swarm that share a place along the axis stand side by side.
BINS = 80
# Marks of a bar of colours, from 0 to 1.
LOW_TO_HIGH = {0.0: "low", 1.0: "high"}


def box(given: Valuation | Comparison, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """A box per player over a batch of games, the largest mean |value| on top.

    Box: the middle half and the median; whiskers: within 1.5 times its length; dots: the
    games beyond. A comparison gives each player one box per criterion, several outputs one box
    per output.
    """
    check_kind(given, "box", Valuation, Comparison)
    if isinstance(given, Comparison):
        first, series = given.first, given.valuations
        check_one_output(first, "box of several criteria")
    else:
        first, series = given, _by_output(given)
    values = {name: batch_values(v, "box") for name, v in series.items()}
    order = _by_magnitude(batch_values(first, "box"))[:most]
    labels = names_of([first.players[i] for i in order])
    ax = list_axes(ax, labels, len(series))
    height = 0.8 / len(series)
    handles = []
    for k, (name, table) in enumerate(values.items()):
        drawn = ax.boxplot(
            [table[:, i] for i in order],
            positions=[line + (k - (len(series) - 1) / 2) * height for line in range(len(order))],
            widths=0.8 * height,
            orientation="horizontal",
            manage_ticks=False,
            patch_artist=True,
            medianprops={"color": "black", "linewidth": 1.4},
            flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": GREY, "alpha": 0.6},
        )
        for patch in drawn["boxes"]:
            patch.set(facecolor=SERIES[k % 6], hatch=HATCHES[k % 6], alpha=0.85)
        handles.append((drawn["boxes"][0], plain(name)))
    if len(series) > 1:
        ax.legend(*zip(*handles, strict=True), frameon=False, fontsize=8, loc="best")
    ax.axvline(0, color="black", linewidth=0.8, zorder=0)
    several = isinstance(given, Comparison) and len(series) > 1
    ax.set_xlabel(plain(first.words.with_unit("value" if several else first.criterion)))
    name_lines(ax, labels)
    return ax


def beeswarm(valuation: Valuation, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """A dot per game and player; its colour is the player's value in the data, if a number.

    The largest mean |value| is on top. Colours run from the lowest (dark) to the highest
    (light) of each player, by rank; what is not a number is grey.
    """
    check_kind(valuation, "beeswarm", Valuation)
    check_one_output(valuation, "beeswarm")
    values = batch_values(valuation, "beeswarm")
    order = _by_magnitude(values)[:most]
    labels = names_of([valuation.players[i] for i in order])
    ax = list_axes(ax, labels)
    data = None if valuation.data is None else np.reshape(valuation.data, (len(values), -1))
    ax.axvline(0, color="black", linewidth=0.8, zorder=0)
    span = float(np.ptp(values)) or 1.0
    dots: Any = None
    for line, i in enumerate(order):
        shade = None if data is None else ranks(data[:, i])
        drawn = _dots(ax, values[:, i], line + stack(values[:, i], span), shade)
        dots = dots if shade is None else drawn
    if dots is not None:
        _shades(ax, dots, "value in the data")
    ax.set_xlabel(plain(valuation.words.with_unit(valuation.criterion)))
    name_lines(ax, labels)
    return ax


def low_to_high(ax: Axes, x: FloatArray, y: FloatArray, shown: Any = None, name: str = "") -> None:
    """Dots whose colours run from low to high by the ranks of numbers, which a bar names and shows."""
    shade = None if shown is None else ranks(shown)
    dots = _dots(ax, x, y, shade)
    if shade is not None:
        known = np.unique(np.asarray(shown, dtype=float))
        known = known[~np.isnan(known)]
        last = len(known) - 1
        marks = {place / max(last, 1): number(known[place]) for place in (0, len(known) // 2, last)}
        _shades(ax, dots, name, marks)


def _dots(ax: Axes, x: FloatArray, y: FloatArray, shade: FloatArray | None) -> Any:
    from matplotlib import colormaps

    size = float(np.clip(4000 / len(x), 3, 14))
    style: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": len(x) > 500}
    if shade is None:
        return ax.scatter(x, y, color=GREY, **style)
    shades = colormaps["cividis"].with_extremes(bad=GREY)
    scale: dict[str, Any] = {"cmap": shades, "vmin": 0.0, "vmax": 1.0, "plotnonfinite": True}
    return ax.scatter(x, y, c=shade, **scale, **style)


def _shades(ax: Axes, dots: Any, name: str, marks: Mapping[float, str] = LOW_TO_HIGH) -> None:
    """A bar of the colours of dots, with marks at these places from 0 to 1."""
    inches = ax.get_window_extent().height / ax.figure.dpi
    shrink = min(1.0, 4 / inches)
    bar = ax.figure.colorbar(
        dots, ax=ax, aspect=40 * shrink, shrink=shrink, pad=0.02, anchor=(0, 1),
        ticks=list(marks),
    )  # fmt: skip
    bar.ax.set_yticklabels([*marks.values()], fontsize=8)
    # Between two marks there is room for the name.
    bar.set_label(name, fontsize=8, labelpad=-8 if len(marks) == 2 else 2)
    bar.outline.set_visible(False)


def _by_output(valuation: Valuation) -> Mapping[str, Valuation]:
    """The valuation of each output by its name; as it is where it is of one."""
    if valuation.outputs is None:
        return {valuation.criterion: valuation}
    return {valuation.words.output(name): valuation.output(name) for name in valuation.outputs}


def _by_magnitude(values: FloatArray) -> NDArray[np.int64]:
    return np.argsort(-np.abs(values).mean(axis=0), kind="stable")


def stack(values: FloatArray, span: float) -> FloatArray:
    """Offsets in [-.4, .4] that pile up values which fall into one bin, both ways in turn."""
    bins = np.floor((values - values.min()) / span * BINS).astype(int)
    order = np.lexsort((values, bins))
    first = np.r_[True, np.diff(bins[order]) > 0]
    start = np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))
    level = np.empty(len(values))
    level[order] = np.arange(len(values)) - start
    height = np.ceil(level / 2) * np.where(level % 2 == 1, -1, 1)
    return np.asarray(height * min(0.08, 0.4 / max(np.abs(height).max(), 1)))


def ranks(values: NDArray[Any]) -> FloatArray | None:
    """Ranks in [0, 1], equal values alike, NaN as it is; None where there are no numbers."""
    from scipy.stats import rankdata

    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    if np.isnan(numbers).all():
        return None
    ranks = rankdata(numbers, method="dense", nan_policy="omit") - 1
    return np.asarray(ranks / max(np.nanmax(ranks), 1))
