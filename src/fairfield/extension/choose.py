"""Which extension answers for a game."""

from __future__ import annotations

from fairfield.evaluation.evaluate import evaluate_all
from fairfield.evaluation.how import How
from fairfield.evaluation.memory import check_table
from fairfield.extension.table import TableExtension
from fairfield.game import Game, TableGame
from fairfield.multilinear import Extension


def choose(game: Game, how: How, *, as_table: bool = False) -> tuple[Extension, int]:
    """The game's extension, and how many worths were evaluated for it.

    A closed form if the game has one; else the table of all worths, if it is within
    the budget and fits into half the free memory; else an error that says what it
    would take. ``as_table`` asks for the table in any case.
    """
    closed = None if as_table else game.extension()
    if closed is not None:
        return closed, 0
    table, evaluations = table_of(game, how)
    return TableExtension.of(table), evaluations


def table_of(game: Game, how: How) -> tuple[TableGame, int]:
    """The game as a table, whatever other form it has, and the worths evaluated for it."""
    if isinstance(game, TableGame):
        return game, 0
    check_table(game, how)
    table, variances, evaluations = game.table(how.progress), None, 2 ** len(game.players)
    if table is None:
        table, evaluations = evaluate_all(game, how)
        if game.noisy:
            table, variances = table
    return TableGame(table, game.players, variances=variances), evaluations
