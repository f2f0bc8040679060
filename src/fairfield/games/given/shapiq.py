"""Games of the shapiq library, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Game
from fairfield.core.runtime.imports import needed_for
from fairfield.games.given.function import FunctionGame

if TYPE_CHECKING:
    import shapiq


def from_shapiq(game: shapiq.Game) -> Game:
    """The game with shapiq's worths, its normalisation undone.

    shapiq subtracts ``normalization_value`` from every worth it returns; it is added
    back, so F(∅) is what the game itself says. Player names are kept where given.
    """
    names = getattr(game, "player_name_lookup", None)
    players = sorted(names, key=names.get) if names else int(game.n_players)

    def worths(coalitions: BoolArray) -> FloatArray:
        return np.asarray(game(coalitions), dtype=float) + float(game.normalization_value)

    return FunctionGame(worths, players, name=f"shapiq.{type(game).__name__}")


def to_shapiq(game: Game) -> shapiq.Game:
    """A shapiq game with the same worths, normalised there by F(∅) as is its custom."""
    if game.batch:
        raise ValueError(f"{game!r} is a batch; shapiq takes one game at a time")
    with needed_for("to_shapiq"):
        import shapiq

    class FairfieldGame(shapiq.Game):
        def value_function(self, coalitions: Any) -> FloatArray:
            return game.worths(np.asarray(coalitions, dtype=bool))

    count = len(game.players)
    return FairfieldGame(
        n_players=count,
        normalize=True,
        normalization_value=float(game.worths(np.zeros((1, count), dtype=bool))[0]),
        player_names=[str(name) for name in game.players],
    )
