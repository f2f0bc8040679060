"""The values of one game: bars, and a waterfall from F(∅) to F(N)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.plots.canvas import (
    BLUE,
    GREY,
    HATCHES,
    PALE,
    RED,
    SERIES,
    check_kind,
    check_one,
    list_axes,
    make_room,
    name_lines,
    names_of,
    plain,
    signed,
)
from fairfield.results.exports import REMAINDER, remainder
from fairfield.results.means import Means
from fairfield.results.valuation import NORMAL, Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Contributions a waterfall shows one by one; the others are one bar.
MOST_STEPS = 20
# Bars with numbers at their ends.
MOST_NUMBERS = 30


def bar(valuation: Valuation | Means, ax: Axes | None = None, *, most: int | None = None) -> Axes:
    """A bar per player, the most valuable on top, with 95 % intervals where they are known.

    Of a batch, or of means, the mean |value| of each player, for every label of the means.
    Several outputs have bars of their own, side by side.
    ``most`` keeps the first so many.
    """
    check_kind(valuation, "bar", Valuation, Means)
    if isinstance(valuation, Means):
        return _means(valuation, ax, most)
    if valuation.outputs is not None and not valuation.lead:
        return _outputs(valuation, ax, most)
    if valuation.batch:
        means = valuation.mean()
        if valuation.outputs is not None:
            means = replace(means, labels=tuple(map(valuation.words.output, valuation.outputs)))
        return _means(means, ax, most, valuation.criterion)
    values, error, data = valuation.values, valuation.stderr, valuation.data
    order = np.argsort(-values, kind="stable")[:most]
    labels = names_of([valuation.players[i] for i in order], None if data is None else data[order])
    label = valuation.words.with_unit(valuation.criterion)
    return bars(ax, labels, values[order], label, None if error is None else error[order])


def _outputs(valuation: Valuation, ax: Axes | None, most: int | None) -> Axes:
    """The values of one game, a bar for each output."""
    order = np.argsort(-np.abs(valuation.values).max(axis=0), kind="stable")[:most]
    parts = {
        valuation.words.output(name): valuation.output(name) for name in valuation.outputs or ()
    }
    columns = {
        name: (v.values[order], None if v.stderr is None else v.stderr[order])
        for name, v in parts.items()
    }
    data = valuation.data
    names = names_of(
        [valuation.players[i] for i in order], None if data is None else data[0][order]
    )
    return bars_side_by_side(ax, names, columns, valuation.words.with_unit(valuation.criterion))


def _means(means: Means, ax: Axes | None, most: int | None, what: str = "value") -> Axes:
    order = np.argsort(-means.magnitude.max(axis=0), kind="stable")[:most]
    labels = names_of([means.players[i] for i in order])
    rows, label = means.magnitude[:, order], means.words.with_unit(f"mean |{what}|")
    if len(means.labels) == 1:
        return bars(ax, labels, rows[0], label)
    columns = {str(name): (row, None) for name, row in zip(means.labels, rows, strict=True)}
    return bars_side_by_side(ax, labels, columns, label)


def bars(
    ax: Axes | None,
    labels: list[str],
    values: FloatArray,
    label: str,
    error: FloatArray | None = None,
) -> Axes:
    """A bar per label, from the top, with 95 % intervals where there are standard errors.

    Numbers stand at the ends of up to 30 bars.
    """
    ax = list_axes(ax, labels)
    colours = [BLUE if value >= 0 else RED for value in values]
    ax.barh(range(len(values)), values, color=colours, height=0.72, **_whiskers(error, 1, 2))
    _named(ax, labels, label)
    if len(values) <= MOST_NUMBERS:
        scale, widths = float(np.abs(values).max()), 0.0 if error is None else NORMAL * error
        ends = values + np.where(values < 0, -1, 1) * widths
        texts = [signed(value, scale) for value in values]
        if values.min() >= 0:  # none needs a sign
            texts = [text.removeprefix("+") for text in texts]
        drawn = [
            ax.annotate(
                text, (end, line), xytext=(-3 if value < 0 else 3, 0), textcoords="offset points",
                ha="right" if value < 0 else "left", va="center", fontsize=7,
            )
            for line, (text, end, value) in enumerate(zip(texts, ends, values, strict=True))
        ]  # fmt: skip
        make_room(ax, drawn)
    return ax


def bars_side_by_side(
    ax: Axes | None,
    labels: Sequence[str],
    columns: Mapping[str, tuple[FloatArray, FloatArray | None]],
    label: str,
) -> Axes:
    """A bar per label and column, from the top; columns are values with their standard errors."""
    ax = list_axes(ax, labels, len(columns))
    height = 0.82 / len(columns)
    for k, (name, (column, error)) in enumerate(columns.items()):
        at = np.arange(len(labels)) + (k - (len(columns) - 1) / 2) * height
        ax.barh(
            at, column, height=height, label=plain(name), color=SERIES[k % 6], hatch=HATCHES[k % 6],
            edgecolor="white", linewidth=0.4, **_whiskers(error, 0.8),
        )  # fmt: skip
    # Above the axes: bars may lie anywhere inside.
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    return _named(ax, labels, label)


def _whiskers(error: FloatArray | None, width: float, cap: float = 0) -> dict[str, Any]:
    """95 % intervals at the ends of bars, where there are standard errors."""
    if error is None:
        return {}
    style = {"ecolor": "black", "elinewidth": width, "capsize": cap}
    return {"xerr": NORMAL * error, "error_kw": style}


def _named(ax: Axes, labels: Sequence[str], label: str) -> Axes:
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(plain(label))
    name_lines(ax, labels)
    return ax


def waterfall(valuation: Valuation, ax: Axes | None = None, *, most: int = MOST_STEPS) -> Axes:
    """The steps from F(∅), below, to F(N), on top, one player after the other.

    A criterion that is not efficient leaves a remainder, drawn as a hatched bar, so that
    the bars always sum to F(N) - F(∅). Beyond ``most`` players the weakest are one bar.
    """
    check_kind(valuation, "waterfall", Valuation)
    check_one(valuation, "waterfall")
    if valuation.empty is None or valuation.grand is None:
        raise ValueError(f"{valuation.criterion} does not know F(∅) and F(N)")
    empty, grand, words = float(valuation.empty), float(valuation.grand), valuation.words
    names = names_of(valuation.players, valuation.data)
    order = np.argsort(-np.abs(valuation.values), kind="stable")
    hidden = order[most - 1 :] if len(order) > most else order[:0]
    kept = order[: len(order) - len(hidden)]
    labels, steps = [names[i] for i in kept], list(valuation.values[kept])
    if len(hidden):
        labels.append(f"{len(hidden)} other {words.nouns}")
        steps.append(valuation.values[hidden].sum())
    rest = float(remainder(valuation.values, empty, grand))
    if rest:
        labels.append(REMAINDER)
        steps.append(rest)
    ax = list_axes(ax, [*labels, "", ""])
    scale = max(np.abs(steps).max(), abs(grand - empty))
    end, texts = grand, []
    for line, (label, step) in enumerate(zip(labels, steps, strict=True)):
        start = end - step
        rising = step >= 0
        style: dict[str, Any] = {"color": BLUE if rising else RED}
        if label == REMAINDER:
            style = {"facecolor": "white", "edgecolor": GREY, "hatch": "////"}
        ax.barh(line, step, left=start, height=0.7, **style)
        ax.plot([start, start], [line + 0.35, line + 0.65], color=GREY, linewidth=0.8)
        side, offset = ("left", 4) if rising else ("right", -4)
        text = ax.annotate(
            signed(step, scale), (end, line), xytext=(offset, 0), textcoords="offset points",
            ha=side, va="center", fontsize=8,
        )  # fmt: skip
        texts.append(text)
        end = start
    name_lines(ax, labels)
    last = len(labels)
    ax.set_ylim(last + 0.25, -1.05)
    for value, name, height in ((grand, words.grand, -0.7), (empty, words.empty, last - 0.2)):
        ax.axvline(value, color=PALE, linewidth=1, linestyle=":", zorder=0)
        text = ax.annotate(
            plain(f"{name} = {value:.4g}"), (value, height), ha="center", va="center", fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        texts.append(text)
    ax.set_xlabel(plain(f"{words.worth_name}, by {valuation.criterion}"))
    make_room(ax, texts)
    return ax
