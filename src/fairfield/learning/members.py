"""Coalitions as lists of their members: what few members of many players cost, not all players."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.learning.observed import Observed, packed_rows

# Pairs of members worked on at once: they stay in the cache between the passes over them.
BLOCK = 2**17
# Numbers unpacked, or drawn as noise, at once.
UNPACKED = 2**22


@dataclass(frozen=True, eq=False)
class Members:
    """Some coalitions: ``member[k]`` is in coalition ``row[k]``, in the order of both."""

    member: IntArray
    row: IntArray
    rows: int
    players: int

    @classmethod
    def of(cls, inside: FloatArray) -> Members:
        """The members of coalitions (m, n) of 0 and 1."""
        row, member = np.nonzero(inside)
        return cls(member, row, *inside.shape)

    def matrix(self) -> FloatArray:
        """The coalitions (m, n) as 0 and 1."""
        inside = np.zeros((self.rows, self.players))
        inside[self.row, self.member] = 1.0
        return inside

    def sums(self, of_players: FloatArray) -> FloatArray:
        """Σ_{i∈S} v_i of each coalition."""
        return np.bincount(self.row, of_players[self.member], self.rows).astype(float)

    def totals(self, of_rows: FloatArray) -> FloatArray:
        """Σ_{S∋i} v_S for each player."""
        return np.bincount(self.member, of_rows[self.row], self.players).astype(float)

    @cached_property
    def followers(self) -> IntArray:
        """How many members of the same coalition come after each."""
        ends = np.cumsum(np.bincount(self.row, minlength=self.rows))
        return np.asarray(ends[self.row] - 1 - np.arange(len(self.row)))

    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """All pairs of members i < j of a coalition: i, j and the coalition."""
        first = np.repeat(np.arange(len(self.row)), self.followers)
        before = np.repeat(np.cumsum(self.followers) - self.followers, self.followers)
        second = first + 1 + np.arange(len(first)) - before
        return self.member[first], self.member[second], self.row[first]


@dataclass(frozen=True, eq=False)
class Listed:
    """Distinct coalitions with their counts; ``member`` holds them one after the other."""

    member: IntArray
    ends: IntArray
    counts: FloatArray
    players: int

    @property
    def total(self) -> float:
        """The number of observations."""
        return float(self.counts.sum())

    @classmethod
    def of(cls, seen: Observed) -> Listed:
        """What was observed."""
        _, member = np.nonzero(seen.coalitions)
        return cls(member, np.cumsum(seen.coalitions.sum(axis=1)), seen.counts, len(seen.players))

    @classmethod
    def drawn(cls, chances: FloatArray, count: int, rng: np.random.Generator) -> Listed:
        """``count`` coalitions of players who join independently, the equal ones together."""
        players = len(chances)
        step = max(1, UNPACKED // players)
        sizes = (min(step, count - done) for done in range(0, count, step))
        packed, counts = packed_rows(rng.random((size, players)) < chances for size in sizes)
        members, each = [], []
        for start in range(0, len(packed), step):
            bits = np.unpackbits(packed[start : start + step], axis=1, count=players)
            members.append(np.nonzero(bits)[1].astype(np.int32))
            each.append(bits.sum(axis=1, dtype=np.int64))
        return cls(np.concatenate(members), np.cumsum(np.concatenate(each)), counts, players)

    def blocks(self) -> Iterator[tuple[Members, FloatArray]]:
        """Coalitions with their counts, so many at once as have about ``BLOCK`` pairs."""
        sizes = np.diff(self.ends, prepend=0)
        cost = np.cumsum((sizes + 1) ** 2)
        edges = np.searchsorted(cost, np.arange(BLOCK, cost[-1], BLOCK), side="right")
        edges = np.unique([0, *edges.tolist(), len(sizes)])
        for start, stop in pairwise(edges.tolist()):
            row = np.repeat(np.arange(stop - start), sizes[start:stop])
            member = self.member[self.ends[start] - sizes[start] : self.ends[stop - 1]]
            yield Members(member, row, stop - start, self.players), self.counts[start:stop]
