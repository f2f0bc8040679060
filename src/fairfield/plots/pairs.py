"""Interactions of pairs as a matrix, of larger coalitions as bars."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.coalitions import spell
from fairfield.plots.canvas import LETTER, axes_of, check_kind, names_of, plain
from fairfield.plots.values import bars
from fairfield.results.interactions import Interactions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to so many players the numbers stand in their cells.
MOST_NUMBERS = 14
# Players of a matrix, and coalitions that are drawn as bars.
MOST_CELLS, MOST_BARS = 100, 20
# Lines of a network, and their colours.
MOST_EDGES, TOGETHER, ALIKE = 20, "#5E3C99", "#E66101"


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
    bar.set_label(plain(_label(found)), fontsize=8)
    bar.ax.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    return ax


def network(found: Interactions, ax: Axes | None = None, *, most: int = MOST_EDGES) -> Axes:
    """The strongest pair interactions as lines between players on a circle.

    Purple and solid where players are worth more together, orange and dashed where they do the same
    work; the wider, the more. Of a batch, the mean |interaction|. Players are drawn as far as
    one of the ``most`` pairs is theirs.
    """
    check_kind(found, "network", Interactions)
    pairs = found.of_size(2).strongest(most)
    strength = pairs.magnitude if found.batch else pairs.values
    shown = [p for p in found.players if any(p in pair for pair in pairs.coalitions)]
    names, count = names_of(shown), len(shown)
    room = LETTER * max(map(len, names))
    ax = axes_of(ax, 4.4 + 2 * room, 4.4 + 0.6)
    angles = np.pi / 2 - 2 * np.pi * np.arange(count) / count
    at = {p: np.array([np.cos(a), np.sin(a)]) for p, a in zip(shown, angles, strict=True)}
    top = float(np.abs(strength).max()) or 1.0
    for (first, second), value in zip(pairs.coalitions, strength, strict=True):
        x, y = zip(at[first], at[second], strict=True)
        ax.plot(
            x, y, color=TOGETHER if value > 0 else ALIKE, linestyle="-" if value > 0 else "--",
            linewidth=0.5 + 5.5 * abs(value) / top, alpha=0.8, zorder=1, solid_capstyle="round",
        )  # fmt: skip
    ax.scatter(np.cos(angles), np.sin(angles), s=50, color="black", zorder=2)
    for (x, y), name in zip(at.values(), names, strict=True):
        side = "center" if abs(x) < 0.05 else "left" if x > 0 else "right"
        ax.annotate(
            name, (x, y), xytext=(9 * x, 11 * y), textcoords="offset points", ha=side, va="center",
            fontsize=8,
        )  # fmt: skip
    ax.set(xlim=(-1.15 - room / 2, 1.15 + room / 2), ylim=(-1.25, 1.25))
    ax.set_axis_off()
    ax.set_title(f"{plain(_label(found))}, largest {_short(top, top)}", fontsize=8)
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
