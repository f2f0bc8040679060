"""Games: players, and a worth for every coalition of them.

A game answers ``worths(coalitions)``; where its multilinear extension has a closed form,
it also hands that out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from typing import Any, TypeAlias, cast

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.coalitions import (
    BoolArray,
    coalition_of,
    enumerate_coalitions,
    members,
    rows_of,
    spell,
)
from fairfield.devices import beside, check_double, device_named, on_host
from fairfield.multilinear import CombinedExtension, Extension, FloatArray
from fairfield.tabulate import tabulate

Player: TypeAlias = Hashable
Players: TypeAlias = int | Iterable[Player]
Worths: TypeAlias = Callable[[BoolArray], ArrayLike]


class Game:
    """Players and the worth of their coalitions.

    A new kind of game sets ``players`` and implements ``worths``; it may also offer a
    closed-form ``extension`` or a ``table`` that is faster than coalition by coalition.
    """

    players: tuple[Player, ...]
    batch: tuple[int, ...] = ()
    # The names of the games of a batch of one axis, where they have names.
    labels: tuple[Any, ...] | None = None
    # What a worth is, in words, where the game can say: "probability of class 1".
    plays_for: str = ""
    # How many coalitions to hand over at once; None leaves it to the evaluation.
    block: int | None = None
    # What to show beside the players (feature values, say), shaped (*batch, n).
    data: Any = None
    # Whether ``describe`` leaves out something that worths depend on, as the name of a
    # function does; kept worths are then tried again before they are used.
    opaque: bool = True
    # Whether worths are means of random trials: it then tells their variances as well.
    noisy: bool = False
    # How many worths it could not find and filled in, here and on its workers, and why it
    # could not find the first of them.
    failures: int = 0
    first_failure: str = ""
    # Which players are known to add nothing to any coalition, shaped (*batch, n).
    nulls: BoolArray | None = None
    # A device with memory of its own, on which the table is built and stays.
    device: Any = None
    # Worths (m,) and contributions F(S+i) - F(S-i) (m, n) of coalitions (m, n), where there is
    # a faster way than n + 1 worths each; closed forms need not give it.
    contributions: Callable[[BoolArray], tuple[FloatArray, FloatArray]] | None = None
    # What else to do where there are too many players for a table.
    instead: str = "use a game with a closed form"

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worth of each row of ``coalitions`` (m, n), shaped (*batch, m)."""
        raise NotImplementedError

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The worths of a noisy game, and the variance of each as an estimate: 0 if exact."""
        worths = self.worths(coalitions)
        return worths, np.zeros_like(worths)

    def extension(self) -> Extension | None:
        """The closed form of the game's multilinear extension, if it has one."""
        return None

    def table(self, progress: bool | None = None) -> Any:
        """All 2^n worths, where the game has a faster way to them than one by one.

        ``progress`` shows a bar, None only on a terminal and when it takes long.
        """
        return None

    def describe(self) -> dict[str, Any]:
        """What identifies the game, as plain data."""
        return {"game": type(self).__name__, "players": [str(p) for p in self.players]}

    def __repr__(self) -> str:
        games = "game" if self.batch == (1,) else "games"
        batch = f"{' × '.join(map(str, self.batch))} {games} of " if self.batch else ""
        count = len(self.players)
        goal = f", for the {self.plays_for}" if self.plays_for else ""
        return f"{type(self).__name__}: {batch}{count} player{'s' if count > 1 else ''}{goal}"

    def __add__(self, other: Game) -> Game:
        return (
            Combination(((1.0, self), (1.0, other))) if isinstance(other, Game) else NotImplemented
        )

    def __mul__(self, factor: float) -> Game:
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


