"""Pairs of complementary coalitions, drawn without replacement.

Shapley's and Banzhaf's values depend on the odd part [F(S) - F(N∖S)]/2 of a game alone, so
coalitions are evaluated together with their complements. Pairs are stratified by size: for
Shapley's value all single players first, and then each size alike (leverage sampling: Musco and
Witter, 2025), for Banzhaf's by the binomial law, single players early; later more where more is
left to explain (Neyman, 1934). No pair is drawn twice, so small sizes are soon known whole.

From few coalitions a prior over games reads Banzhaf's values off any coalitions, and learns more from
a new one than from a complement; so the complements of the first follow after all of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, comb, inf, lgamma

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import log_binomials
from fairfield.estimation.corrections import least_squares
from fairfield.estimation.prior.posterior import FITTED
from fairfield.estimation.received import Received, ends, unseen
from fairfield.estimation.surrogates.sample import Sample
from fairfield.problem import Problem

# Strata of up to so many pairs are listed and shuffled, larger ones drawn from.
LISTED = 4096
# This share of the pairs is spread evenly over the sizes, so that none stays unknown, but
# sizes with less than this share of all coalitions are left out of Banzhaf's value.
EVENLY, RARE = 0.1, 1e-9
# Up to this share goes to single players, and to all but one, until all of them are
# evaluated. They are rare among all coalitions, but their worths may be extreme: a model fitted to
# almost no data, say.
ALONE = 0.1
# So many pairs per player have their complements later, and so many are drawn by the law alone.
APART, PLAIN = 1.5, 4


class Stratum:
    """The pairs whose smaller coalition has this size, or the coalitions of a size."""

    def __init__(self, players: int, size: int, *, paired: bool = True) -> None:
        self.players, self.size = players, size
        # Whether both coalitions of a pair are of this size.
        self.halved = paired and 2 * size == players
        # The numbers of thousands of players have thousands of digits.
        logs = lgamma(players + 1) - lgamma(size + 1) - lgamma(players - size + 1)
        self.pairs = comb(players, size) / (2 if self.halved else 1) if logs < 600 else inf

    def every(self) -> BoolArray:
        """One coalition of each pair."""
        rows = np.array(list(combinations(range(self.players), self.size)), dtype=np.int64)
        return self._coalitions(rows[rows[:, 0] == 0] if self.halved else rows)

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """One coalition of each of so many random pairs."""
        orders = rng.random((count, self.players)).argsort(axis=1)
        coalitions = self._coalitions(orders[:, : self.size])
        return coalitions ^ ~coalitions[:, :1] if self.halved else coalitions

    def _coalitions(self, members: IntArray) -> BoolArray:
        coalitions = np.zeros((len(members), self.players), dtype=bool)
        np.put_along_axis(coalitions, members, True, axis=1)
        return coalitions


class Distinct(Stratum):
    """The pairs of a stratum in random order, none twice."""

    def __init__(
        self, players: int, size: int, rng: np.random.Generator, *, paired: bool = True
    ) -> None:
        super().__init__(players, size, paired=paired)
        self.rng, self.drawn = rng, 0
        self._listed = rng.permutation(self.every()) if self.pairs <= LISTED else None
        self._seen: set[bytes] = set()

    def next(self, count: int) -> BoolArray:
        """So many more pairs, at most as many as are left."""
        start, self.drawn = self.drawn, self.drawn + count
        if self._listed is not None:
            return self._listed[start : self.drawn]
        found: list[BoolArray] = [np.empty((0, self.players), dtype=bool)]
        while count:
            drawn = self.draw(count, self.rng)
            fresh = unseen(drawn, self._seen)
            self._seen.update(fresh)
            found.append(drawn[list(fresh.values())])
            count -= len(fresh)
        return np.concatenate(found)


@dataclass(frozen=True)
class Strata:
    """What a criterion makes of the sizes 0 … n/2: the weight of each in its regression.

    ``reach`` is how far a residual of 1 moves the values. Single players, and all but one, come
    before all others, or else early.
    """

    masses: FloatArray
    reach: FloatArray
    singles_first: bool

    @classmethod
    def shapley(cls, players: int) -> Strata:
        """Sizes 1 … n-1, weighing 1/(s (n-s)) each."""
        size = np.arange(1, players // 2 + 1)
        spread = size * (players - size)
        masses = np.where(2 * size == players, 0.5, 1.0) / spread
        reach = np.append(1.0, np.sqrt(spread))
        return cls(np.append(0.0, masses), reach, singles_first=True)

    @classmethod
    def banzhaf(cls, players: int) -> Strata:
        """All coalitions alike, but for sizes that hardly occur."""
        size = np.arange(players // 2 + 1)
        logs = log_binomials(players)[: len(size)]
        logs += np.where(2 * size == players, 0.0, np.log(2)) - players * np.log(2)
        masses = np.where(logs > np.log(RARE), np.exp(logs), 0.0)
        return cls(masses, np.ones(len(size)), singles_first=False)


class Design:
    """A sequence of pairs whose every beginning is spread over the strata by their shares.

    A stratum that is used up leaves the rest to the others. Each of several criteria has its own
    ``masses`` (criteria, strata); what they need is averaged.
    """

    def __init__(
        self, players: int, criteria: list[Strata], seed: int, *, together: bool = False
    ) -> None:
        masses = np.stack([each.masses for each in criteria])
        self.players, self.sizes = players, np.flatnonzero(masses.any(axis=0))
        *rngs, self.sides = np.random.default_rng(seed).spawn(len(self.sizes) + 1)
        sizes = zip(self.sizes.tolist(), rngs, strict=True)
        self.strata = [Distinct(players, size, rng) for size, rng in sizes]
        self.pairs = np.array([each.pairs for each in self.strata])
        self.masses = np.stack([each / each.sum() for each in masses[:, self.sizes]])
        self.reach = np.stack([each.reach[self.sizes] for each in criteria])
        first = any(each.singles_first for each in criteria)
        early = not all(each.singles_first for each in criteria)
        self.first = (self.sizes == 1) & first
        self.early = np.where((self.sizes <= 1) & early, self.pairs, 0.0)
        # How many pairs have their complements later; a prior is fitted to all of these, or to none.
        apart = ceil(APART * players)
        self.apart = 0 if together or first or 2 + 2 * apart > FITTED else apart

    def shares(self, left: FloatArray | None, total: int) -> FloatArray:
        """How so many pairs are spread, given mean square residuals (criteria, strata)."""
        plain = self.masses * self.reach**2
        if self.apart and total <= PLAIN * self.players:
            return np.asarray(np.mean(plain, axis=0))
        even = 1 / len(self.sizes)
        plain = (1 - EVENLY) * plain / plain.sum(axis=1, keepdims=True) + EVENLY * even
        if left is not None:
            need = self.masses * self.reach * np.sqrt(left)
            whole = need.sum(axis=1, keepdims=True)
            plain = np.where(whole > 0, (plain + need / np.where(whole > 0, whole, 1.0)) / 2, plain)
        least = self.early * min(1 / total, ALONE / max(self.early.sum(), 1.0))
        return np.asarray(np.maximum(np.mean(plain, axis=0), least))

    def next(self, count: int, shares: FloatArray) -> tuple[BoolArray, IntArray]:
        """The next pairs, fewer at the very end: one coalition of each, and its stratum."""
        return in_turn(self.strata, count, np.where(self.first, inf, shares))

    def log_density(self, strata: IntArray) -> FloatArray:
        """log of the chance that a draw of such pairs is a given coalition of size 0 … n.

        ``strata`` are those of the pairs drawn; a pair holds two coalitions.
        """
        drawn = np.bincount(strata, minlength=len(self.strata)) / max(len(strata), 1)
        with np.errstate(divide="ignore"):  # sizes that are never drawn
            each = np.log(drawn / 2 / self.pairs)
        logs = np.full(self.players + 1, -np.inf)
        logs[self.sizes] = logs[self.players - self.sizes] = each
        return logs


def in_turn(
    strata: Sequence[Distinct], count: int, shares: FloatArray
) -> tuple[BoolArray, IntArray]:
    """The next coalitions of strata with these shares, and the stratum of each.

    The j-th of a stratum with share σ has its turn at time (j + ½)/σ.
    """
    times: list[FloatArray] = []
    numbers: list[IntArray] = []
    for number, (stratum, share) in enumerate(zip(strata, shares, strict=True)):
        more = int(min(count, stratum.pairs - stratum.drawn))
        times.append((stratum.drawn + np.arange(more) + 0.5) / share)
        numbers.append(np.full(more, number))
    chosen = np.concatenate(numbers)[np.argsort(np.concatenate(times), kind="stable")[:count]]
    found = np.empty((len(chosen), strata[0].players), dtype=bool)
    for number, stratum in enumerate(strata):
        turn = chosen == number
        found[turn] = stratum.next(int(turn.sum()))
    return found, chosen


# The strata of the pairs from which a criterion is read.
STRATA = {"shapley": Strata.shapley, "banzhaf": Strata.banzhaf}


class Pairs(Received):
    """Pairs that were asked for and their worths: one design for one criterion or for both."""

    def __init__(
        self, players: int, criteria: list[str], seed: int, *, noisy: bool, together: bool = False
    ) -> None:
        super().__init__()
        self.players, self.criteria, self.seed, self.noisy = players, criteria, seed, noisy
        strata = [STRATA[name](players) for name in criteria]
        self.design = Design(players, strata, seed, together=together)
        self._pairs = np.empty((0, players), dtype=bool)
        self._strata: IntArray = np.empty(0, dtype=np.int64)
        self._apart = 0

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then pairs, each time half as many as there are."""
        known = len(self._pairs)
        apart = 0 if known else self.design.apart
        more = apart or max(self.players + 2, 48, known // 2)
        pairs, strata = self.design.next(more, self._shares(known + more))
        if apart:
            # Strata hold the smaller coalition of each pair.
            pairs = pairs ^ (self.design.sides.random((len(pairs), 1)) < 0.5)
            self._apart = len(pairs)
        self._pairs = np.concatenate([self._pairs, pairs])
        self._strata = np.concatenate([self._strata, strata])
        return self._coalitions()[2 * known + 2 * (known > 0) :][:most]

    def _places(self) -> IntArray:
        """Where both coalitions of every pair stand among those asked for, (pairs, 2)."""
        pair, apart = np.arange(len(self._pairs))[:, None], self._apart
        side = np.arange(2)
        return np.asarray(2 + np.where(pair < apart, pair + apart * side, 2 * pair + side))

    def _coalitions(self) -> BoolArray:
        """All that were asked for, the ends first."""
        found = np.empty((2 + 2 * len(self._pairs), self.players), dtype=bool)
        found[:2] = ends(self.players)
        first, second = self._places().T
        found[first], found[second] = self._pairs, ~self._pairs
        return found

    def _shares(self, total: int) -> FloatArray:
        """How so many pairs are spread over the strata, by what the regressions leave."""
        if not self._worths:
            return self.design.shares(None, total)
        left = []
        for name in self.criteria:
            sample = self.sample(name)
            apart = least_squares(sample, name == "shapley").residuals(sample.odd)
            scale = np.mean(apart**2, axis=1, keepdims=True)
            squares = np.mean(apart**2 / np.where(scale > 0, scale, 1.0), axis=0)
            strata, count = self._strata[: len(squares)], len(self.design.strata)
            sums = np.bincount(strata, weights=squares, minlength=count)
            drawn = np.bincount(strata, minlength=count)
            # Of strata that nothing is known of as much is left as of the others.
            left.append(np.where(drawn > 0, sums / np.maximum(drawn, 1), squares.mean()))
        return self.design.shares(np.stack(left), total)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of the worths."""
        return self._worths[0].shape[:-1]

    def worths(self) -> FloatArray:
        """All worths, (games, 2 + coalitions of the pairs)."""
        worths = super().worths()
        return worths.reshape(-1, worths.shape[-1])

    def noise(self) -> FloatArray | None:
        """The variances of these worths, where they are noisy."""
        noise = super().noise()
        return None if noise is None else noise.reshape(-1, noise.shape[-1])

    def received(self) -> tuple[BoolArray, FloatArray]:
        """The coalitions whose worths were received, the ends first, and the log of their law."""
        count = self.worths().shape[1]
        begun = self._places()[:, 0] < count
        return self._coalitions()[:count], self.design.log_density(self._strata[begun])

    def places(self) -> IntArray:
        """Where both worths of every whole pair stand among all, (pairs, 2)."""
        places = self._places()
        return np.asarray(places[places[:, 1] < self.worths().shape[1]])

    def sample(self, criterion: str) -> Sample:
        """The whole pairs that were received, with the weights of a criterion."""
        places = self.places()
        count, both = len(places), self.worths()[:, places].swapaxes(1, 2)
        pairs, strata = self._pairs[:count], self._strata[:count]
        drawn = np.maximum(np.bincount(strata, minlength=len(self.design.strata)), 1)
        masses = self.design.masses[self.criteria.index(criterion)]
        weights = (masses / drawn)[strata]
        return Sample(
            coalitions=pairs,
            odd=(both[:, 0] - both[:, 1]) / 2,
            both=both,
            places=places,
            weights=weights / weights.sum(),
            # What is noisy is never certain, however much of it is drawn.
            fraction=(drawn / self.design.pairs * (not self.noisy))[strata],
        )


def pairs_for(problem: Problem, criteria: list[str], *, together: bool = False) -> Pairs:
    """The pairs from which these criteria are read, each one's coalitions ``together`` if need be."""
    game, seed = problem.game, problem.options.seed
    return Pairs(len(game.players), criteria, seed, noisy=game.traits.noisy, together=together)
