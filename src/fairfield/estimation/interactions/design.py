"""Which coalitions interactions are estimated from: by size, none twice.

Sizes get shares by how much of an interaction is read from them (Neyman, 1934). Where an
interaction weighs coalitions and their complements alike, both are asked for: the odd part of
a game, its linear part above all, then cancels in pairs, the even part in triples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.interactions.sections import Along
from fairfield.estimation.pairs import Distinct, in_turn
from fairfield.estimation.received import Received, ends

# This share of the coalitions of few players is spread evenly over the sizes that count, of n players
# all but the second number over n: surrogates learn most from coalitions of about half the players.
EVENLY, SMALL = 0.3, 20
# Sizes that count for less than this, in units of the one that counts most, do so by themselves.
RARE = 1e-3
# No share is 0.
TINY = 1e-12
# The fewest coalitions of a round.
ROUND = 48


class Design(Received):
    """Coalitions that were asked for, ∅ and N first, and what was received for them."""

    def __init__(self, players: int, along: Sequence[Along], seed: int) -> None:
        super().__init__()
        self.players, self.seed = players, seed
        reach = np.mean([each.reach / each.reach.sum() for each in along], axis=0)
        self.paired = bool(np.allclose(reach, reach[::-1]))
        sizes = np.arange(1, players // 2 + 1 if self.paired else players)
        rngs = np.random.default_rng(seed).spawn(len(sizes))
        self.strata = [
            Distinct(players, size, rng, paired=self.paired)
            for size, rng in zip(sizes.tolist(), rngs, strict=True)
        ]
        need = reach[sizes] / max(reach[sizes].sum(), 1e-300)
        even = np.where((need > RARE * need.max()) | (not self.paired), 1.0, 0.0)
        evenly = max(EVENLY, 1 - SMALL / players)
        self.shares: FloatArray = (1 - evenly) * need + evenly * even / even.sum() + TINY
        self._asked: BoolArray = ends(players)

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then half as many again as there are."""
        known = len(self._asked)
        wanted = max(self.players + 2, ROUND, known // 2)
        found, _ = in_turn(self.strata, -(-wanted // 2) if self.paired else wanted, self.shares)
        if self.paired:
            found = np.stack([found, ~found], axis=1).reshape(-1, self.players)
        first = self._asked if not self._worths else found[:0]
        self._asked = np.concatenate([self._asked, found])
        return np.concatenate([first, found])[:most]

    def received(self) -> BoolArray:
        """The coalitions whose worths are known, (m, n)."""
        return self._asked[: self.worths().shape[-1]]

    def drawn(self) -> tuple[FloatArray, FloatArray]:
        """How many coalitions of each size 0 … n are known, and how many there are."""
        known = np.bincount(self.received().sum(axis=1), minlength=self.players + 1)
        every = np.ones(self.players + 1)
        for each in self.strata:
            count = each.pairs * (2 if each.halved else 1)
            every[each.size] = count
            if self.paired:
                every[self.players - each.size] = count
        return known.astype(float), every
