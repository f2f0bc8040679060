"""Games from whatever a criterion is given: a game, a function, a dict or an array of worths."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from os import PathLike
from typing import Any

from fairfield.core.game import Game, Players
from fairfield.evaluation.remote.attempts import is_async
from fairfield.games.given.function import FunctionGame
from fairfield.games.given.table import TableGame


def as_game(game: Any, players: Players | None = None) -> Game:
    """A game from a game, a worth function, a dict of worths, or a table of worths.

    >>> as_game(lambda S: S.any(axis=1), players=3)
    FunctionGame: 3 players
    """
    if isinstance(game, Game):
        if players is not None:
            raise ValueError(f"{game!r} has its players already; leave out players=")
        return game
    if isinstance(game, Mapping):
        return TableGame.from_mapping(game, players)
    if callable(game):
        if players is None:
            raise ValueError(
                "a worth function does not say who plays; pass players= (their names or their "
                "number); a shapiq game comes in by from_shapiq"
            )
        return FunctionGame(game, players, takes="names" if is_async(game) else "coalitions")
    if game is None or isinstance(game, str | bytes | PathLike | Number):
        raise TypeError(
            f"game={game!r} was given; give a game of fairfield, a worth function and players=, a dict "
            "of worths by coalition, or the array of all 2^n worths"
        )
    return TableGame(game, players)
