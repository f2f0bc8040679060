"""Interactions from a budget of coalitions: of all that are asked for, or of those that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import inf

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.corrections import Answer
from fairfield.estimation.designs.design import Design, Plan
from fairfield.estimation.fitted import Fitted, Reading
from fairfield.estimation.fitter import Fitter
from fairfield.estimation.loop import Estimate
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.surrogates.few_interactions import exact
from fairfield.evaluation.threads import one_blas_thread
from fairfield.results.valuation import as_number

# This share of the coalitions of few players is spread evenly over the sizes that count, of n players
# all but the second number over n: surrogates learn most from coalitions of about half the players.
EVENLY, SMALL = 0.3, 20
# Error bars from fewer coalitions per player are unreliable.
RELIABLE = 5
# Of pairs of many players so many are looked at closely, and those kept that are so many standard
# errors from 0, one at least.
CLOSELY, APART = 2000, 2.0
# Larger coalitions are made of so many players in the strongest pairs.
STRONGEST = 20
# What is less than this part of the largest interaction is rounding.
ROUNDING = 1e-9
NONE_SHOWN = "these worths do not show that any interaction differs from 0; more of them may"


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


class Interactions(Design):
    """Estimates interactions of coalitions from the worths of others."""

    def __init__(self, question: Question, seed: int, *, noisy: bool) -> None:
        even = max(EVENLY, 1 - SMALL / question.players)
        plan = Plan(even, early=False, followed=False)
        super().__init__(question.players, list(question.along.values()), seed, plan)
        self.question, self.noisy = question, noisy
        self.least = least_of(self.players)
        self._fitter = Fitter(seed)

    def estimate(self, until: float = inf) -> Interacting:
        """The interactions, game by game; surrogates that would not be done by then are left out."""
        given, sampled = self.worths(), self.sampled(noisy=self.noisy)
        # One thread: the same bits on every machine.
        with one_blas_thread():
            fits = self._fitter.fits(sampled, until)
            sets = self._sets(fits)
            answers = [self._answer(each, sets) for each in fits]
        shape = (*given.shape[:-1], sum(map(len, sets.values())))
        held_back = min(each.surrogate.held_back for each in fits)
        certain = sampled.is_whole or held_back > 0
        values = np.concatenate([each.values for each in answers])
        remarks = ("exact" if sampled.is_whole else exact(held_back),) if certain else ()
        if not certain and not values.any():
            remarks = (NONE_SHOWN,)
        return Interacting(
            values=values.reshape(shape),
            covariance=np.concatenate([each.variances for each in answers]).reshape(shape),
            method="; ".join(dict.fromkeys(each.method for each in answers)),
            warnings=() if certain else self._warnings(len(sampled.rows)),
            remarks=remarks,
            exact=certain,
            more={"empty": as_number(given[..., 0])},
            sets=list(chain.from_iterable(map(tuple, each.tolist()) for each in sets.values())),
        )

    def _warnings(self, count: int) -> tuple[str, ...]:
        # More than all of them there are not.
        least = min(RELIABLE * self.players, 2**self.players)
        if count >= least:
            return ()
        return (
            f"{count:,} coalitions are few for {self.players} players, and the error bars are "
            f"not to be trusted; {least:,} are the least for that",
        )

    def _sets(self, fits: Sequence[Fitted]) -> dict[int, Sets]:
        """The coalitions asked for; of many players, those that matter in some game."""
        found: dict[int, Sets] = {}
        for size, given in self.question.sets.items():
            along = self.question.along[size]
            if given is None:
                own = [_that_matter(each, along) for each in fits]
                given = np.array(sorted(set(chain.from_iterable(own))), dtype=np.int64)
            found[size] = given.reshape(-1, size)
        return found

    def _answer(self, fit: Fitted, sets: Mapping[int, Sets]) -> Answer:
        """All sizes, one after the other."""
        answers = [_read(fit, self.question.along[size], each) for size, each in sets.items()]
        values = np.concatenate([each.values for each in answers], axis=1)
        variances = np.concatenate([each.variances for each in answers], axis=1)
        if self.question.adds_up and variances.any():
            # What is missing in the sum is shared by how uncertain each is.
            gain = fit.sampled.worths[:, 1] - fit.sampled.worths[:, 0]
            total = np.maximum(variances.sum(axis=1), np.finfo(float).tiny)
            values = values + ((gain - values.sum(axis=1)) / total)[:, None] * variances
        return Answer(values, variances, answers[-1].method)


def _read(fit: Fitted, along: Along, sets: Sets) -> Answer:
    """The interactions of some coalitions; those typical of all decide how they are found."""
    count = len(along.typical)
    found = fit.read(Reading(along, np.concatenate([along.typical, sets]), count))
    return replace(found, values=found.values[:, count:], errors=found.errors[:, count:])


def _that_matter(fit: Fitted, along: Along) -> list[tuple[int, ...]]:
    """The coalitions whose interactions differ from 0 for certain, the strongest at least."""
    every = _pairs(fit, replace(along, size=2))
    best = np.argsort(-np.abs(every), axis=None, kind="stable")[:CLOSELY]
    sets = np.stack(np.unravel_index(best, every.shape), axis=1)
    sets = sets[sets[:, 0] < sets[:, 1]]
    if along.size > 2:
        # Those of the surrogate, and others of the players in the strongest pairs.
        strongest = list(dict.fromkeys(sets.ravel().tolist()))[:STRONGEST]
        others = combinations(sorted(strongest), along.size)
        own = map(tuple, fit.surrogate.found(along.size).tolist())
        sets = np.array(sorted({*own, *others}), dtype=np.int64).reshape(-1, along.size)
    if not len(sets):
        return []
    answer = _read(fit, along, sets)
    size = np.abs(answer.values)
    apart = size > np.maximum(APART * np.sqrt(answer.variances), ROUNDING * size.max())
    apart[:, np.argmax(size.max(axis=0))] = True
    return [tuple(each) for each in sets[apart.any(axis=0)].tolist()]


def _pairs(fit: Fitted, along: Along) -> FloatArray:
    """The interactions of all pairs, as a matrix, without errors: the largest of some games."""
    n = along.players
    total = np.zeros((n, n))
    some = fit.surrogate.found(2)
    if len(some):
        total[tuple(some.T)] = fit.surrogate.read(along, some)
    if fit.rest is None:
        return np.triu(total, 1)
    # A surrogate whose pairs are too many to be listed has them in the worths.
    rest = fit.prior if fit.surrogate.parts and not len(some) else fit.rest
    every = [total + each for each in _pairs_of_rest(rest, along)]
    return np.triu(np.max(np.abs(every), axis=0), 1)


def _pairs_of_rest(rest: MeanGame, along: Along) -> list[FloatArray]:
    posed = rest.posterior
    table = along.sections(posed.kernels, posed.shares)
    return [
        scale * every_pair(posed.coalitions, alpha, table)
        for scale, alpha in zip(posed.scale, posed.alpha, strict=True)
    ]


def every_pair(rows: BoolArray, weights: FloatArray, table: FloatArray) -> FloatArray:
    """Σ_j weight_j table[|S_j ∩ A|, |S_j|] of all pairs A, as a matrix (n, n)."""
    none, one, both = table[:, rows.sum(axis=1)] * weights
    inside = rows.astype(float)
    alone = (one - none) @ inside
    together = (inside * (both - 2 * one + none)[:, None]).T @ inside
    return np.asarray(none.sum() + alone[:, None] + alone + together)
