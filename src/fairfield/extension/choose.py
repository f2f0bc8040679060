"""Which extension answers for a game."""

from __future__ import annotations

from fairfield.evaluation.evaluate import evaluate_all
from fairfield.evaluation.how import How
from fairfield.extension.table import TableExtension
from fairfield.game import Extension, Game, TableGame


def choose(game: Game, how: How) -> tuple[Extension, int]:
    """The game's extension, and how many worths were evaluated for it.

    A closed form if the game has one; else the table of all worths, if it is within
    the budget and fits into half the free memory; else an error that says what it
    would take.
    """
    closed = game.extension()
    if closed is not None:
        return closed, 0
    if isinstance(game, TableGame):
        return TableExtension.of(game), 0
    return TableExtension.of(table_of(game, how)), 2 ** len(game.players)


def table_of(game: Game, how: How) -> TableGame:
    """The game as a table, whatever other form it has."""
    if isinstance(game, TableGame):
        return game
    table = game.table()
    return TableGame(evaluate_all(game, how) if table is None else table, game.players)
