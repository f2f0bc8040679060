"""Games: players, a worth for every coalition of them, and sums of games.

A game answers ``worths(coalitions)``; where its multilinear extension has a closed form,
it also hands that out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from copy import copy
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import CombinedExtension, Extension

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
        # Each game gets a copy, which it may write into; a product is one.
        return cast(FloatArray, sum(c * game.worths(coalitions.copy()) for c, game in self.terms))

    def worths_and_variances(self, coalitions: BoolArray) -> tuple[FloatArray, FloatArray]:
        found = []
        for c, game in self.terms:
            worths, variances = game.worths_and_variances(coalitions.copy())
            found.append((c * worths, c**2 * variances))
        total, doubt = (sum(parts) for parts in zip(*found, strict=True))
        return cast(FloatArray, total), cast(FloatArray, doubt)

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
