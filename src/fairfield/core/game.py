"""Games: players, and a worth for every coalition of them.

A game has three sides: its identity (``players``, ``batch``, ``describe()``), its evaluation
(``worths``, and what is faster than worths one by one), and its presentation (``info``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, real_numbers
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import code_of
from fairfield.core.parts import Division
from fairfield.core.service import NO_USAGE, Service, Usage

Player: TypeAlias = Hashable
Players: TypeAlias = int | Iterable[Player]
Worths: TypeAlias = Callable[[BoolArray], ArrayLike]


@dataclass(frozen=True)
class Failures:
    """How many worths could not be computed and took a fallback, and why the first of them.

    ``usage`` is what all calls took where worths come from a service, ``stored`` how many worths were
    read from a store, ``known`` how many there are in all, fallbacks among them. ``ruled`` counts
    those that are the fallback by the game's own rule, as that of ∅, which are no failures.
    """

    count: int = 0
    first: str = ""
    usage: Usage = NO_USAGE
    stored: int = 0
    known: int = 0
    ruled: int = 0

    def __add__(self, other: Failures) -> Failures:
        first, usage = self.first or other.first, self.usage + other.usage
        stored, known = self.stored + other.stored, self.known + other.known
        count, ruled = self.count + other.count, self.ruled + other.ruled
        return Failures(count, first, usage, stored, known, ruled)

    def sentences(self) -> list[str]:
        """A sentence on them, and on the calls of a service, or none where there are none."""
        if not self.count:
            return self.usage.sentences()
        worths = "one worth" if self.count == 1 else f"{self.count:,} worths"
        which = "that" if self.count == 1 else "the first"
        failed = [f"{worths} could not be found and took the fallback, {which} of {self.first}"]
        if 2 * self.count > self.known > 0:
            failed.append("most worths are the fallback, so that these values say little")
        return [*failed, *self.usage.sentences()]


NO_FAILURES = Failures()


@dataclass(frozen=True, eq=False)
class Measured:
    """Worths (*batch, m), the variance of each where they are estimates, and the failures.

    ``by_row`` (*batch, m, rows) is what each test row says, where a worth is a mean over them, or
    moves with each as such a mean does.
    """

    worths: FloatArray
    variances: FloatArray | None = None
    failures: Failures = NO_FAILURES
    by_row: FloatArray | None = None

    def game(self, place: int) -> Measured:
        """What was measured of one game of a batch."""
        variances = None if self.variances is None else self.variances[place]
        by_row = None if self.by_row is None else self.by_row[place]
        return Measured(self.worths[place], variances, self.failures, by_row)


@dataclass(frozen=True, eq=False)
class Traits:
    """How the worths of a game are to be evaluated.

    - ``block``: how many coalitions to evaluate at once; None leaves it to the evaluator.
    - ``device``: a device with memory of its own, on which the table is built and stays.
    - ``noisy``: whether worths are means of random trials, so that they have variances.
    - ``pairs``: whether these variances are of two trials each, so that they are pooled when read.
    - ``opaque``: whether ``describe`` leaves out something that worths depend on, as the name
      of a function does; a few stored worths are then evaluated again before they are used.
    - ``nulls``: the players known to add nothing to any coalition, shaped (*batch, n).
    - ``test_rows``: the number of test rows of which every worth is a mean, 0 where it is none.
    - ``service``: how to ask for worths that come from a service, one coalition a call.
    - ``index_limit``: the most players whose variational index can be estimated, None without limit.
    - ``ruled``: whether some worths are a fallback by the game's own rule, as that of ∅.
    - ``start``: where the variational index starts unless ``start=`` is given, (n,); None: at ½.
    """

    block: int | None = None
    device: Any = None
    noisy: bool = False
    pairs: bool = False
    opaque: bool = True
    nulls: BoolArray | None = None
    test_rows: int = 0
    service: Service | None = None
    index_limit: int | None = None
    ruled: bool = False
    start: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class GameInfo:
    """What tables, plots and error messages say about a game.

    - ``labels``: the names of the games of a batch of one axis, or of the axis before outputs.
    - ``outputs``: the names along the last axis of the batch, where that holds several outputs of
      each game (classes, columns), and ``output_noun`` what one of them is called.
    - ``worth_name``: what a worth is, "probability of class 1", and ``unit`` its unit:
      "probability", "log-odds".
    - ``data``: values to show beside the players, feature values say, shaped (*batch, n).
    - ``noun`` and ``row_noun``: what a player and a game of a batch are called.
    - ``advice``: what else to do where there are too many players for a table.
    - ``note``: what a reader must know of the worths, below every table and in every report.
    """

    labels: tuple[Any, ...] | None = None
    worth_name: str = ""
    unit: str = ""
    data: Any = None
    noun: str = "player"
    row_noun: str = "game"
    advice: str = "use a game with a closed form"
    outputs: tuple[Any, ...] | None = None
    output_noun: str = "output"
    note: str = ""


class Game:
    """Players and the worth of their coalitions.

    A new kind of game sets ``players`` and implements ``worths``; the rest is optional. Where
    worths have variances or may fail, it implements ``measure``, and ``worths`` reads that.
    """

    players: tuple[Player, ...]
    batch: tuple[int, ...] = ()
    # The batch that this game is one of, and its place there, where worths of all come together.
    part_of: tuple[Game, int] | None = None
    traits: Traits = Traits()
    info: GameInfo = GameInfo()

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worth of each row of ``coalitions`` (m, n), shaped (*batch, m)."""
        raise NotImplementedError

    def measure(self, coalitions: BoolArray) -> Measured:
        """The worths, their variances where they are estimates, and what failed."""
        return Measured(real_numbers(self.worths(coalitions)))

    def contributions(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray] | None:
        """Worths (m,) and contributions F(S+i) - F(S-i) (m, n) of coalitions (m, n).

        None where n + 1 worths of each are the only way to them; closed forms need not give
        it. Whether there is a faster way is asked with no coalitions at all, (0, n).
        """
        return None

    def extension(self) -> Extension | None:
        """The closed form of the game's multilinear extension, if it has one."""
        return None

    def table(self, progress: bool | None = None) -> Any:
        """All 2^n worths, where the game has a faster way to them than one by one.

        ``progress`` shows a bar, None only on a terminal and when it takes long.
        """
        return None

    def tables(self, games: Any) -> Any:
        """All worths of some games of a batch of one axis, (k, 2^n), where they are found fast.

        Such tables are then computed block by block where all of them are large.
        """
        raise NotImplementedError

    def division(self) -> Division | None:
        """How the game is a sum of tables over few players each, if it is.

        It gives exact values where the table of all 2^n worths is out of reach.
        """
        return None

    def describe(self) -> dict[str, Any]:
        """What identifies the game, as plain data: every number that its worths depend on.

        The code of a class that is not fairfield's own is in it; what its objects hold is not.
        """
        own = code_of(type(self))
        known = {"game": type(self).__name__, "players": [str(p) for p in self.players]}
        return {**known, "code": own} if own else known

    def __repr__(self) -> str:
        info, count, lead = self.info, len(self.players), self.batch
        goals = [f"the {info.worth_name}"] if info.worth_name else []
        if info.outputs is not None:
            lead = lead[:-1]
            goals.append(counted(len(info.outputs), info.output_noun))
        rows = f"{info.row_noun}{'' if lead == (1,) else 's'}"
        batch = f"{' × '.join(map(str, lead))} {rows} of " if lead else ""
        goal = f", for {' of '.join(goals)}" if goals else ""
        return f"{type(self).__name__}: {batch}{count} {info.noun}{'s' if count > 1 else ''}{goal}"

    def __add__(self, other: Game) -> Game:
        from fairfield.core.combined import Combination

        if not isinstance(other, Game):
            return NotImplemented
        return Combination(((1.0, self), (1.0, other)))

    def __mul__(self, factor: float) -> Game:
        from fairfield.core.combined import Combination

        return Combination(((float(factor), self),))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Game:
        return self * (1.0 / divisor)

    def __neg__(self) -> Game:
        return self * -1.0

    def __radd__(self, other: object) -> Game:
        # sum() starts from 0.
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Game) -> Game:
        return self + other * -1.0


