"""Criteria side by side: their values, and where their rankings differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.plots.canvas import (
    LETTER,
    LINE,
    PALE,
    RED,
    axes_of,
    check_kind,
    check_one_output,
    names_of,
    plain,
    signed,
)
from fairfield.plots.values import bars_side_by_side
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def criteria(comparison: Comparison, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """A bar per player and criterion, in the order of the first criterion.

    Of a batch, the mean |value| over its games and outputs. The legend holds decoupling errors where
    they are known.
    """
    check_kind(comparison, "criteria", Comparison)
    first = comparison.first
    order = np.argsort(-_one_list(first), kind="stable")[:most]
    columns = {
        with_error(name, v.decoupling_error): (
            _one_list(v)[order],
            None if v.stderr is None or v.batch else v.stderr[order],
        )
        for name, v in comparison.items()
    }
    label = first.words.with_unit("mean |value|" if first.batch else "value")
    return bars_side_by_side(ax, names_of([first.players[i] for i in order]), columns, label)


def ranks(comparison: Comparison, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """The players in the order of each criterion; bold and coloured where the orders differ.

    Of a batch, they are ordered by their mean value over the games (in brackets).
    """
    check_kind(comparison, "ranks", Comparison)
    check_one_output(comparison.first, "ranks")
    count = len(comparison.first.players[:most])
    orders, columns = _ranked(comparison)
    same = [len({int(order[row]) for order in orders}) == 1 for row in range(count)]
    longest = [max(map(len, [name, *column])) for name, column in columns.items()]
    widths = np.array([2.0, *longest]) + 3
    ax = axes_of(ax, LETTER * widths.sum() + 0.3, LINE * (count + 1.5) + 0.2)
    edges = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(count + 0.2, -1.2))
    frame, points = ax.get_window_extent(), 72 / ax.figure.dpi
    high, wide = 0.62 * frame.height / (count + 1.5), 1.6 * frame.width / widths.sum()
    size = float(np.clip(min(high, wide) * points, 3.5, 9.0))
    for place, (name, column) in zip(edges[1:], columns.items(), strict=False):
        ax.text(place, -0.6, plain(name), fontsize=size, fontweight="bold", va="center")
        for row in range(count):
            look: dict[str, Any] = {} if same[row] else {"color": RED, "fontweight": "bold"}
            ax.text(place, row + 0.4, column[row], fontsize=size, va="center", **look)
    ax.axhline(-0.1, color="black", linewidth=0.8)
    for row in range(count):
        ax.text(edges[1] * 0.6, row + 0.4, str(row + 1), fontsize=size, ha="right", va="center")
        if row % 2:
            ax.axhspan(row - 0.1, row + 0.9, color=PALE, alpha=0.25, linewidth=0)
    return ax


def _ranked(comparison: Comparison) -> tuple[list[NDArray[np.int64]], dict[str, list[str]]]:
    """The order of the players by each criterion, and their names in it, with means of a batch."""
    means = {name: v.mean().mean[0] if v.batch else v.values for name, v in comparison.items()}
    orders = [np.argsort(-mean, kind="stable") for mean in means.values()]
    scale = max(float(np.abs(mean).max()) for mean in means.values())
    columns = {}
    for (name, v), order in zip(comparison.items(), orders, strict=True):
        names = names_of([v.players[i] for i in order])
        if v.batch:
            shown = zip(names, means[name][order], strict=True)
            names = [f"{each} ({signed(mean, scale)})" for each, mean in shown]
        columns[name] = names
    return orders, columns


def with_error(name: str, error: float | FloatArray | None) -> str:
    """A criterion's name with its decoupling error, the mean over a batch."""
    if error is None:
        return name
    kind = "mean decoupling error" if np.ndim(error) else "decoupling error"
    return f"{name} ({kind} {np.mean(error):.3g})"


def _one_list(valuation: Valuation) -> FloatArray:
    return valuation.mean().magnitude.mean(axis=0) if valuation.batch else valuation.values