class TableGame(Game):
    """A game given by its 2^n worths: bit i of the row number is player i.

    Leading axes of ``worths`` are a batch of games over the same players. The array
    may live on any device of the array-API standard; it is never copied. Where worths
    are estimates with independent errors, their ``variances`` (shaped as they are) give
    the values their error bars.

    >>> TableGame([0, 1, 1, 3], players=["ann", "bob"])
    TableGame: 2 players
    """

    opaque = False

    def __init__(
        self, worths: Any, players: Players | None = None, *, variances: Any = None
    ) -> None:
        table = worths if array_api_compat.is_array_api_obj(worths) else np.asarray(worths)
        xp = array_api_compat.array_namespace(table)
        if not xp.isdtype(table.dtype, ("bool", "integral", "real floating")):
            raise ValueError(
                f"worths have dtype {table.dtype}; they must be real numbers; convert them first"
            )
        if not isinstance(table, np.ndarray):
            check_double(table)
        if table.dtype not in (xp.float32, xp.float64):
            table = xp.astype(table, xp.float64)
        if 0 in table.shape[:-1]:
            raise ValueError(f"a table of shape {tuple(table.shape)} is a batch of no games")
        length = table.shape[-1] if table.ndim else 0
        count = max(length, 1).bit_length() - 1
        if length != 2**count or count == 0:
            raise ValueError(
                f"a table of shape {tuple(table.shape)} was given; its last axis must hold "
                "the 2^n worths of all coalitions of n ≥ 1 players, the empty one first"
            )
        self.players = name_players(count if players is None else players)
        if len(self.players) != count:
            raise ValueError(
                f"{len(self.players)} players were named for a table of 2^{count} worths; "
                f"give {count} names"
            )
        self.batch = tuple(table.shape[:-1])
        self.worth_table = table
        self.variances = _checked_variances(variances, tuple(table.shape))
        self.noisy = self.variances is not None
        # NaN passes through both, so two reductions check the table and give its range.
        self.lowest = on_host(xp.min(table, axis=-1))
        self.highest = on_host(xp.max(table, axis=-1))
        if not (np.isfinite(self.lowest).all() and np.isfinite(self.highest).all()):
            self._refuse_infinite(xp)

    def _refuse_infinite(self, xp: Any) -> None:
        flat = xp.reshape(xp.isfinite(self.worth_table), (-1, 2 ** len(self.players)))
        game, row = np.argwhere(~on_host(flat, bool))[0]
        worth = on_host(xp.reshape(self.worth_table, (-1, flat.shape[-1]))[int(game), int(row)])
        inside = enumerate_coalitions(len(self.players), row, row + 1)[0]
        where = f" of game {game}" if self.batch else ""
        raise ValueError(
            f"the worth of coalition {spell(members(inside, self.players))}{where} is "
            f"{worth}; every worth must be a finite number"
        )

    @classmethod
    def from_mapping(cls, worths: Mapping[Any, float], players: Players | None = None) -> TableGame:
        """The game of a dict ``{coalition: worth}`` that names all 2^n coalitions.

        >>> ann_and_bob = {(): 0, ("ann",): 1, ("bob",): 1, ("ann", "bob"): 3}
        >>> TableGame.from_mapping(ann_and_bob).worth_table.tolist()
        [0.0, 1.0, 1.0, 3.0]
        """
        given: dict[frozenset[Player], float] = {}
        for coalition, worth in worths.items():
            if isinstance(coalition, str) or not isinstance(coalition, Iterable):
                raise ValueError(
                    f"{coalition!r} does not name a coalition; keys are tuples or frozensets of players"
                )
            if frozenset(coalition) in given:
                raise ValueError(f"coalition {spell(coalition)} is given twice")
            given[frozenset(coalition)] = worth
        if players is None:
            # The order in which names first appear; those of one coalition as they sort.
            players = dict.fromkeys(p for s in given for p in _in_order(s))
        names = name_players(players)
        rows = {int(rows_of(coalition_of(s, names))): worth for s, worth in given.items()}
        if len(rows) < 2 ** len(names):
            missing = next(row for row in range(2 ** len(names)) if row not in rows)
            inside = enumerate_coalitions(len(names), missing, missing + 1)[0]
            raise ValueError(
                f"{2 ** len(names) - len(rows)} of the {2 ** len(names)} coalitions of {len(names)} "
                f"players have no worth, {spell(members(inside, names))} among them; name them all"
            )
        table = np.array([rows[row] for row in range(len(rows))], dtype=float)
        return cls(table, names)

    def __getitem__(self, index: Any) -> TableGame:
        """One game of a batch, or some of them."""
        if not self.batch:
            raise IndexError("this table is of one game; only a batch has rows")
        variances = None if self.variances is None else self.variances[index]
        return TableGame(self.worth_table[index], self.players, variances=variances)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        rows = rows_of(np.asarray(coalitions, dtype=bool))
        xp = array_api_compat.array_namespace(self.worth_table)
        found = xp.take(self.worth_table, beside(self.worth_table, rows), axis=-1)
        return np.asarray(on_host(found))

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        if self.variances is None:
            return super().worths_and_variances(coalitions)
        rows = rows_of(np.asarray(coalitions, dtype=bool))
        return self.worths(coalitions), self.variances[..., rows]

    def table(self, progress: bool | None = None) -> Any:
        return self.worth_table

    def describe(self) -> dict[str, Any]:
        digest = hashlib.sha256(np.ascontiguousarray(on_host(self.worth_table)).tobytes())
        return {**super().describe(), "worths": digest.hexdigest()}