def name_players(players: Players) -> tuple[Player, ...]:
    """The names of the players: given ones, checked, or 0 … n-1 for a count."""
    if isinstance(players, (int, np.integer)) and not isinstance(players, bool):
        if players < 1:
            raise ValueError(f"players={players}: a game needs at least one; no players were given")
        players = range(int(players))
    if isinstance(players, (str, bool)) or not isinstance(players, Iterable):
        raise ValueError(
            f"players={players!r} is neither a list of names nor a number; one string is one name: "
            "give a list"
        )
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in players)
    if not names:
        raise ValueError("no players were given; a game needs at least one")
    seen: set[Player] = set()
    for name in names:
        if not isinstance(name, Hashable):
            raise ValueError(f"player {name!r} cannot serve as a name; use strings or numbers")
        if name in seen:
            raise ValueError(f"player {name!r} is named twice; names must differ")
        seen.add(name)
    return names


def counted(count: int, noun: str) -> str:
    """So many of what the noun names.

    >>> counted(1, "row"), counted(3, "class")
    ('1 row', '3 classes')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Several of what the noun names."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def sorted_names(names: Iterable[Player]) -> list[Player]:
    """Names as they sort, or as their texts do where they do not compare.

    >>> sorted_names({"b", "a"}), sorted_names({1, "a"})
    (['a', 'b'], [1, 'a'])
    """
    listed = list(names)
    try:
        return sorted(listed)  # type: ignore[type-var]  # names that do not compare are caught
    except TypeError:
        return sorted(listed, key=str)
