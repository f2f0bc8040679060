"""Criteria side by side: their values, and where their rankings differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.plots.canvas import (
    LETTER,
    LINE,
    PALE,
    RED,
    names_of,
    new_axes,
    signed,
)
from fairfield.plots.values import bars_side_by_side
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def criteria(comparison: Comparison, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """A bar per player and criterion, in the order of the first criterion.

    Of a batch, the mean |value| over its games. The legend holds decoupling errors where
    they are known.
    """
    values = {name: _one_list(v) for name, v in comparison.items()}
    first = comparison.first
    order = np.argsort(-next(iter(values.values())), kind="stable")[:most]
    labels = names_of([first.players[i] for i in order])
    columns = {
        with_error(name, comparison[name].decoupling_error): column[order]
        for name, column in values.items()
    }
    errors = [
        None if v.stderr is None or first.batch else v.stderr[order] for v in comparison.values()
    ]
    label = first.words.with_unit("mean |value|" if first.batch else "value")
    return bars_side_by_side(ax, labels, columns, label, errors)


def ranks(comparison: Comparison, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """The players in the order of each criterion; bold and coloured where the orders differ.

    Of a batch, they are ordered by their mean value over the games (in brackets).
    """
    orders = {name: _ranking(v) for name, v in comparison.items()}
    count = len(comparison.first.players[:most])
    columns: list[list[str]] = []
    scale = max(0.0 if mean is None else float(np.abs(mean).max()) for _, mean in orders.values())
    for name, (order, mean) in orders.items():
        names = names_of([comparison[name].players[i] for i in order])
        columns.append(
            names
            if mean is None
            else [f"{n} ({signed(mean[i], scale)})" for n, i in zip(names, order, strict=True)]
        )
    same = [len({int(order[row]) for order, _ in orders.values()}) == 1 for row in range(count)]
    widths = (
        np.array(
            [2.0]
            + [max(map(len, [*column, name])) for column, name in zip(columns, orders, strict=True)]
        )
        + 3
    )
    if ax is None:
        ax = new_axes(LETTER * widths.sum() + 0.3, LINE * (count + 1.5) + 0.2)
    edges = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum()
    ax.set_axis_off()
    ax.set(xlim=(0, 1), ylim=(count + 0.2, -1.2))
    frame = ax.get_window_extent()
    points = 72 / ax.figure.dpi
    size = float(
        np.clip(
            min(
                0.62 * frame.height * points / (count + 1.5),
                1.6 * frame.width * points / widths.sum(),
            ),
            3.5,
            9.0,
        )
    )
    for k, name in enumerate(orders):
        ax.text(edges[k + 1], -0.6, name, fontsize=size, fontweight="bold", va="center")
    ax.axhline(-0.1, color="black", linewidth=0.8)
    for row in range(count):
        line = row + 0.4
        ax.text(edges[1] * 0.6, line, str(row + 1), fontsize=size, ha="right", va="center")
        for k, column in enumerate(columns):
            ax.text(
                edges[k + 1],
                line,
                column[row],
                fontsize=size,
                va="center",
                color="black" if same[row] else RED,
                fontweight="normal" if same[row] else "bold",
            )
        if row % 2:
            ax.axhspan(row - 0.1, row + 0.9, color=PALE, alpha=0.25, linewidth=0)
    return ax


def with_error(name: str, error: float | FloatArray | None) -> str:
    """A criterion's name with its decoupling error, the mean over a batch."""
    if error is None:
        return name
    kind = "mean decoupling error" if np.ndim(error) else "decoupling error"
    return f"{name} ({kind} {np.mean(error):.3g})"


def _one_list(valuation: Valuation) -> FloatArray:
    return valuation.mean().magnitude[0] if valuation.batch else valuation.values


def _ranking(valuation: Valuation) -> tuple[NDArray[np.int64], FloatArray | None]:
    """The order of the players, and over a batch the mean values that make it."""
    if not valuation.batch:
        return np.argsort(-valuation.values, kind="stable"), None
    mean = valuation.mean().mean[0]
    return np.argsort(-mean, kind="stable"), mean