class FunctionGame(Game):
    """A game whose worths come from a function ``bool[m, n] -> float[m]``.

    With a ``device`` ("cuda", or a device of PyTorch, CuPy or JAX) the function is given
    coalitions as an array there and returns worths there; the table of all worths is
    filled in place and stays on the device, in the precision of the worths.

    >>> game = FunctionGame(lambda S: S.sum(axis=1) ** 2, players=["ann", "bob"])
    >>> game.worths(np.array([[True, True]])).tolist()
    [4.0]
    """

    def __init__(
        self, function: Worths, players: Players, *, name: str | None = None, device: Any = None
    ) -> None:
        if not callable(function):
            raise TypeError(f"a worth function was expected, {type(function).__name__} was given")
        self.function = function
        self.players = name_players(players)
        self.name = name or getattr(function, "__qualname__", type(function).__name__)
        self.device = device

    def worths(self, coalitions: BoolArray) -> FloatArray:
        if self.device is None:
            worths = self._checked(np.asarray(self.function(coalitions)), len(coalitions))
            return np.asarray(worths, dtype=float)
        xp, device = device_named(self.device)
        return np.asarray(on_host(self._on_device(xp.asarray(coalitions, device=device))))

    def table(self, progress: bool | None = None) -> Any:
        if self.device is None:
            return None
        return tabulate(self._on_device, len(self.players), self.device, progress)

    def _on_device(self, coalitions: Any) -> Any:
        return self._checked(self.function(coalitions), coalitions.shape[0])

    def _checked(self, worths: Any, count: int) -> Any:
        xp = array_api_compat.array_namespace(worths)
        if xp.isdtype(worths.dtype, "complex floating"):
            raise ValueError(
                f"the worth function {self.name} returned complex worths; make them real"
            )
        if tuple(worths.shape) != (count,):
            raise ValueError(
                f"the worth function {self.name} returned shape {tuple(worths.shape)} for "
                f"{count} coalitions; it takes a bool array (m, n) and must return m worths"
            )
        return worths

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "function": self.name}


