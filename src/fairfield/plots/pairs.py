"""Interactions of pairs as a matrix, of larger coalitions as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.coalitions import spell
from fairfield.plots.canvas import LETTER, axes_of, names_of
from fairfield.plots.values import bars
from fairfield.results.interactions import Interactions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to so many players the numbers stand in their cells.
MOST_NUMBERS = 14
# Players of a matrix, and coalitions that are drawn as bars.
MOST_CELLS, MOST_BARS = 100, 20


def interactions(found: Interactions, ax: Axes | None = None) -> Axes:
    """The matrix of pair interactions: purple where players are worth more together.

    Numbers stand in the cells of small games. Of a batch, the mean over its games. Larger
    coalitions, some of all pairs, and pairs of very many players are bars, the strongest
    first.
    """
    if not found.square or len(found.players) > MOST_CELLS:
        return _bars(found, ax)
    matrix = found.matrix()
    matrix = matrix.reshape(-1, *matrix.shape[-2:]).mean(axis=0)
    labels = names_of(found.players)
    count = len(labels)
    side = (0.45 if count <= MOST_NUMBERS else 0.17) * count + LETTER * max(map(len, labels))
    ax = axes_of(ax, side + 1.6, side + 0.6)
    top = float(np.abs(matrix).max()) or 1.0
    shown = np.ma.masked_array(matrix, np.eye(count, dtype=bool))
    # Reversed, the colours run from orange through white to purple.
    image = ax.imshow(shown, cmap="PuOr", vmin=-top, vmax=top)
    size = 8 if count <= MOST_NUMBERS else 6
    ax.set_xticks(range(count), labels, rotation=90, fontsize=size)
    ax.set_yticks(range(count), labels, fontsize=size)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if count <= MOST_NUMBERS:
        for i, j in np.argwhere(~np.eye(count, dtype=bool)):
            dark = abs(matrix[i, j]) > 0.6 * top
            ax.text(j, i, _short(matrix[i, j], top), ha="center", va="center", fontsize=6.5,
                    color="white" if dark else "black")  # fmt: skip
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(found.words.with_unit(f"{found.criterion} interaction"), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    return ax


def _bars(found: Interactions, ax: Axes | None) -> Axes:
    """The strongest coalitions as bars, with 95 % intervals where they are estimates."""
    values = found.values.reshape(-1, len(found.coalitions)).mean(axis=0)
    order = np.argsort(-np.abs(values), kind="stable")[:MOST_BARS]
    labels = [spell(names_of(found.coalitions[i])) for i in order]
    error = None if found.stderr is None else found.stderr[order]
    label = found.words.with_unit(f"{found.criterion} interaction")
    return bars(ax, labels, values[order], label, error)


def _short(value: float, top: float) -> str:
    """A number for a narrow cell: two digits at the scale of the largest.

    >>> _short(0.0123, 0.3), _short(-0.2, 0.3), _short(1e-9, 0.3)
    ('.01', '−.20', '0')
    """
    digits = int(np.clip(1 - np.floor(np.log10(top)), 0, 6))
    text = f"{abs(value):.{digits}f}"
    if float(text) == 0:
        return "0"
    return ("−" if value < 0 else "") + (text[1:] if text.startswith("0.") else text)
