"""Which extension answers for a game."""

from __future__ import annotations

import warnings
from os import PathLike, fspath

from fairfield.evaluation.evaluate import evaluate_all
from fairfield.evaluation.how import How
from fairfield.evaluation.memory import check_table
from fairfield.extension.table import TableExtension
from fairfield.game import Game
from fairfield.given_games import TableGame
from fairfield.multilinear import Extension

# All worths of so few players are soon found, whatever tolerance or time is given.
FEW = 8


def choose(game: Game, how: How, *, as_table: bool = False) -> tuple[Extension | None, int]:
    """The game's extension, and how many worths were evaluated for it; None to estimate.

    A closed form if the game has one. Else the table of all worths, if it is within the
    budget or there is no limit at all, and fits into half the free memory; without a limit
    an error says what it would take. A budget below 2^n, a tolerance or a time ask for
    estimates. ``as_table`` asks for the table in any case.
    """
    closed = None if as_table else game.extension()
    if closed is not None:
        if how.store is not None:
            _tell_unused(how.store, f"{game!r} has a closed form, which needs no worths")
        return closed, 0
    if not as_table and to_be_estimated(game, how):
        return None, 0
    table, evaluations = table_of(game, how)
    return TableExtension.of(table), evaluations


def to_be_estimated(game: Game, how: How) -> bool:
    """Whether the worths of a game are too many for what ``how`` allows."""
    if isinstance(game, TableGame):
        return False
    if how.budget is not None:
        return bool(2 ** len(game.players) > how.budget)
    return how.estimates and len(game.players) > FEW


def table_of(game: Game, how: How) -> tuple[TableGame, int]:
    """The game as a table, whatever other form it has, and the worths evaluated for it."""
    if isinstance(game, TableGame):
        if how.store is not None:
            _tell_unused(how.store, f"{game!r} knows all its worths")
        return game, 0
    check_table(game, how)
    table, variances, evaluations = game.table(how.progress), None, 2 ** len(game.players)
    if table is None:
        table, evaluations = evaluate_all(game, how)
        if game.noisy:
            table, variances = table
    elif how.store is not None:
        _tell_unused(
            how.store, f"{game!r} finds all its worths at once, not coalition by coalition"
        )
    return TableGame(table, game.players, variances=variances), evaluations


def _tell_unused(store: str | PathLike[str], why: str) -> None:
    warnings.warn(f"store={fspath(store)!r} is left as it was: {why}; none were kept", stacklevel=4)