class Combination(Game):
    """Σ c·F over games on the same players; its extension is the sum of theirs.

    A game that occurs more than once is one term. The errors of different noisy games
    count as independent: the variance of a worth is Σ c²·Var F.
    """

    def __init__(self, terms: Iterable[tuple[float, Game]]) -> None:
        self.terms = _gathered(terms)
        first = self.terms[0][1]
        for _, game in self.terms:
            if game.players != first.players or game.batch != first.batch:
                raise ValueError(
                    f"games are added over the same players; {first!r} and {game!r} differ"
                )
        if not all(np.isfinite(factor) for factor, _ in self.terms):
            raise ValueError("a game is scaled by a finite number; NaN or infinity was given")
        games = [game for _, game in self.terms]
        self.players, self.batch, self.data = first.players, first.batch, first.data
        self.labels = first.labels
        self.opaque = any(game.opaque for game in games)
        self.noisy = any(game.noisy for game in games)
        self.block = min((game.block for game in games if game.block), default=None)
        self.device = first.device if all(g.device == first.device for g in games) else None
        # Who adds nothing to any of the games adds nothing to their sum.
        nulls = [game.nulls for game in games if game.nulls is not None]
        self.nulls = np.logical_and.reduce(nulls) if len(nulls) == len(games) else None

    def __copy__(self) -> Combination:
        # Workers side by side count the failures of copies, each of its own.
        return Combination((factor, copy(game)) for factor, game in self.terms)

    @property
    def failures(self) -> int:
        """How many worths its games could not find and filled in."""
        return sum(game.failures for _, game in self.terms)

    @failures.setter
    def failures(self, count: int) -> None:
        # Which of the games failed on a worker is not known; their sum is.
        self.terms[0][1].failures += count - self.failures

    @property
    def first_failure(self) -> str:
        """Why the first of these worths was not found."""
        return next((game.first_failure for _, game in self.terms if game.first_failure), "")

    @first_failure.setter
    def first_failure(self, reason: str) -> None:
        for place, (_, game) in enumerate(self.terms):
            game.first_failure = "" if place else reason

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return cast(FloatArray, sum(c * game.worths(coalitions) for c, game in self.terms))

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        found = [(c, *game.worths_and_variances(coalitions)) for c, game in self.terms]
        worths = sum(c * worth for c, worth, _ in found)
        return cast(FloatArray, worths), cast(FloatArray, sum(c**2 * var for c, _, var in found))

    def table(self, progress: bool | None = None) -> Any:
        if self.noisy:
            return None  # variances come with the worths, coalition by coalition
        total: Any = 0.0
        for factor, game in self.terms:
            table = game.table(progress)
            if table is None:
                return None
            total = total + factor * table
        return total

    def extension(self) -> Extension | None:
        parts = [(factor, game.extension()) for factor, game in self.terms]
        known = [(factor, part) for factor, part in parts if part is not None]
        return CombinedExtension(known) if len(known) == len(parts) else None

    def describe(self) -> dict[str, Any]:
        terms = [{"factor": c, **game.describe()} for c, game in self.terms]
        return {**super().describe(), "terms": terms}


def _gathered(terms: Iterable[tuple[float, Game]]) -> tuple[tuple[float, Game], ...]:
    """The terms of a sum of games, those of sums within it too, every game once."""
    factors: dict[int, tuple[float, Game]] = {}
    for factor, game in terms:
        for own, part in game.terms if isinstance(game, Combination) else ((1.0, game),):
            before = factors.get(id(part), (0.0, part))[0]
            factors[id(part)] = before + factor * own, part
    return tuple(factors.values())


def _checked_variances(given: Any, shape: tuple[int, ...]) -> FloatArray | None:
    if given is None:
        return None
    variances = np.asarray(given, dtype=float)
    if variances.shape != shape or not ((variances >= 0) & np.isfinite(variances)).all():
        raise ValueError(
            f"variances of shape {variances.shape} were given for worths of shape {shape}; give "
            "one finite number from 0 on for each worth"
        )
    return variances


def as_game(game: Any, players: Players | None = None) -> Game:
    """A game from a game, a worth function, a dict of worths, or a table of worths.

    >>> as_game(lambda S: S.any(axis=1), players=3)
    FunctionGame: 3 players
    """
    if isinstance(game, Game):
        if players is not None:
            raise ValueError(f"{game!r} knows its players; leave out players=")
        return game
    if isinstance(game, Mapping):
        return TableGame.from_mapping(game, players)
    if callable(game):
        if players is None:
            raise ValueError(
                "a worth function does not say who plays; pass players= (their names or their "
                "number); a shapiq game comes in by from_shapiq"
            )
        return FunctionGame(game, players)
    return TableGame(game, players)


def _in_order(names: frozenset[Player]) -> list[Player]:
    try:
        return sorted(names)  # type: ignore[type-var]  # names that do not compare are caught
    except TypeError:
        return sorted(names, key=str)


def name_players(players: Players) -> tuple[Player, ...]:
    """The names of the players: given ones, checked, or 0 … n-1 for a count."""
    if isinstance(players, (int, np.integer)) and not isinstance(players, bool):
        if players < 1:
            raise ValueError(f"players={players}: a game needs at least one; no players were given")
        players = range(int(players))
    if isinstance(players, (str, bool)) or not isinstance(players, Iterable):
        raise ValueError(
            f"players={players!r} is no list of names and no count; one string is one name: list them"
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
