"""Which coalitions values and interactions are estimated from: by size, none twice.

Sizes get shares by how much of a reading comes from them and, as soon as worths tell, by how much these
differ (Neyman, 1934). Where a reading weighs coalitions and their complements alike, both are asked for:
what is even in a game then cancels in values, what is odd in interactions of pairs. A complement costs as
much as a new coalition, so that the first pairs may decide whether more of them follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import log_binomials
from fairfield.estimation.along import Along
from fairfield.estimation.designs.balance import Balance
from fairfield.estimation.designs.spread import spread_by_size
from fairfield.estimation.designs.strata import Distinct, Stratum, in_turn, turns
from fairfield.estimation.received import Received
from fairfield.evaluation.threads import one_blas_thread

# The fewest pairs of the first round.
FIRST = 48
# So many pairs per player are drawn apart: their complements follow after all of them.
APART = 1.5
# No more complements follow where what is odd of these pairs has such a share.
ODD = 0.5
# Up to this share goes to single players, and to all but one, until all of them are evaluated. They are
# rare among all coalitions, but their worths may be extreme: a model fitted to almost no data, say.
ALONE = 0.1
# So few coalitions per player are evaluated, where these are all that is read.
FEW = 20
# Sizes that count for less than this, in units of the one that counts most, hardly do.
RARE = 1e-3
# From so many coalitions per player on worths tell how much they differ by size.
TELLING = 4
# No share is 0, and what counts for less does not count at all.
TINY = 1e-12


@dataclass(frozen=True)
class Plan:
    """How coalitions are spread over the sizes.

    This share of them is spread ``evenly`` over the sizes that count. Single players and all but one
    come ``early``, or ``first``, before all others. From few coalitions a prior over games learns more from a
    new one than from a complement: where what is ``odd`` in the first pairs decides whether more of them
    follow, their complements come after all of them. Sizes whose worths differ most get more where that
    is ``followed``: it is what linear games leave, so that it says nothing of where interactions differ.
    """

    evenly: float = 0.1
    early: bool = True
    first: bool = False
    followed: bool = True
    odd: Callable[[Sampled], float] | None = None


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
        sizes = range(players + 1)
        self._every = np.array([Stratum(players, size, paired=False).pairs for size in sizes])
        self._rng = np.random.default_rng(seed)
        self._balance = Balance(players, np.random.default_rng([seed, players]))
        self._draws = _Draws(self.reach, plan, self._rng, self._balance, self.paired)
        self._odd = plan.odd
        self._asked: BoolArray = np.empty((0, players), dtype=bool)
        # Where complements stand among them, (pairs, 2).
        self._pairs: IntArray = np.empty((0, 2), dtype=np.int64)

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then half as many again as there are."""
        start = len(self._asked)
        if not start:
            self._pair(np.zeros((1, self.players), dtype=bool))
        if not start and self.plan.odd:
            self._pair_later(self._draws.next(ceil(APART * self.players), either=True))
            return self._asked[:most]
        if start and self._odd is not None and self._odd(self.sampled(noisy=False)) > ODD:
            self._draws = _Draws(
                self.reach, self.plan, self._rng, self._balance, False, self._asked
            )
        self._odd = None
        each = 2 if self._draws.paired else 1
        least = max(self.players + 2, start // 2 // each if start else FIRST)
        count = min(least, ceil(most / each))
        (self._pair if self._draws.paired else self._add)(self._draws.next(count, self._spread()))
        return self._asked[start:][:most]

    def _spread(self) -> FloatArray | None:
        """How much there is to learn of sizes 0 … n, as soon as there are worths enough to tell."""
        if not self.plan.followed or len(self._asked) < TELLING * self.players:
            return None
        sampled = self.sampled(noisy=False)
        rows, worths, sizes = sampled.rows[2:], sampled.worths[:, 2:], sampled.sizes[2:]
        if self._draws.paired:
            pairs = slice(0, 2 * (sampled.pairs - 1), 2)
            rows, worths = rows[pairs], worths[:, pairs] - worths[:, 1 : pairs.stop : 2]
            sizes = np.minimum(sizes[pairs], self.players - sizes[pairs])
        with one_blas_thread():
            return spread_by_size(rows, worths, sizes)

    def _add(self, found: BoolArray) -> None:
        self._asked = np.concatenate([self._asked, found])

    def _pair(self, found: BoolArray) -> None:
        """Ask for these and their complements, side by side."""
        places = len(self._asked) + np.arange(2 * len(found)).reshape(-1, 2)
        self._pairs = np.concatenate([self._pairs, places])
        self._add(np.stack([found, ~found], axis=1).reshape(-1, self.players))

    def _pair_later(self, found: BoolArray) -> None:
        """Ask for these, and for their complements after all of them."""
        places = len(self._asked) + np.arange(2 * len(found)).reshape(2, -1).T
        self._pairs = np.concatenate([self._pairs, places])
        self._add(np.concatenate([found, ~found]))

    def received(self) -> BoolArray:
        """The coalitions whose worths are known, (m, n)."""
        return self._asked[: self.worths().shape[-1]]

    def provenance(self) -> dict[str, Any]:
        """How many coalitions so far, and the seed they come from."""
        sampler = "pairs by size" if self._draws.paired else "by size"
        return {"sampler": sampler, "seed": self.seed, "coalitions": len(self._asked)}

    def sampled(self, *, noisy: bool) -> Sampled:
        """What was received, complements side by side."""
        given, noise, rows = self.worths(), self.noise(), self.received()
        pairs = self._pairs[self._pairs[:, 1] < len(rows)]
        order = np.append(pairs, np.setdiff1d(np.arange(len(rows)), pairs))
        worths = given.reshape(-1, given.shape[-1])[:, order]
        return Sampled(
            rows[order],
            worths,
            None if noise is None else noise.reshape(-1, noise.shape[-1])[:, order],
            len(pairs),
            self._every,
            self.reach,
            noisy,
            single=not self._draws.paired,
        )


class _Draws:
    """Coalitions of all sizes but 0 and n, or pairs of complements, in turn; none that was asked for."""

    def __init__(
        self,
        reach: FloatArray,
        plan: Plan,
        rng: np.random.Generator,
        balance: Balance,
        paired: bool,
        asked: BoolArray | None = None,
    ) -> None:
        players = len(reach) - 1
        self.paired, self._balance, self._players = paired, balance, players
        sizes = np.arange(1, players // 2 + 1 if paired else players)
        *rngs, self._sides = rng.spawn(len(sizes) + 1)
        self.strata = [
            Distinct(players, size, own, paired=paired, asked=asked)
            for size, own in zip(sizes.tolist(), rngs, strict=True)
        ]
        # Pairs of which both are of one size are half as many.
        need = reach[sizes] * np.where([each.halved for each in self.strata], 0.5, 1.0)
        need = need / max(need.sum(), TINY)
        even = need > RARE * need.max(initial=0.0)
        if not paired:
            # Others tell a surrogate of interactions, unless all that is read may as well be evaluated.
            every = np.array([each.pairs for each in self.strata])
            even = (need > 0) | (every[need > 0].sum() > FEW * players)
        even = even / max(even.sum(), 1)
        self._need = need + TINY
        self._shares: FloatArray = (1 - plan.evenly) * need + plan.evenly * even + TINY
        self._least = np.zeros(len(sizes))
        if plan.early and len(sizes) and (paired or asked is not None):
            alone = [0] if paired else [0, -1]
            self._least[alone] = inf if plan.first else ALONE / len(alone)

    def next(
        self, count: int, spread: FloatArray | None = None, *, either: bool = False
    ) -> BoolArray:
        """So many more, or what is left; of pairs the smaller coalition, of equal ones or on demand ``either``.

        Sizes are drawn from as what is read of them is ``spread`` (n + 1,).
        """
        shares = self._shares
        if spread is not None:
            shares = shares * spread[[each.size for each in self.strata]]
            shares = shares / shares.sum()
        shares = self._need if either else np.maximum(shares, self._least)
        chosen = turns(self.strata, count, shares)
        # One by one, so that each depends on those before it alone, however many are asked for.
        first, rest = np.split(chosen, [self._balance.left])
        balanced = [self._balanced(self.strata[each]) for each in first]
        found = np.array([*balanced, *in_turn(self.strata, rest)], dtype=bool).reshape(
            -1, self._players
        )
        # A budget may end between the two of a pair: of halves, neither comes first by who is in it.
        halves = 2 * found.sum(axis=1, keepdims=True) == self._players
        turned = self._sides.random((len(found), 1)) < 0.5
        return np.asarray(found ^ (turned & self.paired & (halves | either)))

    def _balanced(self, stratum: Distinct) -> BoolArray:
        """The best balanced of a stratum that is to be had for the next one."""
        (drawn,) = stratum.next(1)
        better = reversed(self._balance.better(drawn))
        best = next(each for each in better if stratum.exchange(drawn, each))
        self._balance.add(best, paired=self.paired)
        return best


@dataclass(frozen=True)
class Sampled:
    """Worths (games, m) of coalitions (m, n), their variances, and how the coalitions were drawn.

    Each two of the first 2 ``pairs`` are complements, ∅ and N before all others. ``every`` (n + 1,) counts
    the coalitions that there are of each size; ``reach`` (n + 1,) is how much of a reading comes
    from a size. What is ``noisy`` is never certain. Coalitions may have been drawn ``single``, and then those
    without complements count as the others do. What is read ``anywhere``, not along the diagonal alone, takes
    kernels with closed forms there.
    """

    rows: BoolArray
    worths: FloatArray
    noise: FloatArray | None
    pairs: int
    every: FloatArray
    reach: FloatArray
    noisy: bool
    anywhere: bool = False
    single: bool = False

    def of(self, game: int) -> Sampled:
        """The sample of one game."""
        one = slice(game, game + 1)
        noise = None if self.noise is None else self.noise[one]
        return replace(self, worths=self.worths[one], noise=noise)

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes of the coalitions, (m,)."""
        return np.asarray(self.rows.sum(axis=1))

    @cached_property
    def middle(self) -> BoolArray:
        """Which show interactions of some to have and some to lack: not ∅, N, one player or all but one, (m,)."""
        return np.asarray((self.sizes > 1) & (self.sizes < self.rows.shape[1] - 1))

    @cached_property
    def drawn(self) -> FloatArray:
        """How many coalitions of each size 0 … n are known."""
        return np.bincount(self.sizes, minlength=len(self.every)).astype(float)

    @cached_property
    def seen(self) -> FloatArray:
        """The share of its size that was drawn, for each coalition."""
        return np.asarray((self.drawn / self.every)[self.sizes])

    @cached_property
    def known(self) -> FloatArray:
        """The share of its size of which nothing but noise of known size is uncertain, for each coalition."""
        measured = self.noise is not None and self.noise.any()
        return self.seen * (measured or not self.noisy)

    @cached_property
    def groups(self) -> IntArray:
        """Which coalitions are left out together, by numbers that rise: complements are."""
        place = np.arange(len(self.rows))
        return np.where(place < 2 * self.pairs, place // 2, place - self.pairs)

    @cached_property
    def twins(self) -> IntArray:
        """Where the complement of each stands, itself where it is not there, (m,)."""
        place = np.arange(len(self.rows))
        return np.where(place < 2 * self.pairs, place ^ 1, place)

    @property
    def draws(self) -> int:
        """How many groups tell values apart: pairs, and single coalitions where these count; no ends."""
        return int(self.groups[-1] if self.single else self.pairs - 1)

    @cached_property
    def weights(self) -> FloatArray:
        """How much errors of prediction count, (m,), by size: not where all worths are known."""
        each = (self.reach / np.maximum(self.drawn, 1)) ** 2
        found = each[self.sizes] * (1 - self.known) + TINY * each.max()
        return np.asarray(found / found.sum())

    @cached_property
    def judges(self) -> float:
        """How many draws, alike in weight, would say as much of errors of prediction."""
        return float(1 / np.sum(np.bincount(self.groups, self.weights) ** 2))

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
