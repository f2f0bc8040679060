"""How the value of a feature follows what the feature is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Game, Player
from fairfield.core.labels import is_missing
from fairfield.plots.batches import low_to_high, ranks, stack
from fairfield.plots.canvas import (
    RED,
    axes_of,
    batch_values,
    check_kind,
    check_one_output,
    plain,
    shorten,
)
from fairfield.results.valuation import Valuation
from fairfield.results.words import no_player

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rows of similar values of the feature among which the colour is looked for.
NEIGHBOURS = 20


def dependence(
    valuation: Valuation,
    player: Player,
    ax: Axes | None = None,
    *,
    color: Player | None = "auto",
    game: Game | None = None,
) -> Axes:
    """A dot per row: what the feature is there, and the value it has.

    The colour is another feature, by its ranks from low (dark) to high (light): "auto" takes the one that
    goes with what the feature itself leaves open, None takes none. Categories stand side by side, rows where
    the feature is missing on the left. With the ``game`` that was valued, the line is the exact partial
    dependence, F({feature}) - F(∅) of each row: what the feature adds by itself.
    """
    check_kind(valuation, "dependence", Valuation)
    check_one_output(valuation, "dependence")
    values = batch_values(valuation, "dependence")
    if valuation.data is None:
        raise ValueError(
            "this valuation has no data to draw; explain rows, with features as players"
        )
    data = np.reshape(valuation.data, values.shape)
    i = _place(valuation, player)
    at, missing, names = _positions(data[:, i])
    if color == "auto" and "auto" not in valuation.players:
        j = _strongest(at, values[:, i], data, i)
    else:
        j = None if color is None else _place(valuation, color)
    ax = axes_of(ax)
    ax.axhline(0, color="black", linewidth=0.8, zorder=0)
    drawn = _side_by_side(at, values[:, i]) if names else at
    shown, name = (
        (None, "") if j is None else (data[:, j], plain(shorten(str(valuation.players[j]))))
    )
    low_to_high(ax, drawn, values[:, i], shown, name)
    if game is not None:
        line, order = _alone(valuation, game, i), np.argsort(at, kind="stable")
        # Between categories, and to where the value is missing, there is nothing to draw.
        apart = missing | bool(names)
        joined = order[~apart[order]]
        ax.plot(at[joined], line[joined], color=RED, linewidth=1.2)
        ax.plot(at[apart], line[apart], color=RED, marker="_", markersize=14, linestyle="none")
        ax.legend(
            ax.lines[-2 if joined.size else -1 :][:1],
            ["partial dependence"],
            frameon=False,
            fontsize=8,
        )
    if names or missing.any():
        known = at[~missing]
        ticks = [t for t in ax.get_xticks() if known.size and known.min() <= t <= known.max()]
        labels = [plain(shorten(each)) for each in names] or [f"{tick:g}" for tick in ticks]
        ticks = [*(range(len(names)) if names else ticks), *at[missing][:1]]
        ax.set_xticks(ticks, [*labels, "missing"][: len(ticks)])
    own = shorten(str(player))
    ax.set_xlabel(plain(own))
    ax.set_ylabel(plain(valuation.words.with_unit(f"{valuation.criterion} of {own}")))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _place(valuation: Valuation, player: Player) -> int:
    if player not in valuation.players:
        raise KeyError(no_player(player, valuation.players, valuation.words))
    return valuation.players.index(player)


def _positions(column: NDArray[Any]) -> tuple[FloatArray, BoolArray, list[str]]:
    """Where rows stand along the axis, which of them miss the value, and the names of categories."""
    missing = np.array([is_missing(each) for each in column.tolist()])
    at, names = np.zeros(len(column)), []
    try:
        at[~missing] = column[~missing].astype(float)
    except (TypeError, ValueError):
        names = sorted({str(each) for each in column[~missing]})
        at[~missing] = [names.index(str(each)) for each in column[~missing]]
    known = at[~missing] if not missing.all() else np.zeros(1)
    at[missing] = known.min() - (1 if names else 0.1 * (np.ptp(known) or 1.0))
    return at, missing, names


def _side_by_side(at: FloatArray, values: FloatArray) -> FloatArray:
    """Places of rows in categories, those of nearly the same value beside each other."""
    drawn, span = at.copy(), float(np.ptp(values)) or 1.0
    for place in np.unique(at):
        own = at == place
        drawn[own] += stack(values[own], span)
    return drawn


def _strongest(at: FloatArray, values: FloatArray, data: NDArray[Any], own: int) -> int | None:
    """The other feature whose ranks go most with the values of rows that are alike in this one."""
    order = np.argsort(at, kind="stable")
    parts = np.array_split(order, max(1, len(order) // NEIGHBOURS))
    best, most = None, 0.0
    for j in range(data.shape[1]):
        shade = None if j == own else ranks(data[:, j])
        if shade is None:
            continue
        shade = np.where(np.isnan(shade), 0.5, shade)
        products = [
            abs(np.dot(values[p] - values[p].mean(), shade[p] - shade[p].mean())) for p in parts
        ]
        # Of two features that go with the values alike, ranks differ in spread.
        strength = float(sum(products)) / (float(shade.std()) or 1.0)
        if strength > most:
            best, most = j, strength
    return best


def _alone(valuation: Valuation, game: Game, i: int) -> FloatArray:
    """F({i}) - F(∅) of each game."""
    if game.players != valuation.players or game.batch != valuation.batch:
        raise ValueError("the game is not the one that was valued; its players or rows differ")
    if game.info.unit != valuation.words.unit:
        raise ValueError(
            f"the values are in {valuation.words.unit or 'no unit'}, the worths of the game in "
            f"{game.info.unit or 'none'}; give the game that was valued, of the same output="
        )
    both = np.zeros((2, len(game.players)), dtype=bool)
    both[1, i] = True
    return np.diff(game.worths(both), axis=-1).reshape(-1)
