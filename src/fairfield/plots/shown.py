"""Values on the text or the picture that they belong to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.plots.canvas import axes_of, check_kind, check_one, plain
from fairfield.results.valuation import Valuation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairfield.games.features.images import ImageGame

# Letters of a line, and inches of a letter and of a line.
LINE_LETTERS, LETTER_WIDTH, LINE_HEIGHT = 70, 0.094, 0.3
# Purple raises the worth, orange lowers it, as interactions do.
COLOURS = "PuOr"


def text(valuation: Valuation, ax: Axes | None = None) -> Axes:
    """The words of a :class:`fairfield.TextGame` in their order, each coloured by its value.

    Purple words raise the output, orange ones lower it; the darker, the more.
    """
    import matplotlib

    check_kind(valuation, "text", Valuation)
    check_one(valuation, "text")
    words = [re.sub(r" \[\d+\]$", "", str(player)) for player in valuation.players]
    places, line, column = [], 0, 0
    for word in words:
        if column and column + len(word) > LINE_LETTERS:
            line, column = line + 1, 0
        places.append((column, line))
        column += len(word) + 1
    width = max(x + len(word) for (x, _), word in zip(places, words, strict=True))
    ax = axes_of(ax, LETTER_WIDTH * max(width, 24) + 0.3, LINE_HEIGHT * (line + 1) + 0.8)
    top = float(np.abs(valuation.values).max()) or 1.0
    shades = matplotlib.colormaps[COLOURS]
    for (x, y), word, value in zip(places, words, valuation.values, strict=True):
        dark = abs(value) > 0.6 * top
        ax.text(
            x, y, plain(word), family="monospace", fontsize=9, va="center",
            color="white" if dark else "black",
            bbox={"facecolor": shades(0.5 + value / top / 2), "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip
    ax.set(xlim=(-0.5, max(width, 24) + 0.5), ylim=(line + 0.7, -0.7))
    ax.set_axis_off()
    width_of_bar = {"location": "bottom", "shrink": min(1.0, 30 / max(width, 24)), "aspect": 25}
    _colour_bar(ax, valuation, top, **width_of_bar)
    return ax


def image(valuation: Valuation, game: ImageGame, ax: Axes | None = None) -> Axes:
    """The picture of an :class:`fairfield.ImageGame` in grey, each segment coloured by its value.

    Purple segments raise the output, orange ones lower it. The game is the one that was valued.
    """
    check_kind(valuation, "image", Valuation)
    check_one(valuation, "image")
    if valuation.players != game.players:
        raise ValueError(
            "the game has other segments than the valuation; give the game that was valued"
        )
    ax = axes_of(ax, 5.2, 4.2)
    shown = np.asarray(game.image, dtype=float)
    if shown.ndim == 3:
        shown = shown.mean(axis=({0, 1, 2} - set(game.axes)).pop())
    ax.imshow(shown, cmap="gray", alpha=0.4)  # pale, so that colours are seen as they are
    top = float(np.abs(valuation.values).max()) or 1.0
    values = valuation.values[game.places.reshape(game.segments.shape)]
    ax.imshow(values, cmap=COLOURS, vmin=-top, vmax=top, alpha=0.6)
    ax.set_axis_off()
    _colour_bar(ax, valuation, top, shrink=0.8, aspect=15)
    return ax


def _colour_bar(ax: Axes, valuation: Valuation, top: float, **place: Any) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale: Any = ScalarMappable(Normalize(-top, top), COLOURS)
    bar = ax.figure.colorbar(scale, ax=ax, pad=0.02, **place)
    bar.set_label(plain(valuation.words.with_unit(valuation.criterion)), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
