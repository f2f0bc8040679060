"""What players are worth together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.game import Player
from fairfield.core.imports import needed_for
from fairfield.results.display import HALF_INTERVAL, MOST_ROWS, Columns, Shown
from fairfield.results.valuation import NORMAL
from fairfield.results.words import PLAYERS, Words

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, eq=False)
class Interactions(Shown):
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
    words: Words = PLAYERS

    @property
    def square(self) -> bool:
        """Whether these are all pairs of some players, which make a matrix without gaps."""
        among = {player for coalition in self.coalitions for player in coalition}
        pairs = all(len(coalition) == 2 for coalition in self.coalitions)
        return pairs and len(self.coalitions) == comb(len(among), 2)

    def matrix(self) -> FloatArray:
        """Pair interactions as a symmetric (*batch, n, n) matrix, 0 where they were not computed."""
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
            row = self.words.row_noun
            raise ValueError(f"a batch has no single top list; take values[i] of one {row}")
        return [(self.coalitions[i], float(self.values[i])) for i in self._strongest(count)]

    def _strongest(self, count: int) -> list[int]:
        order: list[int] = np.argsort(-np.abs(self.values), kind="stable")[:count].tolist()
        return order

    def to_frame(self) -> pd.DataFrame:
        """One line per coalition; batches give one column per game."""
        with needed_for("to_frame"):
            import pandas as pd
        index = pd.Index([tuple(c) for c in self.coalitions], tupleize_cols=False, name="coalition")
        flat = self.values.reshape(-1, len(self.coalitions)).T
        names: list[Any] = ["value"] if self.values.ndim == 1 else list(range(flat.shape[1]))
        return pd.DataFrame(flat, index=index, columns=names)

    def _shown(self) -> tuple[Columns, list[str]]:
        note = f"{self.criterion} interactions of {self.game}, {self.method}"
        if self.values.ndim > 1:
            counts = {"coalitions": len(self.coalitions), self.words.row_nouns: len(self.values)}
            return {name: [count] for name, count in counts.items()}, [note]
        order = self._strongest(MOST_ROWS)
        table: Columns = {
            "coalition": [spell(self.coalitions[i]) for i in order],
            "interaction": list(self.values[order]),
        }
        if self.stderr is None:
            return table, [note]
        return table | {"±": list(NORMAL * self.stderr[order])}, [HALF_INTERVAL, note]
