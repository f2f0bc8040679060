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
    """The players and rows that are shown, by position; a batch starts with its mean."""

    players: IntArray
    rows: IntArray
    labels: list[str]
    all_players: int
    games: int
    words: Words

    @property
    def has_mean(self) -> bool:
        """Whether the mean over the games comes before them."""
        return self.games > 1

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
        labels = _names(first, rows) if first.batch else [f"the {words.row_noun}"]
        if games > 1:
            labels.insert(0, f"mean of {words.games(games)}")
        return cls(players, rows, labels, count, games, words)

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
                f"The first {len(self.rows):,} of {self.words.games(self.games)} can be picked; the "
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
        if self.has_mean:
            shown = np.concatenate([table.mean(axis=0, keepdims=True), shown])
        rows: list[Any] = plain(shown, digits)
        return rows


def _names(v: Valuation, rows: IntArray) -> list[str]:
    """The names of games of a batch, by their labels or their places in it."""
    if v.labels is not None:
        return [v.words.game(v.labels[i]) for i in rows]
    places = zip(*np.unravel_index(rows, v.batch), strict=True)
    return [f"{v.words.row_noun} {', '.join(map(str, place))}" for place in places]


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
