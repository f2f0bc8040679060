"""Observed coalitions in any of the usual forms: distinct rows and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, is_sparse, slabs
from fairfield.core.checks import names
from fairfield.core.coalitions import spell
from fairfield.core.game import Player, Players, name_players, sorted_names

# Entries of a matrix turned to bits at once.
BLOCK = 2**24
NOTHING = "no coalitions were given; there is nothing to learn from"


@dataclass(frozen=True, eq=False)
class Observed:
    """Distinct coalitions (m, n) and their counts (m,): m < observations where some repeat."""

    coalitions: BoolArray
    counts: FloatArray
    players: tuple[Player, ...]

    @property
    def total(self) -> float:
        """The number of observations N."""
        return float(self.counts.sum())

    @cached_property
    def frequencies(self) -> FloatArray:
        """The share of observations that hold each player."""
        # Few rows at a time: a product converts its factors to numbers, eight times as large.
        blocks = slabs(len(self.counts), len(self.players), BLOCK)
        parts = [self.counts[some] @ self.coalitions[some] for some in blocks]
        return np.asarray(np.sum(parts, axis=0) / self.total)

    def shrunk_frequencies(self) -> FloatArray:
        """(k_i + ½)/(N + 1): never 0 nor 1, Jeffreys' estimate (Krichevsky, Trofimov 1981)."""
        return np.asarray((self.total * self.frequencies + 0.5) / (self.total + 1))

    @cached_property
    def varying(self) -> BoolArray:
        """The players who are in some coalition and out of another."""
        return np.asarray(self.coalitions.any(axis=0) & ~self.coalitions.all(axis=0))

    def tied(self) -> tuple[Player, ...]:
        """Some players of which each determines the others; none where there are no such players.

        >>> observe([["tea", "cup"], ["beer"], ["tea", "cup", "beer"]]).tied()
        ('cup', 'tea')
        """
        # A player who is in exactly when another is out changes from the first row as that one does.
        changes = np.packbits((self.coalitions ^ self.coalitions[0])[:, self.varying], axis=0)
        _, group, sizes = np.unique(changes, axis=1, return_inverse=True, return_counts=True)
        if not (sizes > 1).any():
            return ()
        members = np.flatnonzero(self.varying)[group.ravel() == np.argmax(sizes > 1)]
        return tuple(self.players[i] for i in members)

    def among(self, chosen: BoolArray) -> Observed:
        """The observations of some of the players."""
        kept = [name for name, keep in zip(self.players, chosen, strict=True) if keep]
        return distinct([self.coalitions[:, chosen]], tuple(kept), self.counts)

    def of_players(self, players: Players) -> Observed:
        """The same observations with a column for each of these players, in their order.

        Those who were not observed are in no coalition.

        >>> observe([["tea"], ["milk", "tea"]]).of_players(["tea", "salt", "milk"]).frequencies
        array([1. , 0. , 0.5])
        """
        named = name_players(players)
        column = {name: i for i, name in enumerate(named)}
        for name in self.players:
            if name not in column:
                raise ValueError(
                    f"player {name!r} was observed, who is not among the players {spell(named)}"
                )
        coalitions = np.zeros((len(self.counts), len(named)), dtype=bool)
        coalitions[:, [column[name] for name in self.players]] = self.coalitions
        return Observed(coalitions, self.counts, named)

    def split(self, share: float, seed: int | np.random.Generator = 0) -> tuple[Observed, Observed]:
        """The observations in two parts, the second with this share of them, at random.

        >>> first, second = observe([["a"], ["a", "b"], ["b"], ["b"], []]).split(0.4)
        >>> first.total, second.total
        (3.0, 2.0)
        """
        if not 0 < share < 1:
            raise ValueError(f"a share of {share} was given; it must lie between 0 and 1")
        away = min(max(round(share * self.total), 1), int(self.total) - 1)
        if away < 1:
            raise ValueError(f"{self.total:g} observations cannot be split in two; more are needed")
        rng = np.random.default_rng(seed)
        # The count of each coalition in the second part, as if observations were drawn singly.
        taken = rng.multivariate_hypergeometric(self.counts.astype(np.int64), away)
        return self._counted(self.counts - taken), self._counted(taken.astype(float))

    def _counted(self, counts: FloatArray) -> Observed:
        seen = counts > 0
        return replace(self, coalitions=self.coalitions[seen], counts=counts[seen])

    def __repr__(self) -> str:
        total, players = f"{self.total:.15g}", len(self.players)
        return f"{total} observed coalitions of {players} players, {len(self.counts)} distinct"


def observe(coalitions: Any, players: Players | None = None) -> Observed:
    """Observed coalitions from any of the usual forms.

    A matrix of 0 and 1 (NumPy, SciPy sparse, or a DataFrame) with one row per coalition, or a
    list of coalitions, each a list of its members by name. ``players`` name the columns of
    a matrix without names; all other forms have names, and ``players`` say which players
    there are, in which order: columns of a DataFrame are found by name.

    >>> observe([["tea", "milk"], ["tea"], ["milk", "tea"]])
    3 observed coalitions of 2 players, 2 distinct
    """
    if isinstance(coalitions, Observed):
        return coalitions if players is None else coalitions.of_players(players)
    if hasattr(coalitions, "columns") and hasattr(coalitions, "to_numpy"):
        return observe(_from_matrix(coalitions.to_numpy(), tuple(coalitions.columns)), players)
    if is_sparse(coalitions) or isinstance(coalitions, np.ndarray):
        return _from_matrix(coalitions, players)
    return _from_lists(coalitions, players)


