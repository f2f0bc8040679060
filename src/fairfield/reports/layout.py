"""Which players and rows a report shows, and arrays as lists over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation
from fairfield.results.words import Words

# Numbers that the rows of a batch may take on a page, about 10 characters each.
MOST_NUMBERS = 400_000


@dataclass(frozen=True)
class Layout:
    """The players and rows that are shown, by position; a batch starts with its mean.

    Several outputs have a row each, and a mean each. ``cells`` are the labels of a row by
    what ``axes`` name them.
    """

    players: IntArray
    rows: IntArray
    labels: list[str]
    axes: list[str]
    cells: list[list[str]]
    all_players: int
    games: int
    outputs: int
    extent: str
    words: Words

    @property
    def means(self) -> int:
        """How many means over the games come before them: one for each output."""
        return self.outputs if self.games > self.outputs else 0

    @classmethod
    def of(cls, comparison: Comparison, most_players: int | None, rungs: int) -> Layout:
        """All players and rows; with ``most_players``, as many of both as a page can hold.

        ``rungs``: how many temperatures the values are shown at besides their own.
        """
        first = comparison.first
        count, games, words = len(first.players), first.games, first.words
        players = np.arange(count)
        if most_players is not None and count > most_players:
            players = np.sort(np.argsort(-_prominence(comparison), kind="stable")[:most_players])
        rows = np.arange(games)
        if most_players is not None:
            each = len(players) * len(comparison) * (2 + rungs)
            rows = rows[: max(1, MOST_NUMBERS // each)]
        names, outputs = [f"the {words.row_noun}"], len(first.outputs or "1")
        if first.batch:
            names = words.name_games(first.batch, first.labels, first.outputs, rows)
        if games > outputs:
            mean = f"mean of {words.games(games // outputs)}"
            ends = (
                [""] if first.outputs is None else [f", {words.output(o)}" for o in first.outputs]
            )
            names = [*(f"{mean}{end}" for end in ends), *names]
        axes, cells = _cells(first, rows)
        return cls(players, rows, names, axes, cells, count, games, outputs, first.extent, words)

    def notes(self) -> list[str]:
        """What was left out."""
        notes = []
        if len(self.players) < self.all_players:
            notes.append(
                f"The {len(self.players):,} of {self.words.players(self.all_players)} with the "
                "largest values are shown; a report ending in .csv or .json holds all of them."
            )
        if len(self.rows) < self.games:
            notes.append(
                f"The first {len(self.rows):,} of {self.extent} can be picked; the "
                "mean is over all of them, and a report ending in .csv or .json holds them."
            )
        return notes

    def per_player(self, held: FloatArray | None, *, digits: int | None = None) -> list[Any] | None:
        """An array (*batch, n) as rows of numbers, the mean of all rows first."""
        if held is None:
            return None
        return self.per_row(np.reshape(held, (self.games, -1))[:, self.players], digits)

    def per_game(self, held: Any) -> list[Any] | None:
        """A number for each row, that of the mean row first."""
        return None if held is None else self.per_row(np.ravel(held))

    def per_row(self, held: Any, digits: int | None = None) -> list[Any]:
        """An array (games, …) as a list over the rows that are shown, their mean first."""
        table = np.asarray(held, dtype=float)
        shown = table[self.rows]
        if self.means:
            shown = np.concatenate([self.mean_of(table), shown])
        rows: list[Any] = plain(shown, digits)
        return rows

    def mean_of(self, table: FloatArray) -> FloatArray:
        """The mean of an array (games, …) for each output: (outputs, …)."""
        return np.asarray(table.reshape(-1, self.outputs, *table.shape[1:]).mean(axis=0))


def _cells(v: Valuation, rows: IntArray) -> tuple[list[str], list[list[str]]]:
    """What names a row, its own label and that of its output, and those labels for each row."""
    if not v.batch:
        return [], [[]]
    outputs = v.outputs or (None,)
    at, which = np.divmod(rows, len(outputs))
    columns = []
    if v.lead:
        places = zip(*np.unravel_index(at, v.lead), strict=True)
        names = (", ".join(map(str, place)) for place in places)
        own = names if v.labels is None else (str(v.labels[i]) for i in at)
        columns.append((v.words.row_noun, list(own)))
    if v.outputs is not None:
        columns.append(("output", [str(outputs[i]) for i in which]))
    cells = zip(*(column for _, column in columns), strict=True)
    return [name for name, _ in columns], [list(row) for row in cells]


def _prominence(comparison: Comparison) -> FloatArray:
    """The largest |value| of each player by any criterion, each in its own scale."""
    found = []
    for v in comparison.values():
        size = np.abs(v.values).reshape(-1, len(v.players)).mean(axis=0)
        found.append(size / (size.max() or 1.0))
    return np.asarray(np.max(found, axis=0))


def plain(held: Any, digits: int | None = None) -> Any:
    """An array as lists of numbers, None where they are not finite.

    ``digits`` are the significant ones of numbers that are only drawn.

    >>> plain(np.array([1 / 3, np.nan]), 3)
    [0.333, None]
    """
    array = np.asarray(held, dtype=float)
    if digits is None and np.isfinite(array).all():
        return array.tolist()
    if array.ndim:
        return [plain(each, digits) for each in array]
    number = float(array)
    if not np.isfinite(number):
        return None
    return number if digits is None else float(f"{number:.{digits}g}")
