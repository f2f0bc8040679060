"""Which coalitions values and interactions are estimated from: by size, none twice.

Sizes get shares by how much of a reading comes from them (Neyman, 1934). Where a reading weighs
coalitions and their complements alike, both are asked for: what is even in a game then cancels in
values, what is odd in interactions of pairs. The sequence depends on the seed alone, not on the worths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import log_binomials
from fairfield.estimation.along import Along
from fairfield.estimation.received import Received, ends
from fairfield.estimation.strata import Distinct, in_turn

# The fewest pairs of a round.
ROUND = 48
# So many pairs per player are drawn apart: their complements follow after all of them.
APART = 1.5
# Up to this share goes to single players, and to all but one, until all of them are evaluated. They are
# rare among all coalitions, but their worths may be extreme: a model fitted to almost no data, say.
ALONE = 0.1
# Sizes that count for less than this, in units of the one that counts most, hardly do.
RARE = 1e-3
# No share is 0, and what counts for less does not count at all.
TINY = 1e-12


@dataclass(frozen=True)
class Plan:
    """How coalitions are spread over the sizes.

    This share of them is spread ``evenly`` over the sizes that count. Single players and all but one
    come ``early``, or ``first``, before all others. From few coalitions a prior over games learns more from a
    new one than from a complement, so that the complements of the first may come ``apart``, after
    all of these.
    """

    evenly: float = 0.1
    early: bool = True
    first: bool = False
    apart: bool = False


class Design(Received):
    """Coalitions that were asked for, ∅ and N first, and what was received for them."""

    def __init__(self, players: int, along: Sequence[Along], seed: int, plan: Plan) -> None:
        super().__init__()
        self.players, self.seed, self.plan = players, seed, plan
        reach = [each.reach / each.reach.sum() for each in along]
        self.paired = any(np.allclose(each, each[::-1]) for each in reach)
        self.reach = np.mean(reach, axis=0)
        if self.paired:
            self.reach = (self.reach + self.reach[::-1]) / 2
        sizes = np.arange(1, players // 2 + 1 if self.paired else players)
        *rngs, self._sides = np.random.default_rng(seed).spawn(len(sizes) + 1)
        self.strata = [
            Distinct(players, size, rng, paired=self.paired)
            for size, rng in zip(sizes.tolist(), rngs, strict=True)
        ]
        # Pairs of which both are of one size are half as many.
        need = self.reach[sizes] * np.where([each.halved for each in self.strata], 0.5, 1.0)
        need = need / max(need.sum(), TINY)
        even = (need > RARE * need.max(initial=0.0)) | (not self.paired)
        even = even / max(even.sum(), 1)
        self._need = need + TINY
        self._shares: FloatArray = (1 - plan.evenly) * need + plan.evenly * even + TINY
        if plan.early and self.paired and len(sizes):
            self._shares[0] = inf if plan.first else max(self._shares[0], ALONE)
        self._drawn: BoolArray = np.empty((0, players), dtype=bool)
        self._apart = 0

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then half as many again as there are."""
        before = self._asked()
        apart = ceil(APART * self.players) if self.plan.apart and not len(before) else 0
        each = 2 if self.paired else 1
        count = apart or max(self.players + 2, ROUND, len(before) // 2 // each)
        found = in_turn(self.strata, count, self._need if apart else self._shares)
        if apart:
            # Strata hold the smaller coalition of each pair.
            found = found ^ (self._sides.random((len(found), 1)) < 0.5)
            self._apart = len(found)
        self._drawn = np.concatenate([self._drawn, found])
        return self._asked()[len(before) :][:most]

    def _asked(self) -> BoolArray:
        """All that were asked for so far, in order."""
        if not len(self._drawn):
            return self._drawn
        if not self.paired:
            return np.concatenate([ends(self.players), self._drawn])
        first, rest = self._drawn[: self._apart], self._drawn[self._apart :]
        both = np.stack([rest, ~rest], axis=1).reshape(-1, self.players)
        return np.concatenate([ends(self.players), first, ~first, both])

    def received(self) -> BoolArray:
        """The coalitions whose worths are known, (m, n)."""
        return self._asked()[: self.worths().shape[-1]]

    def provenance(self) -> dict[str, Any]:
        """How many coalitions so far, and the seed they come from."""
        sampler = "pairs by size" if self.paired else "by size"
        return {"sampler": sampler, "seed": self.seed, "coalitions": len(self._asked())}

    def pairs(self) -> IntArray:
        """Where complements stand among them, ∅ and N first: (pairs, 2)."""
        if not self.paired:
            return np.arange(2)[None]
        pair = np.arange(len(self._drawn))[:, None]
        places = np.where(
            pair < self._apart, pair + self._apart * np.arange(2), 2 * pair + np.arange(2)
        )
        found = np.concatenate([np.arange(2)[None], 2 + places])
        return np.asarray(found[found[:, 1] < self.worths().shape[-1]])

    def sampled(self, *, noisy: bool) -> Sampled:
        """What was received, complements side by side."""
        given, noise, rows, pairs = self.worths(), self.noise(), self.received(), self.pairs()
        order = np.append(pairs, np.setdiff1d(np.arange(len(rows)), pairs))
        worths = given.reshape(-1, given.shape[-1])[:, order]
        every = np.ones(self.players + 1)
        for each in self.strata:
            every[each.size] = each.pairs * (2 if each.halved else 1)
            if self.paired:
                every[self.players - each.size] = every[each.size]
        return Sampled(
            rows[order],
            worths,
            None if noise is None else noise.reshape(-1, noise.shape[-1])[:, order],
            len(pairs),
            every,
            self.reach,
            noisy,
        )


@dataclass(frozen=True)
class Sampled:
    """Worths (games, m) of coalitions (m, n), their variances, and how the coalitions were drawn.

    Each two of the first 2 ``pairs`` are complements, ∅ and N before all others. ``every`` (n + 1,) counts
    the coalitions that there are of each size; ``reach`` (n + 1,) is how much of a reading comes
    from a size. What is ``noisy`` is never certain. What is read ``anywhere``, not along the diagonal alone,
    takes kernels with closed forms there.
    """

    rows: BoolArray
    worths: FloatArray
    noise: FloatArray | None
    pairs: int
    every: FloatArray
    reach: FloatArray
    noisy: bool
    anywhere: bool = False

    def of(self, game: int) -> Sampled:
        """The sample of one game."""
        one = slice(game, game + 1)
        noise = None if self.noise is None else self.noise[one]
        facts = self.pairs, self.every, self.reach, self.noisy, self.anywhere
        return Sampled(self.rows, self.worths[one], noise, *facts)

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes of the coalitions, (m,)."""
        return np.asarray(self.rows.sum(axis=1))

    @cached_property
    def drawn(self) -> FloatArray:
        """How many coalitions of each size 0 … n are known."""
        return np.bincount(self.sizes, minlength=len(self.every)).astype(float)

    @cached_property
    def known(self) -> FloatArray:
        """The share of its size that is known for certain, for each coalition."""
        return np.asarray((self.drawn / self.every * (not self.noisy))[self.sizes])

    @cached_property
    def groups(self) -> IntArray:
        """Which coalitions are left out together, by numbers that rise: complements are."""
        place = np.arange(len(self.rows))
        return np.where(place < 2 * self.pairs, place // 2, place - self.pairs)

    @cached_property
    def weights(self) -> FloatArray:
        """How much errors of prediction count, (m,), by size: not where all worths are known."""
        each = (self.reach / np.maximum(self.drawn, 1)) ** 2
        found = each[self.sizes] * (1 - self.known) + TINY * each.max()
        return np.asarray(found / found.sum())

    @property
    def is_whole(self) -> bool:
        """Whether all worths that count are known for certain."""
        return not self.noisy and bool((self.drawn == self.every)[self._counting(TINY)].all())

    @property
    def shows_spread(self) -> bool:
        """Whether of every size that counts two coalitions are known, or all: so residuals show errors."""
        return bool(self.shown[self._counting(RARE)].all())

    @property
    def shown(self) -> BoolArray:
        """The sizes 0 … n of which two coalitions are known, or all."""
        return np.asarray(self.drawn >= np.minimum(2, self.every))

    def _counting(self, share: float) -> BoolArray:
        return np.asarray(self.reach > share * self.reach.max())

    def log_law(self) -> FloatArray:
        """The log of the chance that a draw like these is a given coalition of size 0 … n; ∅ and N are none."""
        drawn = self.drawn.copy()
        drawn[[0, -1]] -= 1
        with np.errstate(divide="ignore"):  # sizes that are never drawn
            shares = np.log(drawn / max(drawn.sum(), 1.0))
        return np.asarray(shares - log_binomials(len(drawn) - 1))
