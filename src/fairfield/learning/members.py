"""Coalitions as lists of their members: passes over them cost as much as there are members."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray, slabs
from fairfield.learning.observed import packed_rows

# Pairs of members worked on at once: they stay in the cache between the passes over them.
BLOCK = 2**17
# Numbers unpacked, or drawn as noise, at once.
UNPACKED = 2**22


@dataclass(frozen=True, eq=False)
class Members:
    """Coalitions of some ``sizes``, with ``counts``; ``member`` lists one after the other."""

    member: IntArray
    sizes: IntArray
    counts: FloatArray
    players: int

    @classmethod
    def of(cls, coalitions: BoolArray, counts: FloatArray | None = None) -> Members:
        """The members of coalitions (m, n), each counted once by default."""
        each = np.ones(len(coalitions)) if counts is None else counts
        return cls(np.nonzero(coalitions)[1], coalitions.sum(axis=1), each, coalitions.shape[1])

    @classmethod
    def drawn(cls, probabilities: FloatArray, count: int, rng: np.random.Generator) -> Members:
        """``count`` coalitions of players who join independently, equal ones counted together."""
        players = len(probabilities)
        packed, counts = packed_rows(
            rng.random((some.stop - some.start, players)) < probabilities
            for some in slabs(count, players, UNPACKED)
        )
        member, sizes = [], []
        for some in slabs(len(packed), players, UNPACKED):
            bits = np.unpackbits(packed[some], axis=1, count=players)
            member.append(np.nonzero(bits)[1].astype(np.int32))
            sizes.append(bits.sum(axis=1, dtype=np.int64))
        return cls(np.concatenate(member), np.concatenate(sizes), counts, players)

    @property
    def total(self) -> float:
        """The number of observations."""
        return float(self.counts.sum())

    @cached_property
    def row(self) -> IntArray:
        """The coalition of each member."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def followers(self) -> IntArray:
        """The number of members of the same coalition after each."""
        return np.asarray(np.cumsum(self.sizes)[self.row] - 1 - np.arange(len(self.member)))

    def matrix(self) -> FloatArray:
        """The coalitions (m, n) as 0 and 1."""
        inside = np.zeros((len(self.sizes), self.players))
        inside[self.row, self.member] = 1.0
        return inside

    def sums(self, of_players: FloatArray) -> FloatArray:
        """Σ_{i∈S} v_i of each coalition."""
        return np.bincount(self.row, of_players[self.member], len(self.sizes)).astype(float)

    def totals(self, of_rows: FloatArray) -> FloatArray:
        """Σ_{S∋i} v_S for each player."""
        return np.bincount(self.member, of_rows[self.row], self.players).astype(float)

    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """All pairs of members i < j of a coalition: i, j and the coalition."""
        first = np.repeat(np.arange(len(self.row)), self.followers)
        before = np.repeat(np.cumsum(self.followers) - self.followers, self.followers)
        second = first + 1 + np.arange(len(first)) - before
        return self.member[first], self.member[second], self.row[first]

    def blocks(self) -> Iterator[Members]:
        """The coalitions in parts of about ``BLOCK`` pairs."""
        ends, cost = np.cumsum(self.sizes), np.cumsum((self.sizes + 1) ** 2)
        edges = np.searchsorted(cost, np.arange(BLOCK, cost[-1], BLOCK), side="right")
        for start, stop in pairwise(np.unique([0, *edges.tolist(), len(cost)]).tolist()):
            member = self.member[ends[start] - self.sizes[start] : ends[stop - 1]]
            yield Members(member, self.sizes[start:stop], self.counts[start:stop], self.players)
