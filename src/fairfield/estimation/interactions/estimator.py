"""Interactions from a budget of coalitions.

A game of few interactions is found exactly, where there is one. Else three surrogates are tried:
nothing, a polynomial in few interactions, boosted trees; the prior over games is given what each of
them leaves, and the one from which unseen worths are predicted best is read. Where interactions are
known better without the prior, what is left is corrected size by size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.interactions.answers import (
    SMALLEST,
    Answer,
    Left,
    Sampled,
    corrected,
    every_pair,
)
from fairfield.estimation.interactions.design import Design
from fairfield.estimation.interactions.sections import Along, Sets
from fairfield.estimation.interactions.surrogates import (
    Surrogate,
    boosted_trees,
    few_interactions,
    nothing,
)
from fairfield.estimation.loop import Estimate
from fairfield.estimation.pace import Pace
from fairfield.estimation.surrogates.trees import trees_are_installed
from fairfield.evaluation.threads import one_blas_thread
from fairfield.results.valuation import as_number

# Trees are grown from so many coalitions on.
FEWEST = 50
# A surrogate is used where squares of errors of prediction are less by this factor.
CLEARLY = 0.5
# Error bars from fewer coalitions per player are unreliable.
RELIABLE = 5
# Of pairs of many players so many are looked at closely, and those kept that are so many standard
# errors from 0, one at least.
CLOSELY, APART = 2000, 2.0
# Larger coalitions are made of so many players in the strongest pairs.
STRONGEST = 20
# What is less than this part of the largest interaction is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Interacting(Estimate):
    """Interactions (*batch, sets) of coalitions; ``covariance`` holds their variances alone."""

    sets: Sequence[tuple[int, ...]] = ()
    exact: bool = False

    @property
    def stderr(self) -> FloatArray:
        """The standard errors of the interactions, (*batch, sets)."""
        return np.sqrt(self.covariance)


@dataclass(frozen=True)
class Question:
    """Which interactions of n players are asked for.

    ``along`` says by size where ∂_A f is read, ``sets`` which coalitions of each size; None of pairs
    (and triples) means those that matter. ``adds_up`` where all of them sum to F(N) - F(∅).
    """

    players: int
    along: Mapping[int, Along]
    sets: Mapping[int, Sets | None]
    adds_up: bool = False


def least_of(players: int) -> int:
    """The fewest coalitions from which interactions of so many players can be estimated."""
    return int(min(players + 2, 2**players))


@dataclass(frozen=True)
class _Found:
    """What one game's worths say: a surrogate, and what the prior makes of the rest."""

    sampled: Sampled
    surrogate: Surrogate
    left: Left | None = None

    def read(self, along: Along, sets: Sets) -> Answer:
        """The interactions of some coalitions; those typical of all decide how they are found."""
        name, typical = self.surrogate.name, len(along.typical)
        if self.left is None:
            return Answer(self.surrogate.read(along, sets), np.zeros(len(sets)), name)
        sets = np.concatenate([along.typical, sets])
        plain = self.left.read(along, sets)
        inside, outside = self.left.left(self.surrogate.outside)
        # The surrogate itself, not its parts, is what worths of a size known whole are compared to.
        inside = inside - self.surrogate.outside + self.surrogate.inside
        more = corrected(self.sampled, inside, outside, along, sets)
        values = self.surrogate.read(along, sets) + plain.values
        variances, method = plain.variances, plain.method
        if more is not None and more.variances[:typical].sum() < variances[:typical].sum():
            values, variances = values + more.values, more.variances
            method = f"{method}, {more.method}"
            # What has no bias is farther from 0 than it should be (James, Stein, 1961).
            size = max(float(np.sum(values[:typical] ** 2)), SMALLEST)
            values = values * max(0.0, 1 - variances[:typical].sum() / size)
        method = f"{method} after a surrogate, {name}" if name else method
        return Answer(values[typical:], variances[typical:], method)

    def pairs(self, along: Along) -> FloatArray:
        """The interactions of all pairs, as a matrix, without errors."""
        n = along.players
        total = np.zeros((n, n))
        some = self.surrogate.found(2)
        if len(some):
            total[tuple(some.T)] = self.surrogate.read(along, some)
        if self.left is not None:
            posed = self.left.posterior
            table = along.sections(posed.kernels, posed.shares)
            total += posed.scale[0] * every_pair(posed.coalitions, posed.alpha[0], table)
        return np.triu(total, 1)


