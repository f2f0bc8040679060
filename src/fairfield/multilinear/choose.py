"""Which extension answers for a game."""

from __future__ import annotations

from copy import copy
from os import PathLike, fspath

from fairfield.core.extension import Extension
from fairfield.core.game import Game, Measured
from fairfield.core.parts import Division
from fairfield.core.runtime.cached import cached
from fairfield.core.runtime.memory import fits
from fairfield.core.runtime.notices import warn
from fairfield.evaluation.evaluator import Spent, evaluate_all
from fairfield.evaluation.memory import MOST_PLAYERS, check_table
from fairfield.evaluation.options import Options
from fairfield.evaluation.remote.purse import Purse
from fairfield.evaluation.store import answered
from fairfield.games.given.table import TableGame
from fairfield.multilinear.blocked import BlockedTables
from fairfield.multilinear.parts import PartsExtension
from fairfield.multilinear.table import TableExtension

# Without a budget, dividing a game may cost as much as so many worths of it.
MOST_WORTHS = 2**16
# All worths of so few players are soon found, whatever tolerance or time is given.
FEW = 8
# Of these no estimate needs fewer worths than there are.
FEWEST = 3
# Tables of so many worths are not kept where they are found fast.
LARGE = 2**26
AT_ONCE = "finds all its worths at once, not coalition by coalition"


class Source:
    """The extension that answers for a game: chosen at once, evaluated when it is first read.

    A closed form if the game has one. Else the table of all worths, if it is within the
    budget or there is no limit at all, and fits into half the free memory. Else the tables
    over few players into which the game divides, if these do. Else a budget, a tolerance
    or a time ask for estimates; without a limit an error says what the table would take.
    With ``tabulated`` it is the table in any case.
    """

    def __init__(self, game: Game, options: Options, *, tabulated: bool = False) -> None:
        self.game, self.options = game, options
        self.closed = None if tabulated else game.extension() or _blocked(game)
        if self.closed is not None:
            self.closed.jobs, self.closed.progress = options.n_jobs, options.progress
        self.division = None if tabulated or self.closed else affordable(game, options)
        exact = tabulated or self.tableless
        self.estimated = not exact and to_be_estimated(game, options)
        if self.closed is not None and options.store is not None:
            _warn_unused(options.store, f"{game!r} has a closed form, which needs no worths")
        if self.division is not None and options.store is not None:
            _warn_unused(options.store, f"{game!r} {AT_ONCE}")

    def check(self) -> None:
        """Refuse a table that is out of reach, before its first worth."""
        if self.tabled and not self.evaluated:
            check_table(self.game, self.options)

    def out_of_reach(self) -> bool:
        """Whether what answers is a table that would be refused."""
        return self.tabled and table_refused(self.game, self.options)

    @property
    def tableless(self) -> bool:
        """Whether exact values are read from a closed form or from small tables."""
        return self.closed is not None or self.division is not None

    @property
    def tabled(self) -> bool:
        """Whether the table of all worths answers."""
        return not (self.tableless or self.estimated)

    @cached
    def _evaluated(self) -> tuple[Game, Extension, Spent]:
        """The game as it was evaluated, its extension and what was evaluated for it."""
        if self.division is not None:
            game, parts = self.game, self.division.parts(self.options.progress)
            extension = PartsExtension.of(parts, len(game.players), game.batch)
            return game, extension, Spent(self.division.evaluations)
        table, spent = table_of(self.game, self.options)
        return table, TableExtension.of(table), spent

    @property
    def evaluated(self) -> bool:
        """Whether reading the extension evaluates nothing more."""
        known = self.closed is not None or isinstance(self.game, TableGame)
        return known or "_evaluated" in self.__dict__

    @property
    def extension(self) -> Extension:
        """The closed form, or the exact extension of the table or of small tables."""
        return self._evaluated[1] if self.closed is None else self.closed

    @property
    def spent(self) -> Spent:
        """What was evaluated so far."""
        return self._evaluated[2] if "_evaluated" in self.__dict__ else Spent()

    def as_table(self) -> Source:
        """The source that reads the table, whatever closed form there is: always the same one."""
        return self if self.tabled else self._tabulated

    @cached
    def _tabulated(self) -> Source:
        return Source(self.game, self.options, tabulated=True)

    def estimating(self) -> Source:
        """The source of an estimate, whatever may become of it."""
        found = copy(self)
        found.estimated = True
        return found

    def hold(self, worths: Measured, spent: Spent) -> None:
        """Take over all worths, which were evaluated elsewhere."""
        table = _tabled(self.game, worths, spent)
        self.__dict__["_evaluated"] = table, TableExtension.of(table), spent

    def played(self) -> Game:
        """The game, as the table of its worths where that is what answers for it."""
        return self._evaluated[0] if self.tabled else self.game


def affordable(game: Game, options: Options) -> Division | None:
    """How the game is divided into small tables, where its table is out of reach and they are not."""
    if not (to_be_estimated(game, options) or table_refused(game, options)):
        return None
    division = game.division()
    if division is None:
        return None
    most = options.budget or (2**FEW if options.estimates else MOST_WORTHS)
    insisted = options.exact and options.budget is None
    cheap = insisted or division.evaluations <= most
    return division if cheap and fits(division.numbers) else None


def _blocked(game: Game) -> Extension | None:
    """Tables that are found block by block, where those of all games are large."""
    count = len(game.players)
    if len(game.batch) != 1 or count > MOST_PLAYERS or game.batch[0] << count <= LARGE:
        return None
    return None if type(game).tables is Game.tables else BlockedTables(game)


def to_be_estimated(game: Game, options: Options) -> bool:
    """Whether all worths of a game are too many for what the options allow."""
    return not isinstance(game, TableGame) and too_many(2 ** len(game.players), game, options)


def too_many(worths: int, game: Game, options: Options) -> bool:
    """Whether so many worths of a game are more than the options allow."""
    service = game.traits.service
    if options.exact:
        return False
    if options.spend is not None and service is not None and worths == 2 ** len(game.players):
        # What was paid for costs nothing, though it is more than may be spent.
        asked = worths - service.known_empty
        known = 0 if options.store is None else answered(options.store, service.repeats)
        if known >= asked:
            return options.budget is not None and worths > options.budget
    if options.spend is not None and service is not None and service.price:
        calls, budget = worths * service.repeats, options.budget
        too_dear = Purse(options.spend, service.price).room(calls) < calls
        return too_dear or (budget is not None and worths > budget)
    if options.budget is not None:
        return worths > options.budget
    # Each call of a service may take seconds and money, so even a small table may be too much.
    return options.estimates and worths > 2 ** (FEW if service is None else FEWEST)


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
        found, spent = evaluate_all(game, options)
        return _tabled(game, found, spent), spent
    if options.store is not None:
        _warn_unused(options.store, f"{game!r} {AT_ONCE}")
    return TableGame(table, game.players), Spent(2 ** len(game.players))


def _tabled(game: Game, found: Measured, spent: Spent) -> TableGame:
    """The game as the table of its worths, with what single test rows say of them if all is there."""
    table = TableGame(found.worths, game.players, variances=found.variances)
    if spent.by_row is not None and spent.by_row.complete:
        table.by_row = spent.by_row
    return table


def _warn_unused(store: str | PathLike[str], why: str) -> None:
    warn(f"store={fspath(store)!r} is left as it was: {why}; none were kept")
