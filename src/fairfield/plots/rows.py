"""Many rows at once: a map of all values, and means of cohorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.plots.canvas import (
    LETTER,
    LINE,
    MARKERS,
    SERIES,
    axes_of,
    batch_values,
    check_kind,
    check_one_output,
    list_axes,
    name_lines,
    names_of,
    plain,
)
from fairfield.results.batched import cohorts_of
from fairfield.results.valuation import NORMAL, Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Values beyond this share of all are drawn as the largest, so that one outlier does not pale the rest.
SHOWN = 0.99


def heatmap(valuation: Valuation, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """All values of a batch: a line per player, a column per game, games that are alike side by side.

    Purple raises the output, orange lowers it. The largest mean |value| is on top, and above it the
    worths of all players together: the outputs of the rows, where these are explained.
    """
    check_kind(valuation, "heatmap", Valuation)
    check_one_output(valuation, "heatmap")
    values = batch_values(valuation, "heatmap")
    order = np.argsort(-np.abs(values).mean(axis=0), kind="stable")[:most]
    labels = names_of([valuation.players[i] for i in order])
    ax = axes_of(ax, 6.2 + LETTER * max(map(len, labels)), LINE * len(labels) + 1.1)
    top = float(np.quantile(np.abs(values), SHOWN)) or float(np.abs(values).max()) or 1.0
    alike = _alike(values)
    drawn = ax.imshow(
        values[alike][:, order].T, cmap="PuOr", vmin=-top, vmax=top, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    name_lines(ax, labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    if valuation.grand is not None:
        _worths_above(ax, np.asarray(valuation.grand).ravel()[alike], valuation.words.grand)
    ax.set_xlabel(f"{valuation.extent}, alike ones side by side")
    ax.set_xticks([])
    bar = ax.figure.colorbar(drawn, ax=ax, pad=0.02, aspect=25, extend="both")
    bar.set_label(plain(valuation.words.with_unit(valuation.criterion)), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    return ax


def _worths_above(ax: Axes, worths: FloatArray, name: str) -> None:
    """A line above the map, one point for each of its columns, and their mean."""
    height = min(0.3, 1.2 * LINE * ax.figure.dpi / ax.get_window_extent().height)
    above, mean = ax.inset_axes((0, 1.02, 1, height)), float(np.mean(worths))
    above.plot(worths, color="black", linewidth=0.8, drawstyle="steps-mid")
    above.axhline(mean, color="black", linewidth=0.5, linestyle=":")
    above.set_xlim(-0.5, len(worths) - 0.5)
    above.set_xticks([])
    above.set_yticks([mean], [name], fontsize=8)
    above.tick_params(axis="y", length=0)
    above.spines[:].set_visible(False)


def cohorts(
    valuation: Valuation, by: Sequence[Any], ax: Axes | None = None, *, most: int | None = None
) -> Axes:
    """The mean |value| of each player in every cohort, with its 95 % interval.

    ``by`` has a label for each game; games without one are the cohort "missing". The interval is
    that of a mean over games drawn at random. Players are ranked by their largest mean.
    """
    check_kind(valuation, "cohorts", Valuation)
    check_one_output(valuation, "cohorts")
    values = np.abs(batch_values(valuation, "cohorts"))
    groups = cohorts_of(by, len(values), valuation.words)
    means = np.array([values[own].mean(axis=0) for own in groups.values()])
    order = np.argsort(-means.max(axis=0), kind="stable")[:most]
    labels = names_of([valuation.players[i] for i in order])
    ax = list_axes(ax, labels, len(groups))
    for k, (name, own) in enumerate(groups.items()):
        line = np.arange(len(order)) + (k - (len(groups) - 1) / 2) * 0.7 / len(groups)
        ax.errorbar(
            means[k, order], line, xerr=_half_widths(values[own])[order], linestyle="none",
            marker=MARKERS[k % 6], markersize=4, color=SERIES[k % 6], elinewidth=1, capsize=2,
            label=plain(f"{name} ({own.sum():,})"),
        )  # fmt: skip
    ax.axvline(0, color="black", linewidth=0.8)
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    ax.set_xlabel(plain(valuation.words.with_unit(f"mean |{valuation.criterion}|")))
    name_lines(ax, labels)
    return ax


def _half_widths(values: FloatArray) -> FloatArray:
    """Half the width of the 95 % interval of each mean; none of a single game."""
    if len(values) < 2:
        return np.zeros(values.shape[1])
    return np.asarray(NORMAL * values.std(axis=0, ddof=1) / np.sqrt(len(values)))


def _alike(values: FloatArray) -> IntArray:
    """The games in the order of a tree that joins those whose values are nearest."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(values) < 3:
        return np.arange(len(values))
    return np.asarray(leaves_list(linkage(values, method="average")), dtype=np.int64)
