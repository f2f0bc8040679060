"""Shapley's, Banzhaf's and all semivalues from a budget of coalitions drawn by size.

Banzhaf's value is the least-squares slope of F on (z - ½) over all coalitions, Shapley's the slope
weighted by 1/(s (n-s)) per size, moved evenly so that the values sum to F(N) - F(∅) (boundary correction):
these two have a regression to correct a surrogate by, or to do without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.along import Along
from fairfield.estimation.answers import adding_up, estimate_of
from fairfield.estimation.corrections import (
    Answer,
    banzhaf_masses,
    is_stepped,
    shapley_masses,
)
from fairfield.estimation.designs.design import APART, Design, Plan, Sampled
from fairfield.estimation.fitted import FREE, Reading, alone
from fairfield.estimation.fitter import Fitter, share_of_odd
from fairfield.estimation.loop import Estimate, Estimator
from fairfield.estimation.prior.posterior import FITTED
from fairfield.estimation.samplers.permutation import Permutations
from fairfield.estimation.samplers.registry import sampler
from fairfield.evaluation.threads import one_blas_thread
from fairfield.problem import Problem

# Error bars from so few different worths are unreliable.
FEW_WORTHS = 4
REGRESSED = ("shapley", "banzhaf")


@dataclass(frozen=True)
class Kind:
    """A semivalue of n players, by its shares of sizes."""

    name: str
    shares: FloatArray

    @cached_property
    def along(self) -> Along:
        """Where it is read: the points of thousands of players take a while."""
        if self.name in REGRESSED:
            return getattr(Along, self.name)(len(self.shares))  # type: ignore[no-any-return]  # by name
        found = Along.semivalue(self.shares)
        assert found is not None  # others are estimated from random orders
        return found

    @cached_property
    def reading(self) -> Reading:
        """How the values of all players are read from what is fitted."""
        count = len(self.shares)
        masses = {"shapley": shapley_masses, "banzhaf": banzhaf_masses}.get(self.name)
        return Reading(
            self.along,
            np.arange(count)[:, None],
            count,
            None if masses is None else masses(count),
            self.name == "shapley",
            whole=True,
        )


def design_of(problem: Problem, kinds: list[Kind], *, together: bool = False) -> Design:
    """The coalitions from which some values are read; complements ``together`` from the first on.

    For Shapley's values all single players come first, and all but one; for Banzhaf's, which hardly read
    these, the complements of the first coalitions come later, and more of them where they pay.
    """
    names = [each.name for each in kinds]
    count = len(problem.game.players)
    # The prior is fitted to both coalitions of these pairs, or they are not drawn apart.
    middle = {*names} == {"banzhaf"}
    apart = middle and not together and 2 + 2 * APART * count <= FITTED
    plan = Plan(first="shapley" in names, odd=share_of_odd if apart else None)
    return Design(count, [each.along for each in kinds], problem.options.seed, plan)


class Values:
    """Estimates a semivalue, with surrogates or by regression alone."""

    def __init__(
        self, problem: Problem, kind: Kind, design: Design | None = None, *, helped: bool = True
    ) -> None:
        self.problem, self.kind, self.helped = problem, kind, helped
        self.design = design or design_of(problem, [kind], together=not helped)
        self.players, self.shares = len(kind.shares), kind.shares
        # Both ends, and as many pairs as there are players; a regression needs some more.
        self.least = 2 * self.players + 2 + (0 if helped else 2 * FREE)
        self._fitter = Fitter(problem.options.seed)

    def on(self, design: Design) -> Values:
        """The same estimator, reading coalitions that it shares with another criterion."""
        return Values(self.problem, self.kind, design, helped=self.helped)

    def ask(self, most: int) -> BoolArray:
        """The next coalitions of the design."""
        return self.design.ask(most)

    def provenance(self) -> dict[str, Any]:
        """How many coalitions so far, and the seed they come from."""
        return self.design.provenance()

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths with the coalitions."""
        self.design.tell(coalitions, worths, variances)

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace the worths."""
        self.design.revise(worths, variances)

    def estimate(self, until: float = inf) -> Estimate:
        """The values by the surrogate and the correction with the smallest errors, game by game."""
        sampled = self.design.sampled(noisy=self.problem.game.traits.noisy)
        # One thread: the same bits on every machine, and nobody in the way of others.
        with one_blas_thread():
            answers, held_back = self._answers(sampled, until)
            return estimate_of(
                sampled,
                answers,
                self.problem.game.batch,
                held_back,
                2**self.players,
                self._remarks(sampled),
            )

    def _answers(self, sampled: Sampled, until: float) -> tuple[list[list[Answer]], int]:
        """The answers for the games, fit by fit, and how many worths vouch for each, if all are recovered."""
        if not self.helped or self._fitter.is_late(sampled, until):
            found = alone(sampled, self.kind.reading, few=not self.helped)
            if found:
                return [self._shared(found, sampled)], 0
        fits = self._fitter.fits(sampled, until)
        answers = [self._shared(fit.answers(self.kind.reading), fit.sampled) for fit in fits]
        return answers, min(fit.surrogate.held_back for fit in fits)

    def _shared(self, answers: list[Answer], sampled: Sampled) -> list[Answer]:
        """With what all players gain shared out, where values add up to it."""
        return [adding_up(each, sampled) if self.kind.reading.adds_up else each for each in answers]

    def _remarks(self, sampled: Sampled) -> tuple[str, ...]:
        """On worths that hardly differ; no warning, which a tolerance would wait out in vain."""
        corrected = self.kind.reading.masses is not None
        if corrected or sampled.is_whole or not is_stepped(sampled.worths, FEW_WORTHS).any():
            return ()
        return (
            "the worths take a few values only, as those of votes do, and the error bars are not to "
            "be trusted",
        )


@sampler("auto", "semivalue", *REGRESSED)
@sampler("surrogate", *REGRESSED)
def fitted(problem: Problem, criterion: str, shares: FloatArray) -> Estimator:
    """What surrogates say; random orders where no points of the diagonal stand for the weights."""
    if criterion not in REGRESSED and (len(shares) < 2 or Along.semivalue(shares) is None):
        return Permutations(problem, criterion, shares)
    return Values(problem, Kind(criterion, shares))


@sampler("regression", *REGRESSED)
def regression(problem: Problem, criterion: str, shares: FloatArray) -> Values:
    """Regression alone."""
    return Values(problem, Kind(criterion, shares), helped=False)
