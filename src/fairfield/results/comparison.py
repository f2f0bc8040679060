"""Criteria side by side, and players together: results that hold several values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.game import Player
from fairfield.core.imports import needed_for
from fairfield.results.display import (
    HALF_INTERVAL,
    MOST_ROWS,
    evaluated,
    html_table,
    not_shown,
    number,
    rows_to_show,
    text_table,
    with_errors,
)
from fairfield.results.saved import read_plain, write_plain
from fairfield.results.valuation import NORMAL, Valuation

if TYPE_CHECKING:
    import pandas as pd

# Named games of a batch have columns of their own, up to so many over all criteria.
MOST_COLUMNS = 12
# How a computation stops that leaves nothing to say.
AS_HOPED = {"exact", "converged"}


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Mapping[str, Valuation]):
    """Several criteria on one game: a mapping from criterion to valuation."""

    valuations: Mapping[str, Valuation]
    # What the call that compared them took in all; None where they were put together by hand.
    evaluated: int | None = None
    took: float | None = None

    def __getitem__(self, criterion: str) -> Valuation:
        return self.valuations[criterion]

    def __iter__(self) -> Iterator[str]:
        return iter(self.valuations)

    def __len__(self) -> int:
        return len(self.valuations)

    @property
    def temperatures(self) -> list[float]:
        """The lowest and the highest temperature, one number where they are the same."""
        temperatures = [np.ravel(v.temperature) for v in self.values() if v.temperature is not None]
        return (
            sorted({float(end(np.concatenate(temperatures))) for end in (np.min, np.max)})
            if temperatures
            else []
        )

    @property
    def evaluations(self) -> int:
        """The worths evaluated for all criteria together."""
        return int(self._in_all("evaluations")) if self.evaluated is None else self.evaluated

    @property
    def seconds(self) -> float:
        """The time that all criteria took together."""
        return self._in_all("seconds") if self.took is None else self.took

    def _in_all(self, what: str) -> float:
        """What it took: exact criteria share one evaluation of the worths, estimates have their own."""
        shared = [getattr(v, what) for v in self.values() if v.stderr is None]
        own = [getattr(v, what) for v in self.values() if v.stderr is not None]
        return float(max(shared, default=0) + sum(own))

    @property
    def caveats(self) -> dict[str, str]:
        """Why each criterion stopped, of those that are not simply exact or converged."""
        return {
            name: v.stop for name, v in self.items() if not AS_HOPED.issuperset(v.stops.ravel())
        }

    def to_frame(self) -> pd.DataFrame:
        """Values with one column per criterion."""
        with needed_for("to_frame"):
            import pandas as pd
        return pd.DataFrame({name: v.to_frame()["value"] for name, v in self.items()})

    def _shown(self) -> tuple[dict[str, list[object]], list[str]]:
        first = next(iter(self.values()))
        if first.side_by_side is not None and len(self) * len(first) <= MOST_COLUMNS:
            order = rows_to_show(np.abs(first.values).max(axis=0))
            columns = {
                f"{name}, {label}": with_errors(row[order], _halves(v[i], order))
                for name, v in self.items()
                for i, (label, row) in enumerate((v.side_by_side or {}).items())
            }
        elif first.batch:
            order = rows_to_show(first.mean().magnitude[0])
            columns = {
                f"mean {name}": with_errors(v.mean().mean[0][order], _halves(v, order))
                for name, v in self.items()
            }
        else:
            order = rows_to_show(first.values)
            columns = {
                name: with_errors(v.values[order], _halves(v, order)) for name, v in self.items()
            }
        errors = [
            f"decoupling error: {name} {number(v.decoupling_error)}"
            for name, v in self.items()
            if v.decoupling_error is not None and not v.batch
        ]
        table: dict[str, list[object]] = {"player": [first.players[i] for i in order], **columns}
        with_error = any("±" in str(column[0]) for column in columns.values())
        return table, [
            *not_shown(len(first.players)),
            *([HALF_INTERVAL] if with_error else []),
            f"{first.game}, {first.method}",
            ", ".join(self._took()),
            *errors,
            *(f"{name}: {sentence}" for name, sentence in self.caveats.items()),
        ]

    def _took(self) -> list[str]:
        temperatures = " to ".join(map(number, self.temperatures))
        return [
            *([f"temperature {temperatures}"] if temperatures else []),
            evaluated(self.evaluations),
        ]

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())

    def save(self, path: str | PathLike[str]) -> None:
        """Write all valuations to one .npz file of plain arrays and JSON."""
        write_plain(path, "comparison", {name: v.entries() for name, v in self.items()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Comparison:
        """Read a file written by :meth:`save`; nothing in it is ever executed."""
        parts = read_plain(path, "comparison")
        return cls({name: Valuation(**entries) for name, entries in parts.items()})


def _halves(v: Valuation, order: NDArray[np.int64]) -> FloatArray | None:
    """Half the width of these players' 95 % intervals; of a batch, the widest for its mean."""
    if v.stderr is None:
        return None
    return np.asarray(NORMAL * v.stderr.reshape(-1, len(v.players)).mean(axis=0)[order])


