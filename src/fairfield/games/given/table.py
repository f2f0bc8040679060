"""Games given by a table, or a dict, of all their worths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import array_api_compat
import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, beside, check_double, on_host
from fairfield.core.coalitions import coalition_of, enumerate_coalitions, members, rows_of, spell
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, Measured, Player, Players, Traits, name_players, sorted_names
from fairfield.evaluation.by_row import RowScores


class TableGame(Game):
    """A game given by its 2^n worths: bit i of the row number is player i.

    Leading axes of ``worths`` are a batch of games over the same players. The array
    may live on any device of the array-API standard; it is never copied. Where worths
    are estimates with independent errors, their ``variances`` (shaped as they are) give
    the values their error bars.

    >>> TableGame([0, 1, 1, 3], players=["ann", "bob"])
    TableGame: 2 players
    """

    # What single test rows say, where worths are means over them.
    by_row: RowScores | None = None

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
        shape = tuple(table.shape)
        if 0 in shape[:-1]:
            raise ValueError(f"a table of shape {shape} is a batch of no games")
        length = shape[-1] if shape else 0
        count = max(length, 1).bit_length() - 1
        if length != 2**count or count == 0:
            raise ValueError(
                f"a table of shape {shape} was given; its last axis must hold "
                "the 2^n worths of all coalitions of n ≥ 1 players, the empty one first"
            )
        self.players = name_players(count if players is None else players)
        if len(self.players) != count:
            raise ValueError(
                f"{len(self.players)} players were named for a table of 2^{count} worths; "
                f"give {count} names"
            )
        self.batch = shape[:-1]
        self.worth_table = table
        self.variances = _checked_variances(variances, shape)
        self.traits = Traits(opaque=False, noisy=self.variances is not None)
        # NaN passes through both, so two reductions check the table and give its range.
        self.lowest = on_host(xp.min(table, axis=-1))
        self.highest = on_host(xp.max(table, axis=-1))
        if not (np.isfinite(self.lowest).all() and np.isfinite(self.highest).all()):
            self._refuse_infinite(xp)

    def _refuse_infinite(self, xp: Any) -> None:
        flat = xp.reshape(self.worth_table, (-1, 2 ** len(self.players)))
        game, row = np.argwhere(~on_host(xp.isfinite(flat), bool))[0]
        inside = enumerate_coalitions(len(self.players), row, row + 1)[0]
        where = f" of game {game}" if self.batch else ""
        raise ValueError(
            f"the worth of coalition {spell(members(inside, self.players))}{where} is "
            f"{on_host(flat[int(game), int(row)])}; every worth must be a finite number"
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
            players = dict.fromkeys(p for s in given for p in sorted_names(s))
        names = name_players(players)
        count = 2 ** len(names)
        rows = {int(rows_of(coalition_of(s, names))): worth for s, worth in given.items()}
        if len(rows) < count:
            missing = next(row for row in range(count) if row not in rows)
            inside = enumerate_coalitions(len(names), missing, missing + 1)[0]
            raise ValueError(
                f"{count - len(rows)} of the {count} coalitions of {len(names)} "
                f"players have no worth, {spell(members(inside, names))} among them; name them all"
            )
        return cls(np.array([rows[row] for row in range(count)], dtype=float), names)

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
        arrays = [on_host(self.worth_table)]
        if self.variances is not None:
            arrays.append(self.variances)
        return {**super().describe(), "worths": digest(*arrays)}


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
