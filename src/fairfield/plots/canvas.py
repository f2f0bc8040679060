"""Axes, colours, numbers and labels that all pictures share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Player
from fairfield.core.runtime.imports import needed_for
from fairfield.core.writing.terminal import shown
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

BLUE, ORANGE, GREEN, RED, PURPLE, SKY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9",
)  # fmt: skip
SERIES = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++")
GREY, PALE = "#6E6E6E", "#C8C8C8"
# Inches that a player takes in a list, and a letter of its name.
LINE, LETTER = 0.27, 0.075
LONGEST = 60
# The picture of each type of result, for messages.
DRAWN_BY = {
    "Valuation": "bar", "Means": "bar", "Comparison": "criteria", "Interactions": "interactions",
    "Annealing": "annealing", "Curve": "curves",
}  # fmt: skip


def list_axes(ax: Axes | None, labels: Sequence[str], bars: int = 1) -> Axes:
    """An axes for a list of players, so many bars each, with room for their names."""
    line = max(LINE, 0.05 + 0.1 * bars)
    return axes_of(ax, 4.9 + LETTER * max(map(len, labels)), line * len(labels) + 1.1)


def axes_of(ax: Axes | None, width: float = 6.5, height: float = 4.2) -> Axes:
    """The axes that was given, or one in a figure of its own, which keeps labels inside."""
    if ax is not None:
        return ax
    with needed_for("a picture"):
        import matplotlib.pyplot as plt
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def name_lines(ax: Axes, labels: Sequence[str]) -> None:
    """Write the labels beside lines 0, 1, … from the top, small enough not to touch."""
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    size = float(np.clip(0.75 * height / len(labels), 4.0, 9.0))
    ax.set_yticks(range(len(labels)), labels, fontsize=size)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)


def names_of(players: Iterable[Player], data: Any = None) -> list[str]:
    """Names as they are drawn, with the value of each player where there is one."""
    names = [str(player) for player in players]
    if data is not None:
        names = [f"{name} = {number(value)}" for name, value in zip(names, data, strict=True)]
    return [plain(shorten(name)) for name in names]


def plain(text: object) -> str:
    """Text that is drawn as it is: dollar signs would be read as mathematics.

    >>> print(plain("$5"))
    \\$5
    """
    return shown(text).replace("$", r"\$")


def shorten(name: str) -> str:
    """A name cut in its middle where it is too long for a line.

    >>> shorten("a" * 40 + "b" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaa…bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    """
    if len(name) <= LONGEST:
        return name
    half = (LONGEST - 1) // 2
    return f"{name[:half]}…{name[-(LONGEST - 1 - half) :]}"


def number(value: Any) -> str:
    """A value of the data as it is shown: numbers short, anything else as it is.

    >>> number(30866.9), number(9999.6), number(0.12345), number(2.5e12), number("Rome")
    ('30,867', '10,000', '0.1235', '2.5e+12', 'Rome')
    """
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return str(value)
    return f"{value:,.0f}" if 9999.5 <= abs(float(value)) < 1e9 else f"{value:.4g}"


def signed(value: float, scale: float) -> str:
    """A contribution with its sign and the digits that matter at this scale.

    >>> signed(0.01234, 0.5), signed(-12.3, 400), signed(0, 1), signed(1e-9, 1)
    ('+0.012', '−12', '0', '≈0')
    """
    if value == 0 or scale == 0:
        return "0"
    digits = int(np.clip(2 - np.floor(np.log10(scale)), 0, 12))
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return "≈0"
    return ("+" if value > 0 else "−") + text


def check_kind(given: Any, picture: str, *kinds: type) -> None:
    """Refuse what is no result of these types."""
    if not isinstance(given, kinds):
        wanted, seen = " or ".join(kind.__name__ for kind in kinds), type(given).__name__
        other = f"; plots.{DRAWN_BY[seen]} takes that" if seen in DRAWN_BY else ""
        raise TypeError(f"{picture} takes a result of type {wanted}; {seen} was given{other}")


def check_one(valuation: Valuation, picture: str) -> None:
    """Refuse a batch where one game is drawn."""
    if valuation.batch:
        row = valuation.words.row_noun
        if valuation.outputs is not None:
            raise ValueError(f"{picture} draws one {row}; take {valuation.one_of_batch}")
        raise ValueError(f"{picture} draws one {row}; take one of the batch, v[i]")


def check_one_output(valuation: Valuation, picture: str) -> None:
    """Refuse several outputs where one is drawn."""
    if valuation.outputs is not None:
        noun, name = valuation.words.output_noun, valuation.outputs[0]
        raise ValueError(f"{picture} draws one {noun}; take it by .output({name!r})")


def batch_values(valuation: Valuation, picture: str) -> FloatArray:
    """The values of all games of a batch (games, n)."""
    if not valuation.lead:
        rows = valuation.words.row_nouns
        raise ValueError(f"{picture} draws a batch of {rows}; this valuation is of one, use bar")
    return valuation.values.reshape(-1, len(valuation.players))


def make_room(ax: Axes, texts: Sequence[Text]) -> None:
    """Widen the horizontal range until all texts lie well inside the axes."""
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    for _ in range(3):
        figure.draw_without_rendering()
        frame = ax.get_window_extent()
        boxes = [text.get_window_extent() for text in texts]
        # More than a hair: axes that are drawn beside this one later make it narrower.
        edge = 0.03 * frame.width
        left = max([frame.x0 + edge - box.x0 for box in boxes] + [0.0]) / frame.width
        right = max([box.x1 + edge - frame.x1 for box in boxes] + [0.0]) / frame.width
        if left <= 0 and right <= 0:
            return
        low, high = ax.get_xlim()
        span = high - low
        ax.set_xlim(low - 1.15 * left * span, high + 1.15 * right * span)


def apart(heights: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """The heights moved as little as needed to stand ``gap`` apart, between two bounds.

    Least squares: what is left of sorted heights after their gaps must not fall.

    >>> apart(np.array([1.0, 0.0, 0.1]), 0.5, -1.0, 2.0).round(6).tolist()
    [1.0, -0.2, 0.3]
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    gaps = gap * np.arange(len(heights))
    level = isotonic_regression(heights[order] - gaps).x
    moved = np.empty(len(heights))
    moved[order] = np.clip(level, low, max(low, high - gaps[-1])) + gaps
    return moved
