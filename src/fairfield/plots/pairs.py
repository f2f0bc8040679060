"""Interactions of pairs as a matrix, of larger coalitions as bars."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.coalitions import spell
from fairfield.plots.canvas import LETTER, axes_of, check_kind, names_of
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

    Numbers stand in the cells of small games; players by themselves, where these count too, on
    the diagonal. Of a batch, the mean |interaction| over its games. Larger coalitions, some of all
    pairs, and pairs of very many players are bars, the strongest first.
    """
    check_kind(found, "interactions", Interactions)
    if not found.square or len(found.players) > MOST_CELLS:
        return _bars(found, ax)
    mean = replace(found, values=found.magnitude, stderr=np.zeros(()))
    matrix = (mean if found.batch else found).matrix()
    labels = names_of(found.players)
    count = len(labels)
    side = (0.45 if count <= MOST_NUMBERS else 0.17) * count + LETTER * max(map(len, labels))
    ax = axes_of(ax, side + 1.6, side + 0.6)
    top = float(np.abs(matrix).max()) or 1.0
    pairs_alone = all(len(coalition) == 2 for coalition in found.coalitions)
    hidden = np.eye(count, dtype=bool) & pairs_alone
    # Reversed, the colours run from orange through white to purple.
    colours, low = ("Purples", 0.0) if found.batch else ("PuOr", -top)
    image = ax.imshow(np.ma.masked_array(matrix, hidden), cmap=colours, vmin=low, vmax=top)
    size = 8 if count <= MOST_NUMBERS else 6
    ax.set_xticks(range(count), labels, rotation=90, fontsize=size)
    ax.set_yticks(range(count), labels, fontsize=size)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if count <= MOST_NUMBERS:
        for i, j in np.argwhere(~hidden):
            dark = abs(matrix[i, j]) > 0.6 * top
            ax.text(j, i, _short(matrix[i, j], top), ha="center", va="center", fontsize=6.5,
                    color="white" if dark else "black")  # fmt: skip
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label(_label(found), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    return ax


def _bars(found: Interactions, ax: Axes | None) -> Axes:
    """The strongest coalitions as bars, with 95 % intervals where they are estimates."""
    shown = found.strongest(MOST_BARS)
    labels = [spell(names_of(coalition)) for coalition in shown.coalitions]
    values, error = (shown.magnitude, None) if found.batch else (shown.values, shown.stderr)
    ax = bars(ax, labels, values, _label(found), error if np.any(error) else None)
    if len(shown.coalitions) < len(found.coalitions):
        count = f"the strongest {len(labels)} of {len(found.coalitions):,} coalitions"
        ax.set_title(count, fontsize=8, loc="left")
    return ax


def _label(found: Interactions) -> str:
    """What is drawn, in its unit: of a batch, mean magnitudes."""
    name = f"{found.criterion} interaction"
    return found.words.with_unit(f"mean |{name}|, {found.extent}" if found.batch else name)


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
