"""Games that are given by their worths: a table, a dict, a function."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, beside, check_double, device_named, on_host
from fairfield.core.coalitions import coalition_of, enumerate_coalitions, members, rows_of, spell
from fairfield.core.game import Game, Measured, Player, Players, Traits, name_players
from fairfield.games.given.tabulate import tabulate

Worths: TypeAlias = Callable[[BoolArray], ArrayLike]


class TableGame(Game):
    """A game given by its 2^n worths: bit i of the row number is player i.

    Leading axes of ``worths`` are a batch of games over the same players. The array
    may live on any device of the array-API standard; it is never copied. Where worths
    are estimates with independent errors, their ``variances`` (shaped as they are) give
    the values their error bars.

    >>> TableGame([0, 1, 1, 3], players=["ann", "bob"])
    TableGame: 2 players
    """

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
        self.traits = Traits(opaque=False, noisy=self.variances is not None)
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

    def measure(self, coalitions: BoolArray) -> Measured:
        rows = rows_of(np.asarray(coalitions, dtype=bool))
        variances = None if self.variances is None else self.variances[..., rows]
        return Measured(self.worths(coalitions), variances)

    def table(self, progress: bool | None = None) -> Any:
        return self.worth_table

    def describe(self) -> dict[str, Any]:
        digest = hashlib.sha256(np.ascontiguousarray(on_host(self.worth_table)).tobytes())
        if self.variances is not None:
            digest.update(np.ascontiguousarray(self.variances).tobytes())
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
        self.traits = Traits(device=device)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        # Copies both ways: a function may write into its argument, or answer in one buffer.
        lent = np.array(coalitions)
        if self.traits.device is None:
            worths = self._checked(np.asarray(self.function(lent)), len(coalitions))
            return np.array(worths, dtype=float)
        xp, device = device_named(self.traits.device)
        # PyTorch on the host shares memory with NumPy, both ways.
        return np.array(on_host(self._on_device(xp.asarray(lent, device=device))))

    def table(self, progress: bool | None = None) -> Any:
        if self.traits.device is None:
            return None
        return tabulate(self._on_device, len(self.players), self.traits.device, progress)

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