def distinct(
    blocks: Iterable[BoolArray], players: tuple[Player, ...], counts: FloatArray | None = None
) -> Observed:
    """Equal rows, in any block, counted together."""
    rows, totals = packed_rows(blocks, counts)
    bits = np.unpackbits(rows, axis=1, count=len(players)).view(bool)
    return Observed(bits, totals, players)


def packed_rows(
    blocks: Iterable[BoolArray], counts: FloatArray | None = None
) -> tuple[NDArray[np.uint8], FloatArray]:
    """Distinct rows, eight players in a byte, and how often each occurs in all blocks."""
    packed = np.concatenate([np.packbits(block, axis=1) for block in blocks])
    if not packed.shape[1]:
        total = float(len(packed)) if counts is None else float(counts.sum())
        return packed[:1], np.array([total])
    rows, place = np.unique(packed, axis=0, return_inverse=True)
    totals = np.bincount(place.ravel(), weights=counts, minlength=len(rows)).astype(float)
    return rows, totals


def _from_matrix(matrix: Any, players: Players | None) -> Observed:
    if len(matrix.shape) != 2:
        raise ValueError(
            f"an array of shape {matrix.shape} was given; coalitions are the rows of a matrix "
            "of 0 and 1, or lists of players"
        )
    count, width = matrix.shape
    if width == 0:
        raise ValueError(f"a matrix of shape {matrix.shape} has no players; give it columns")
    named = names(players, width)
    if count == 0:
        raise ValueError(NOTHING)
    rows = matrix.tocsr() if is_sparse(matrix) else matrix
    blocks = (_bits(rows[some], some.start, named) for some in slabs(count, width, BLOCK))
    return distinct(blocks, named)


def _bits(block: Any, start: int, players: Sequence[Player]) -> BoolArray:
    """Rows of a matrix as booleans, refused where an entry is neither 0 nor 1."""
    dense = np.asarray(block.toarray() if is_sparse(block) else block)
    try:
        bits, zeros = (np.asarray(dense == number, dtype=bool) for number in (1, 0))
    except TypeError:  # pandas' NA is neither equal to a number nor unequal
        raise ValueError(
            f"cells are missing in row {start} or below; a matrix of coalitions holds 0 and 1, or "
            "booleans: fill them in, or leave out their rows"
        ) from None
    odd = np.argwhere(~(bits | zeros))
    if len(odd):
        row, column = odd[0]
        raise ValueError(
            f"row {start + row} has {dense[row, column]} for player {players[column]!r}; a matrix "
            "of coalitions holds 0 and 1, or booleans: turn counts into counts > 0"
        )
    return bits


def _from_lists(coalitions: Any, players: Players | None) -> Observed:
    if isinstance(coalitions, str) or not isinstance(coalitions, Iterable):
        raise ValueError(
            f"{type(coalitions).__name__} was given; coalitions are a matrix of 0 and 1, a "
            "DataFrame of such columns, or a list of lists of players"
        )
    listed = [_members(each, place) for place, each in enumerate(coalitions)]
    if not listed:
        raise ValueError(NOTHING)
    if players is None:
        players = sorted_names({name for each in listed for name in each})
        if not players:
            raise ValueError("all coalitions are empty, and players= does not say who could join")
    named = name_players(players)
    column = {name: i for i, name in enumerate(named)}
    tally = Counter(listed)
    bits = np.zeros((len(tally), len(named)), dtype=bool)
    for row, each in enumerate(tally):
        for name in each:
            if name not in column:
                raise ValueError(
                    f"coalition {listed.index(each)} names {name!r}, who is not among the players "
                    f"{spell(named)}"
                )
            bits[row, column[name]] = True
    return distinct([bits], named, np.array(list(tally.values()), dtype=float))


def _members(given: Any, place: int) -> frozenset[Player]:
    """The players of one coalition, by name."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ValueError(
            f"coalition {place} is {given!r}; it must be a list of players: split a text at its "
            "separators, or read a file with fairfield.learning.read_baskets"
        )
    found = [name.item() if isinstance(name, np.generic) else name for name in given]
    for name in found:
        # NaN, as in tables padded to equal length, differs from itself.
        if not isinstance(name, Hashable) or name != name:
            raise ValueError(f"coalition {place} names {name!r}; use strings or numbers as names")
    members = frozenset(found)
    if len(members) < len(found):
        twice = Counter(found).most_common(1)[0][0]
        raise ValueError(
            f"coalition {place} names {twice!r} twice; lists name members, each once; a matrix of "
            "0 and 1 must be a NumPy array"
        )
    return members
