"""Coalitions of one size, or pairs of complements, drawn without replacement, and several such in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations
from math import comb, inf, lgamma

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.received import keys_of, unseen

# Strata of up to so many pairs are listed and shuffled, larger ones drawn from.
LISTED = 4096


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
        return self._first(coalitions)

    def _first(self, coalitions: BoolArray) -> BoolArray:
        """The one of each pair that stands for it."""
        return coalitions ^ ~coalitions[:, :1] if self.halved else coalitions

    def _coalitions(self, members: IntArray) -> BoolArray:
        coalitions = np.zeros((len(members), self.players), dtype=bool)
        np.put_along_axis(coalitions, members, True, axis=1)
        return coalitions


class Distinct(Stratum):
    """The pairs of a stratum in random order, none twice and none that was ``asked`` for before."""

    def __init__(
        self,
        players: int,
        size: int,
        rng: np.random.Generator,
        *,
        paired: bool = True,
        asked: BoolArray | None = None,
    ) -> None:
        super().__init__(players, size, paired=paired)
        own = [] if asked is None else keys_of(asked[asked.sum(axis=1) == size])
        self.rng, self._seen = rng, set(own)
        # What is to come, in order, with what was given back, and what was asked for or came in exchange,
        # which is passed over; None where there is too much of it.
        self._listed: deque[BoolArray] | None = None
        if self.pairs <= LISTED:
            self._listed = deque(rng.permutation(self.every()))

    @property
    def left(self) -> float:
        """How many pairs there are to be drawn."""
        return self.pairs - self.drawn

    @property
    def drawn(self) -> int:
        """How many pairs were drawn, or asked for before."""
        return len(self._seen)

    def next(self, count: int) -> BoolArray:
        """So many more pairs, at most as many as are left."""
        found: list[BoolArray] = [np.empty((0, self.players), dtype=bool)]
        count = int(min(count, self.left))
        while count:
            drawn = self._some(count)
            fresh = unseen(drawn, self._seen)
            self._seen.update(fresh)
            found.append(drawn[list(fresh.values())])
            count -= len(fresh)
        return np.concatenate(found)

    def exchange(self, drawn: BoolArray, other: BoolArray) -> bool:
        """Whether another may stand for one that was drawn, which is then given back."""
        was, now = keys_of(self._first(np.stack([drawn, other])))
        if was == now:
            return True
        if now in self._seen:
            return False
        self._seen ^= {was, now}
        if self._listed is not None:
            self._listed.append(drawn)
        return True

    def _some(self, count: int) -> BoolArray:
        """So many in order, of which some may have been seen."""
        if self._listed is None:
            return self.draw(count, self.rng)
        return np.array([self._listed.popleft() for _ in range(min(count, len(self._listed)))])


def turns(strata: Sequence[Distinct], count: int, shares: FloatArray) -> IntArray:
    """Which of the strata, with these shares, the next coalitions come from; one that is used up leaves the rest to the others.

    The j-th of a stratum with share σ has its turn at time (j + ½)/σ.
    """
    times: list[FloatArray] = []
    numbers: list[IntArray] = []
    for number, (stratum, share) in enumerate(zip(strata, shares, strict=True)):
        more = int(min(count, stratum.left))
        times.append((stratum.drawn + np.arange(more) + 0.5) / share)
        numbers.append(np.full(more, number))
    return np.concatenate(numbers)[np.argsort(np.concatenate(times), kind="stable")[:count]]


def in_turn(strata: Sequence[Distinct], chosen: IntArray) -> BoolArray:
    """The next coalitions of these strata, one after the other."""
    found = np.empty((len(chosen), strata[0].players), dtype=bool)
    for number, stratum in enumerate(strata):
        turn = chosen == number
        found[turn] = stratum.next(int(turn.sum()))
    return found
