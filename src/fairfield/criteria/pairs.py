"""Pairs of complementary coalitions, drawn without replacement.

Shapley's and Banzhaf's values depend on the odd part [F(S) - F(N∖S)]/2 of a game alone, so
coalitions are asked for together with their complements. For Shapley's value pairs are
stratified by size, each size alike (leverage sampling: Musco and Witter, 2025); for
Banzhaf's all pairs are alike. No pair is drawn twice, so small sizes are soon known whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, inf

import numpy as np
from numpy.typing import NDArray

from fairfield.coalitions import BoolArray, IntArray, enumerate_coalitions
from fairfield.multilinear import FloatArray

# Strata of up to so many pairs are listed and shuffled, larger ones drawn from.
LISTED = 4096


@dataclass(frozen=True)
class Stratum:
    """Pairs that are drawn alike: of coalitions of one size, or of all (size None)."""

    players: int
    size: int | None

    @property
    def pairs(self) -> float:
        """How many there are."""
        if self.size is None:
            return 2.0 ** (self.players - 1) if self.players < 1000 else inf
        count = comb(self.players, self.size)
        whole = count // 2 if self.halved else count
        return float(whole) if whole < 2**1000 else inf

    @property
    def halved(self) -> bool:
        """Whether a coalition and its complement are both of this size."""
        return self.size is not None and 2 * self.size == self.players

    def every(self) -> BoolArray:
        """One coalition of each pair."""
        if self.size is None:
            rest = enumerate_coalitions(self.players - 1)
            return np.concatenate([np.ones((len(rest), 1), dtype=bool), rest], axis=1)
        rows = np.array(list(combinations(range(self.players), self.size)), dtype=np.int64)
        if self.halved:
            rows = rows[rows[:, 0] == 0]
        coalitions = np.zeros((len(rows), self.players), dtype=bool)
        np.put_along_axis(coalitions, rows, True, axis=1)
        return coalitions

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """One coalition of each of so many random pairs."""
        if self.size is None:
            coalitions = rng.random((count, self.players)) < 0.5
            coalitions[:, 0] = True
            return coalitions
        places = rng.random((count, self.players)).argsort(axis=1)[:, : self.size]
        coalitions = np.zeros((count, self.players), dtype=bool)
        np.put_along_axis(coalitions, places, True, axis=1)
        if self.halved:
            coalitions ^= ~coalitions[:, :1]
        return coalitions


class Distinct:
    """The pairs of a stratum in random order, none twice."""

    def __init__(self, stratum: Stratum, rng: np.random.Generator) -> None:
        self.stratum, self.rng = stratum, rng
        self._listed: BoolArray | None = None
        self._seen: set[bytes] = set()
        self.drawn = 0
        if stratum.pairs <= LISTED:
            self._listed = rng.permutation(stratum.every())

    def next(self, count: int) -> BoolArray:
        """So many more pairs; the caller knows how many are left."""
        start, self.drawn = self.drawn, self.drawn + count
        if self._listed is not None:
            return self._listed[start : self.drawn]
        found: list[BoolArray] = [np.empty((0, self.stratum.players), dtype=bool)]
        while count:
            drawn = self.stratum.draw(count, self.rng)
            keys = np.packbits(drawn, axis=1)
            fresh = []
            for row, key in enumerate(keys):
                name = key.tobytes()
                if name not in self._seen:
                    self._seen.add(name)
                    fresh.append(row)
            found.append(drawn[fresh])
            count -= len(fresh)
        return np.concatenate(found)


class Design:
    """A fixed sequence of pairs whose every beginning is spread over the strata by share.

    The j-th pair of a stratum with share σ has its turn at time (j + ½)/σ; a stratum that
    is used up leaves the rest to the others. Shares may change on the way.
    """

    def __init__(self, strata: list[Stratum], shares: FloatArray, seed: int) -> None:
        rngs = np.random.default_rng(seed).spawn(len(strata))
        self.strata, self.shares = strata, shares
        self._queues = [Distinct(each, rng) for each, rng in zip(strata, rngs, strict=True)]

    def next(self, count: int, urgency: FloatArray) -> tuple[BoolArray, IntArray]:
        """The next pairs, fewer at the very end: one coalition of each, and its stratum.

        ``urgency`` multiplies the shares.
        """
        shares = self.shares * urgency
        times: list[FloatArray] = []
        numbers: list[NDArray[np.int64]] = []
        for number, (queue, share) in enumerate(zip(self._queues, shares, strict=True)):
            more = int(min(count, queue.stratum.pairs - queue.drawn))
            times.append((queue.drawn + np.arange(more) + 0.5) / share)
            numbers.append(np.full(more, number))
        stratum = np.concatenate(numbers)[np.argsort(np.concatenate(times), kind="stable")[:count]]
        pairs = np.empty((len(stratum), self.strata[0].players), dtype=bool)
        for number, queue in enumerate(self._queues):
            turn = stratum == number
            pairs[turn] = queue.next(int(turn.sum()))
        return pairs, stratum


def shapley_design(players: int, seed: int) -> Design:
    """Pairs of every size 1 … n-1 alike."""
    strata = [Stratum(players, size) for size in range(1, players // 2 + 1)]
    return Design(strata, np.array([0.5 if each.halved else 1.0 for each in strata]), seed)


def banzhaf_design(players: int, seed: int) -> Design:
    """All pairs alike."""
    return Design([Stratum(players, None)], np.ones(1), seed)
