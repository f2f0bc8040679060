"""Pairs of complementary coalitions, drawn without replacement.

Shapley's and Banzhaf's values depend on the odd part [F(S) - F(N∖S)]/2 of a game alone, so
coalitions are asked for together with their complements. Pairs are stratified by size: for
Shapley's value at first each size alike (leverage sampling: Musco and Witter, 2025), for
Banzhaf's by the binomial law; single players early; later more where more is left to explain
(Neyman, 1934). No pair is drawn twice, so small sizes are soon known whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, inf

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# Strata of up to so many pairs are listed and shuffled, larger ones drawn from.
LISTED = 4096
# This share of the pairs is spread evenly over the sizes, so that none stays unknown, but
# sizes with less than this share of all coalitions are left out of Banzhaf's value.
EVENLY, RARE = 0.1, 1e-9
# Up to this share goes to single players, and to all but one, until these are known whole. They
# hardly occur among all coalitions, but may be wild: a model fitted to next to nothing.
ALONE = 0.1


@dataclass(frozen=True)
class Stratum:
    """The pairs whose smaller coalition has this size."""

    players: int
    size: int

    @property
    def halved(self) -> bool:
        """Whether both coalitions of a pair are of this size."""
        return 2 * self.size == self.players

    @property
    def pairs(self) -> float:
        """How many there are."""
        count = comb(self.players, self.size) // (2 if self.halved else 1)
        return float(count) if count < 2**1000 else inf

    def every(self) -> BoolArray:
        """One coalition of each pair."""
        rows = np.array(list(combinations(range(self.players), self.size)), dtype=np.int64)
        if self.halved:
            rows = rows[rows[:, 0] == 0]
        return self._coalitions(rows)

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """One coalition of each of so many random pairs."""
        coalitions = self._coalitions(
            rng.random((count, self.players)).argsort(axis=1)[:, : self.size]
        )
        return coalitions ^ ~coalitions[:, :1] if self.halved else coalitions

    def _coalitions(self, members: IntArray) -> BoolArray:
        coalitions = np.zeros((len(members), self.players), dtype=bool)
        np.put_along_axis(coalitions, members, True, axis=1)
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
    """A sequence of pairs whose every beginning is spread over the strata by their shares.

    The j-th pair of a stratum with share σ has its turn at time (j + ½)/σ; a stratum that
    is used up leaves the rest to the others. ``masses`` are the weights of the strata in the
    regression, ``reach`` how far a residual of 1 moves the values, ``early`` how many pairs
    are wanted early.
    """

    def __init__(
        self,
        sizes: IntArray,
        players: int,
        masses: FloatArray,
        reach: FloatArray,
        seed: int,
        *,
        alone_early: bool = False,
    ) -> None:
        self.strata = [Stratum(players, int(size)) for size in sizes]
        self.pairs = np.array([each.pairs for each in self.strata])
        self.masses, self.reach = masses / masses.sum(), reach
        self.early = np.where((sizes <= 1) & alone_early, self.pairs, 0.0)
        rngs = np.random.default_rng(seed).spawn(len(sizes))
        self._queues = [Distinct(each, rng) for each, rng in zip(self.strata, rngs, strict=True)]

    @classmethod
    def shapley(cls, players: int, seed: int) -> Design:
        """Sizes 1 … n-1, weighing 1/(s (n-s)) each."""
        size = np.arange(1, players // 2 + 1)
        spread = size * (players - size)
        masses = np.where(2 * size == players, 0.5, 1.0) / spread
        return cls(size, players, masses, np.sqrt(spread), seed)

    @classmethod
    def banzhaf(cls, players: int, seed: int) -> Design:
        """All coalitions alike, but for sizes that hardly occur."""
        from scipy.special import gammaln

        size = np.arange(players // 2 + 1)
        logs = gammaln(players + 1) - gammaln(size + 1) - gammaln(players - size + 1)
        logs += np.where(2 * size == players, 0.0, np.log(2)) - players * np.log(2)
        kept = logs > np.log(RARE)
        masses, reach = np.exp(logs[kept]), np.ones(int(kept.sum()))
        return cls(size[kept], players, masses, reach, seed, alone_early=True)

    def shares(self, left: FloatArray | None, total: int) -> FloatArray:
        """How so many pairs are to be spread, given the mean square residual in each stratum."""
        plain = self.masses * self.reach**2
        even = np.full(len(plain), 1 / len(plain))
        plain = (1 - EVENLY) * plain / plain.sum() + EVENLY * even
        need = np.zeros(len(plain)) if left is None else self.masses * self.reach * np.sqrt(left)
        spread = (plain + need / need.sum()) / 2 if need.any() else plain
        least = self.early * min(1 / total, ALONE / max(self.early.sum(), 1.0))
        return np.asarray(np.maximum(spread, least))

    def next(self, count: int, shares: FloatArray) -> tuple[BoolArray, IntArray]:
        """The next pairs, fewer at the very end: one coalition of each, and its stratum."""
        times: list[FloatArray] = []
        numbers: list[IntArray] = []
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
