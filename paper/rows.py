"""Pictures of the feature study: single rows, and values over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairfield.plots.canvas import SERIES
from paper.run import CRITERIA
from paper.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_row(studies: Sequence[Study], rows: Sequence[int]) -> Figure:
    """A line for each study: removal curves of one of its rows, then its values by each criterion."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 2.9 * len(studies)), layout="constrained")
    axes = figure.subplots(len(studies), 4, squeeze=False)
    for line, s, row in zip(axes, studies, rows, strict=True):
        for name, colour in zip(CRITERIA, SERIES, strict=False):
            label = f"{name} {s.errors[name][row]:.4f}"
            line[0].plot(s.right[name][row], color=colour, marker=".", label=label)
            line[0].plot(s.mirrored[name][row], color=colour, linestyle="--", linewidth=0.8)
        line[0].set_title(f"{s.model}, row {s.rows[row]}, T = {s.temperature:g}", fontsize=9)
        line[0].set(xlabel="features removed", ylabel="probability of the true label")
        line[0].legend(frameon=False, fontsize=7, title="decoupling error", title_fontsize=7)
        for ax, name, colour in zip(line[1:], CRITERIA, SERIES, strict=False):
            values = s.values[name][row]
            order = np.argsort(values)
            ax.barh(range(len(order)), values[order], color=colour)
            ax.set_yticks(range(len(order)), [s.features[i] for i in order], fontsize=7)
            ax.set_title(name, fontsize=9)
        for ax in line:
            ax.spines[["top", "right"]].set_visible(False)
    return figure


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