@dataclass
class Interactions:
    """Estimates interactions of coalitions from the worths of others."""

    question: Question
    seed: int
    least: int = field(init=False)

    def __post_init__(self) -> None:
        players = self.question.players
        self.design = Design(players, list(self.question.along.values()), self.seed)
        self.least = least_of(players)
        self._pace = Pace({"few": 0.1, "prior": 0.1, "trees": 1.0})

    def ask(self, most: int) -> BoolArray:
        """The next coalitions of the design."""
        return self.design.ask(most)

    def provenance(self) -> dict[str, Any]:
        """How many coalitions so far, and the seed they come from."""
        sampler = "pairs by size" if self.design.paired else "by size"
        return {"sampler": sampler, "seed": self.seed, "coalitions": len(self.design._asked)}

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths with the coalitions."""
        self.design.tell(coalitions, worths, variances)

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace the worths."""
        self.design.revise(worths, variances)

    def estimate(self, until: float = inf) -> Interacting:
        """The interactions, game by game; surrogates that would not be done by then are left out."""
        given, noise = self.design.worths(), self.design.noise()
        batch, worths = given.shape[:-1], given.reshape(-1, given.shape[-1])
        errors = None if noise is None else noise.reshape(worths.shape)
        rows, (drawn, every) = self.design.received(), self.design.drawn()
        reach = np.mean([each.reach for each in self.question.along.values()], axis=0)
        games = []
        # One thread: the same bits on every machine.
        with one_blas_thread():
            for k, each in enumerate(worths):
                own = None if errors is None else errors[k]
                sampled = Sampled(rows, each, own, self.design.paired, drawn, every, reach)
                games.append(self._found(sampled, until))
            sets = self._sets(games)
            answers = [self._answer(each, sets) for each in games]
        shape = (*batch, sum(map(len, sets.values())))
        exact = all(each.left is None or self._whole(each.sampled) for each in games)
        few = len(rows) < min(RELIABLE * self.question.players, 2**self.question.players)
        return Interacting(
            values=np.stack([each.values for each in answers]).reshape(shape),
            covariance=np.stack([each.variances for each in answers]).reshape(shape),
            method="; ".join(dict.fromkeys(each.method for each in answers)),
            warnings=self._few(len(rows)) if few and not exact else (),
            remarks=("exact",) if exact else (),
            exact=exact,
            more={"empty": as_number(given[..., 0])},
            sets=list(chain.from_iterable(map(tuple, each.tolist()) for each in sets.values())),
        )

    def _few(self, count: int) -> tuple[str, ...]:
        return (
            f"{count:,} coalitions are few for {self.question.players} players, and the error bars are "
            f"not to be trusted; {RELIABLE * self.question.players:,} are the least for that",
        )

    def _found(self, sampled: Sampled, until: float) -> _Found:
        """The surrogate from which, with the prior, unseen worths are predicted best."""
        count, alone = len(sampled.rows), sampled.worths
        if self._whole(sampled):
            return _Found(sampled, nothing(alone), Left.of(sampled, alone))
        tried: list[Surrogate] = []
        seed = self.seed % 2**32
        if sampled.noise is None and self._pace.fits("few", count, until):
            with self._pace.timed("few", count):
                found = few_interactions(sampled.rows, alone, sampled.groups, seed, inf)
            if found is not None and found.exact:
                return _Found(sampled, found)
            tried += [found] if found is not None else []
        with self._pace.timed("prior", count):
            best, surrogate = Left.of(sampled, alone), nothing(alone)
        if count >= FEWEST and trees_are_installed() and self._pace.fits("trees", count, until):
            with self._pace.timed("trees", count):
                found = boosted_trees(
                    sampled.rows, alone, sampled.groups, seed, float(np.mean(best.outside**2))
                )
            tried += [found] if found is not None else []
        for each in tried:
            hopeless = np.mean(each.outside**2) > 2 * np.mean(best.outside**2)
            if hopeless or not self._pace.fits("prior", count, until):
                continue
            left = Left.of(sampled, each.outside)
            if left.error < CLEARLY * best.error:
                best, surrogate = left, each
        return _Found(sampled, surrogate, best)

    def _whole(self, sampled: Sampled) -> bool:
        """Whether all worths that the interactions are made of are known."""
        whole = (sampled.drawn == sampled.every) & (sampled.noise is None)
        needed = [np.abs(each.own).max(axis=0) > 0 for each in self.question.along.values()]
        return bool(whole[np.any(needed, axis=0)].all())

    def _sets(self, games: Sequence[_Found]) -> dict[int, Sets]:
        """The coalitions asked for; of many players, those that matter in some game."""
        found: dict[int, Sets] = {}
        for size, given in self.question.sets.items():
            along = self.question.along[size]
            if given is None:
                own = [_that_matter(each, along) for each in games]
                given = np.array(sorted(set(chain.from_iterable(own))), dtype=np.int64)
            found[size] = given.reshape(-1, size)
        return found

    def _answer(self, found: _Found, sets: Mapping[int, Sets]) -> Answer:
        """All sizes, one after the other."""
        answers = []
        for size, each in sets.items():
            answers.append(found.read(self.question.along[size], each))
        values = np.concatenate([each.values for each in answers])
        variances = np.concatenate([each.variances for each in answers])
        if self.question.adds_up and variances.any():
            # What is missing in the sum is shared by how uncertain each is.
            gain = found.sampled.worths[1] - found.sampled.worths[0]
            values = values + (gain - values.sum()) * variances / variances.sum()
        return Answer(values, variances, answers[-1].method)


def _that_matter(found: _Found, along: Along) -> list[tuple[int, ...]]:
    """The coalitions whose interactions differ from 0 for certain, the strongest at least."""
    every = found.pairs(replace(along, size=2))
    best = np.argsort(-np.abs(every), axis=None, kind="stable")[:CLOSELY]
    sets = np.stack(np.unravel_index(best, every.shape), axis=1)
    sets = sets[sets[:, 0] < sets[:, 1]]
    if along.size > 2:
        # Those of the surrogate, and others of the players in the strongest pairs.
        strongest = list(dict.fromkeys(sets.ravel().tolist()))[:STRONGEST]
        others = combinations(sorted(strongest), along.size)
        own = map(tuple, found.surrogate.found(along.size).tolist())
        sets = np.array(sorted({*own, *others}), dtype=np.int64).reshape(-1, along.size)
    if not len(sets):
        return []
    answer = found.read(along, sets)
    size = np.abs(answer.values)
    apart = size > np.maximum(APART * np.sqrt(answer.variances), ROUNDING * size.max())
    apart[np.argmax(size)] = True
    return [tuple(each) for each in sets[apart].tolist()]
