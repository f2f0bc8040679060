"""Pictures of the feature study: single rows, and values over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.plots.canvas import SERIES
from paper.run import CRITERIA
from paper.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_row(studies: Sequence[Study], rows: Sequence[int]) -> Figure:
    """A line for each study: removal curves of one of its rows, then a waterfall by each criterion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 2.9 * len(studies)), layout="constrained")
    axes = figure.subplots(len(studies), 4, squeeze=False)
    for line, s, row in zip(axes, studies, rows, strict=True):
        for name, colour in zip(CRITERIA, SERIES, strict=False):
            line[0].plot(s.right[name][row], color=colour, marker=".")
            line[0].plot(s.mirrored[name][row], color=colour, linestyle="--", linewidth=0.8)
        line[0].set_title(f"{s.model}, row {s.rows[row]}, T = {s.temperature:g}", fontsize=9)
        line[0].set(xlabel="features removed", ylabel="probability of the true label")
        for ax, name, colour in zip(line[1:], CRITERIA, SERIES, strict=False):
            draw_waterfall(ax, s.values[name][row], s.features, colour)
            ax.set_title(f"{name}, error {s.errors[name][row]:.4f}", fontsize=9)
        for ax in line:
            ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_waterfall(ax: Axes, values: FloatArray, features: Sequence[str], colour: str) -> None:
    """Values from the smallest up to the largest by size, each from where the last one ended.

    Filled bars go to the right, hollow ones to the left; above all is the sum.
    """
    order = np.argsort(np.abs(values), kind="stable")
    ends = np.cumsum(values[order])
    faces = [colour if value >= 0 else "white" for value in values[order]]
    at = np.arange(len(order))
    ax.barh(at, values[order], left=ends - values[order], color=faces, edgecolor=colour)
    right = np.maximum(ends, ends - values[order])
    for k, i in enumerate(order):
        ax.annotate(f"{values[i]:+.3f}", (right[k], k), (3, 0), textcoords="offset points",
                    va="center", fontsize=6)  # fmt: skip
    low, high = min(0.0, ends.min()), max(0.0, ends.max())
    ax.set_xlim(low - 0.05 * (high - low), high + 0.2 * (high - low))
    ax.axvline(0, color="#9a9a9a", linewidth=0.8)
    ax.set_yticks(at, [features[i] for i in order], fontsize=7)


def draw_statistics(s: Study) -> Figure:
    """Box plots of the values by feature and criterion, for each label."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.5), layout="constrained")
    at = np.arange(len(s.features))
    for ax, label in zip(figure.subplots(2, 1), (True, False), strict=True):
        for k, (name, colour) in enumerate(zip(CRITERIA, SERIES, strict=False)):
            values = s.values[name][s.labels == label]
            boxes = ax.boxplot(
                values, positions=at + 0.25 * (k - 1), widths=0.2, showfliers=False,
                patch_artist=True, medianprops={"color": "black"}, manage_ticks=False,
            )  # fmt: skip
            for box in boxes["boxes"]:
                box.set_facecolor(colour)
            ax.plot([], [], "s", color=colour, label=name)
        ax.axhline(0, color="#9a9a9a", linewidth=0.8)
        ax.set_xticks(at, s.features, fontsize=8)
        income = "above" if label else "at most"
        ax.set_title(
            f"{s.model}, income {income} 50K ({int((s.labels == label).sum()):,} rows)", fontsize=9
        )
        ax.set_ylabel("value")
        ax.legend(frameon=False, fontsize=8, ncols=3)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
