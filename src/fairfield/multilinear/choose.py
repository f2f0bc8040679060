"""The extension of a game: its closed form, or the table of its worths."""

from __future__ import annotations

import warnings
from os import PathLike, fspath

from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import evaluate_all
from fairfield.evaluation.memory import check_table
from fairfield.evaluation.options import Options
from fairfield.games.given.table import TableGame
from fairfield.multilinear.table import TableExtension

# So few players are evaluated in full, whatever tolerance or time is given.
FEW = 8


def choose(game: Game, options: Options, *, as_table: bool = False) -> tuple[Extension | None, int]:
    """The game's extension, and how many worths were evaluated for it; None to estimate.

    A closed form if the game has one. Else the table of all worths, if it is within the
    budget or there is no limit at all, and fits into half the free memory; without a limit
    an error says what it would take. A budget below 2^n, a tolerance or a time ask for
    estimates. ``as_table`` asks for the table in any case.
    """
    closed = None if as_table else game.extension()
    if closed is not None:
        if options.store is not None:
            _warn_unused(options.store, f"{game!r} has a closed form, which needs no worths")
        return closed, 0
    if not as_table and to_be_estimated(game, options):
        return None, 0
    table, evaluations = table_of(game, options)
    return TableExtension.of(table), evaluations


def to_be_estimated(game: Game, options: Options) -> bool:
    """Whether the worths of a game are more than the options allow."""
    if isinstance(game, TableGame):
        return False
    if options.budget is not None:
        return bool(2 ** len(game.players) > options.budget)
    return options.estimates and len(game.players) > FEW


def table_refused(game: Game, options: Options) -> bool:
    """Whether a table of the game would be refused."""
    if isinstance(game, TableGame):
        return False
    try:
        check_table(game, options)
    except (MemoryError, ValueError):
        return True
    return False


def table_of(game: Game, options: Options) -> tuple[TableGame, int]:
    """The game as a table, whatever other form it has, and the worths evaluated for it."""
    if isinstance(game, TableGame):
        if options.store is not None:
            _warn_unused(options.store, f"{game!r} has all its worths already")
        return game, 0
    check_table(game, options)
    table, variances, evaluations = game.table(options.progress), None, 2 ** len(game.players)
    if table is None:
        table, evaluations = evaluate_all(game, options)
        if game.noisy:
            table, variances = table
    elif options.store is not None:
        _warn_unused(
            options.store, f"{game!r} computes all its worths at once, not coalition by coalition"
        )
    return TableGame(table, game.players, variances=variances), evaluations


def _warn_unused(store: str | PathLike[str], why: str) -> None:
    warnings.warn(f"store={fspath(store)!r} is left as it was: {why}; none were kept", stacklevel=4)
