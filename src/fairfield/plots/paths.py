"""Lines: marginals over steps, values over temperatures, worths over removals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.criteria.annealing import Annealing
from fairfield.curves import Curve
from fairfield.plots.canvas import (
    DRAWN_BY,
    GREY,
    LETTER,
    MARKERS,
    PALE,
    SERIES,
    apart,
    axes_of,
    check_kind,
    check_one,
    names_of,
    plain,
)
from fairfield.plots.criteria import with_error
from fairfield.results.valuation import Valuation
from fairfield.results.words import PLAYERS, Words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Players whose paths are drawn in colour, with their names at the end.
MOST_NAMED = 12


def trajectory(valuation: Valuation, ax: Axes | None = None) -> Axes:
    """The marginals x^k of every player over the steps of the paper's iteration."""
    check_kind(valuation, "trajectory", Valuation)
    check_one(valuation, "trajectory")
    if valuation.trajectory is None:
        raise ValueError(f"{valuation.criterion} has no trajectory; use variational_values")
    steps = np.arange(len(valuation.trajectory))
    labels = names_of(valuation.players)
    ax = _paths(ax, steps, valuation.trajectory, labels, valuation.words)
    ax.axhline(0.5, color=PALE, linewidth=1, zorder=0)
    ax.set(xlabel="step", ylabel="marginal")
    ax.set_xticks(steps if len(steps) <= 16 else steps[:: len(steps) // 8])
    return ax


def annealing(
    path: Annealing,
    ax: Axes | None = None,
    *,
    criterion: str = "variational_index",
    what: str = "values",
) -> Axes:
    """The ``values`` or ``marginals`` of the players as the temperature falls from the left.

    ``what="decoupling_errors"`` draws those of all criteria. Dotted lines stand at the
    critical temperatures, where the solution splits or jumps.
    """
    check_kind(path, "annealing", Annealing)
    temperatures, first = np.asarray(path.temperatures), path.comparisons[0]
    if temperatures.ndim > 1 or any(found.batch for found in first.values()):
        raise ValueError("annealing draws one game; take one of the batch before annealing it")
    if what == "decoupling_errors":
        ax = axes_of(ax)
        for k, name in enumerate(first):
            ax.plot(temperatures, path.decoupling_errors(name), color=SERIES[k % 6], marker=MARKERS[k % 6],
                    markersize=4, label=plain(name))  # fmt: skip
        ax.legend(frameon=False, fontsize=8)
        ax.set_yscale("log")
        ax.set_ylabel("decoupling error")
        ax.spines[["top", "right"]].set_visible(False)
    elif what in ("values", "marginals"):
        if criterion not in first:
            raise ValueError(
                f"criterion={criterion!r} was not annealed; choose one of {', '.join(first)}"
            )
        lines = path.values(criterion) if what == "values" else path.marginals(criterion)
        words = first[criterion].words
        ax = _paths(ax, temperatures, lines, names_of(first[criterion].players), words)
        label = f"{what[:-1]}, {criterion}"
        ax.set_ylabel(plain(words.with_unit(label) if what == "values" else label))
    else:
        raise ValueError(
            f"what={what!r} is not known; choose values, marginals or decoupling_errors"
        )
    for critical in path.critical:
        ax.axvline(critical, color=GREY, linestyle=":", linewidth=1, zorder=0)
    ax.set_xscale("log")
    ax.set_xlabel("temperature")
    if ax.get_xlim()[0] < ax.get_xlim()[1]:
        ax.invert_xaxis()
    return ax


def curves(
    given: Curve | Iterable[Curve],
    ax: Axes | None = None,
    *,
    errors: Mapping[str, Any] | None = None,
) -> Axes:
    """Worths while players are removed (or added), one line per curve, the mean of a batch.

    Several outputs or scores have a line each. One curve may be given as it is. ``errors`` gives the decoupling errors for the legend, by
    label: numbers, or a comparison whose criteria are the labels.
    """
    if type(given).__name__ in DRAWN_BY or not isinstance(given, Iterable):
        check_kind(given, "curves", Curve)
    drawn = [given] if isinstance(given, Curve) else list(given)
    for each in drawn:
        check_kind(each, "curves", Curve)
    ax = axes_of(ax)
    for k, curve in enumerate([line for each in drawn for line in each.apart()]):
        # "shapley, highest removed first" is a curve of the criterion shapley.
        criterion = curve.label.partition(",")[0]
        error = None if errors is None else errors.get(curve.label, errors.get(criterion))
        error = error.decoupling_error if isinstance(error, Valuation) else error
        count = len(curve.fractions)
        ax.plot(
            curve.fractions, curve.worths, color=SERIES[k % 6], marker=MARKERS[k % 6], markersize=5,
            markevery=max(1, count // 20), linestyle=("-", "--", "-.", ":")[k % 4], linewidth=1.6,
            label=plain(with_error(curve.label, error)),
        )  # fmt: skip
    words = drawn[0].words if drawn else PLAYERS
    ax.set(xlabel=f"share of the {words.nouns}", ylabel=plain(words.worth_name))
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _paths(
    ax: Axes | None, at: ArrayLike, lines: FloatArray, labels: Sequence[str], words: Words
) -> Axes:
    """One line per player, named at its end; of many, those that end highest and lowest."""
    ax = axes_of(ax, 6.0 + LETTER * max(map(len, labels)), 4.6)
    along = np.asarray(at, dtype=float)
    order = np.argsort(-lines[-1], kind="stable")
    places = np.arange(len(order))
    extreme = np.argsort(np.minimum(places, places[::-1]), kind="stable")[:MOST_NAMED]
    named = order[np.sort(extreme)]
    for i in sorted(set(range(len(labels))) - set(named.tolist())):
        ax.plot(along, lines[:, i], color=PALE, linewidth=0.8, zorder=1)
    for k, i in enumerate(named):
        ax.plot(
            along, lines[:, i], color=SERIES[k % 6], linestyle=("-", "--")[k // 6 % 2], zorder=2
        )
    low, high = float(lines.min()), float(lines.max())
    span = (high - low) or 1.0
    low, high = low - 0.05 * span, high + 0.05 * span
    ax.set_ylim(low, high)
    gap = 1.1 * span * 10 / (ax.get_window_extent().height * 72 / ax.figure.dpi)
    heights = apart(lines[-1, named], gap, low, high)
    for k, i in enumerate(named):
        ax.annotate(
            labels[i], (along[-1], lines[-1, i]),
            xytext=(1.03, heights[k]), textcoords=ax.get_yaxis_transform(),
            fontsize=8, va="center", color="black",
            arrowprops={"arrowstyle": "-", "color": SERIES[k % 6], "linewidth": 0.8,
                        "shrinkA": 2, "shrinkB": 0, "relpos": (0, 0.5)},
            annotation_clip=False,
        )  # fmt: skip
    if len(labels) > MOST_NAMED:
        ax.annotate(
            f"grey: {len(labels) - MOST_NAMED} other {words.nouns}",
            (0.02, 0.02), xycoords="axes fraction", fontsize=8, color=GREY,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)
    return ax