@dataclass(frozen=True, repr=False, eq=False)
class Interactions:
    """How much the players of a coalition are worth together beyond their parts.

    ``coalitions`` are tuples of players of one size, ``values`` (*batch, coalitions), with
    standard errors where they are estimates.
    """

    criterion: str
    players: tuple[Player, ...]
    coalitions: Sequence[tuple[Player, ...]]
    values: FloatArray
    method: str
    game: str
    seconds: float = 0.0
    stderr: FloatArray | None = None

    @property
    def square(self) -> bool:
        """Whether these are all pairs of some players, which make a matrix without gaps."""
        among = {player for coalition in self.coalitions for player in coalition}
        pairs = all(len(coalition) == 2 for coalition in self.coalitions)
        return pairs and len(self.coalitions) == comb(len(among), 2)

    def matrix(self) -> FloatArray:
        """Pair interactions as a symmetric (*batch, n, n) matrix, zero where not asked."""
        if any(len(pair) != 2 for pair in self.coalitions):
            raise ValueError("only interactions of order 2 make a matrix")
        place = {player: i for i, player in enumerate(self.players)}
        first, second = np.array([[place[p] for p in pair] for pair in self.coalitions]).T
        table = np.zeros((*self.values.shape[:-1], len(self.players), len(self.players)))
        table[..., first, second] = table[..., second, first] = self.values
        return table

    def top(self, count: int = 10) -> list[tuple[tuple[Player, ...], float]]:
        """The strongest interactions of one game, by magnitude."""
        if self.values.ndim > 1:
            raise ValueError("a batch has no single top list; take values[i] of one game")
        order = np.argsort(-np.abs(self.values), kind="stable")[:count]
        return [(self.coalitions[i], float(self.values[i])) for i in order]

    def to_frame(self) -> pd.DataFrame:
        """One line per coalition; batches give one column per game."""
        with needed_for("to_frame"):
            import pandas as pd
        index = pd.Index([tuple(c) for c in self.coalitions], tupleize_cols=False, name="coalition")
        flat = self.values.reshape(-1, len(self.coalitions)).T
        names: list[Any] = ["value"] if self.values.ndim == 1 else list(range(flat.shape[1]))
        return pd.DataFrame(flat, index=index, columns=names)

    def _shown(self) -> tuple[dict[str, list[object]], list[str]]:
        note = f"{self.criterion} interactions of {self.game}, {self.method}"
        if self.values.ndim > 1:
            return {"coalitions": [len(self.coalitions)], "games": [len(self.values)]}, [note]
        strongest = self.top(MOST_ROWS)
        table: dict[str, list[object]] = {
            "coalition": [spell(coalition) for coalition, _ in strongest],
            "interaction": [value for _, value in strongest],
        }
        if self.stderr is not None:
            order = np.argsort(-np.abs(self.values), kind="stable")[:MOST_ROWS]
            table["±"] = list(NORMAL * self.stderr[order])
            return table, [HALF_INTERVAL, note]
        return table, [note]

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())
