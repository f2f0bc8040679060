"""Which extension answers for a game."""

from __future__ import annotations

import warnings
from functools import cached_property
from os import PathLike, fspath

from fairfield.core.extension import Extension
from fairfield.core.game import Game
from fairfield.evaluation.evaluator import Spent, evaluate_all
from fairfield.evaluation.memory import check_table
from fairfield.evaluation.options import Options
from fairfield.games.given.table import TableGame
from fairfield.multilinear.table import TableExtension

# All worths of so few players are soon found, whatever tolerance or time is given.
FEW = 8


class Source:
    """The extension that answers for a game: chosen at once, evaluated when it is first read.

    A closed form if the game has one. Else the table of all worths, if it is within the
    budget or there is no limit at all, and fits into half the free memory; without a limit
    an error says what it would take. A budget below 2^n, a tolerance or a time ask for
    estimates. With ``tabulated`` it is the table in any case.
    """

    def __init__(self, game: Game, options: Options, *, tabulated: bool = False) -> None:
        self.game, self.options = game, options
        self.closed = None if tabulated else game.extension()
        self.estimated = not tabulated and self.closed is None and to_be_estimated(game, options)
        if self.closed is not None and options.store is not None:
            _warn_unused(options.store, f"{game!r} has a closed form, which needs no worths")

    def check(self) -> None:
        """Refuse a table that is out of reach, before its first worth."""
        if not (self.estimated or self.evaluated):
            check_table(self.game, self.options)

    @cached_property
    def _evaluated(self) -> tuple[TableGame, TableExtension, Spent]:
        """The table, its extension and what was evaluated for it."""
        table, spent = table_of(self.game, self.options)
        return table, TableExtension.of(table), spent

    @property
    def evaluated(self) -> bool:
        """Whether reading the extension evaluates nothing more."""
        known = self.closed is not None or isinstance(self.game, TableGame)
        return known or "_evaluated" in self.__dict__

    @property
    def extension(self) -> Extension:
        """The closed form, or the exact extension of the table."""
        return self._evaluated[1] if self.closed is None else self.closed

    @property
    def spent(self) -> Spent:
        """What was evaluated so far."""
        return self._evaluated[2] if "_evaluated" in self.__dict__ else Spent()

    def as_table(self) -> Source:
        """The source that reads the table, whatever closed form there is: always the same one."""
        tabulated = self.closed is None and not self.estimated
        return self if tabulated else self._tabulated

    @cached_property
    def _tabulated(self) -> Source:
        return Source(self.game, self.options, tabulated=True)

    def played(self) -> Game:
        """The game, as the table of its worths where that is what answers for it."""
        return self._evaluated[0] if self.closed is None and not self.estimated else self.game


def to_be_estimated(game: Game, options: Options) -> bool:
    """Whether the worths of a game are too many for what the options allow."""
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


def table_of(game: Game, options: Options) -> tuple[TableGame, Spent]:
    """The game as a table, whatever other form it has, and what was evaluated for it."""
    if isinstance(game, TableGame):
        if options.store is not None:
            _warn_unused(options.store, f"{game!r} has all its worths already")
        return game, Spent()
    check_table(game, options)
    table = game.table(options.progress)
    if table is None:
        found, evaluations = evaluate_all(game, options)
        whole = TableGame(found.worths, game.players, variances=found.variances)
        return whole, Spent(evaluations, found.failures)
    if options.store is not None:
        _warn_unused(
            options.store, f"{game!r} finds all its worths at once, not coalition by coalition"
        )
    return TableGame(table, game.players), Spent(2 ** len(game.players))


def _warn_unused(store: str | PathLike[str], why: str) -> None:
    warnings.warn(f"store={fspath(store)!r} is left as it was: {why}; none were kept", stacklevel=4)
