"""Shapley's and Banzhaf's values by regression on pairs of complementary coalitions.

Banzhaf's value is the ordinary least-squares slope of F on (z - ½) over all coalitions,
Shapley's the slope weighted by 1/(s (n-s)) per size, moved evenly so that the values sum to
F(N) - F(∅) (boundary correction). What a surrogate explains is taken out before and its
values are added after. Stratum by stratum a residual is that of the surrogate itself as far
as the stratum has been drawn, and that of a surrogate fitted without the pair for the rest, so
the answer is unbiased up to O(1/p), and exact once all pairs are drawn.

The surrogate and the correction with the smallest estimated variance give the answer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.corrections import Answer, known_moments, least_squares, smallest
from fairfield.estimation.draws import STEPPED
from fairfield.estimation.loop import Estimate
from fairfield.estimation.over_rows import read_linearly
from fairfield.estimation.pace import Pace
from fairfield.estimation.pairs import STRATA, Pairs, pairs_for
from fairfield.estimation.prior.posterior import Posterior, posterior
from fairfield.estimation.samplers.registry import sampler
from fairfield.estimation.surrogates.prior import prior_answer, prior_fit, prior_weights
from fairfield.estimation.surrogates.recovered import EXACT, recovered
from fairfield.estimation.surrogates.registry import MOST_GAMES, Surrogate, surrogates
from fairfield.estimation.surrogates.sample import Diagonal, Sample, no_surrogate
from fairfield.evaluation.threads import one_blas_thread
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

# A regression needs so many pairs more than players to show its error.
FREE = 2
# And so many times as many to be preferred to what a prior says, unless it leaves nothing.
ENOUGH = 1.5
# Error bars from fewer pairs per player are unreliable.
RELIABLE = 3
# The steps of an estimate that look for few interactions, and fit a prior over games.
RECOVERED, PRIOR = "recovered", "prior"
# How a criterion averages ∇f on the diagonal.
DIAGONALS = {"shapley": Diagonal.shapley, "banzhaf": Diagonal.banzhaf}


class Paired:
    """Estimates Shapley or Banzhaf values from pairs, helped by the best surrogate or by none."""

    def __init__(self, criterion: str, pairs: Pairs, *, helped: bool = True) -> None:
        self.criterion, self.pairs, self.helped = criterion, pairs, helped
        self.players = pairs.players
        # Both ends, and as many pairs as there are players; a regression needs some more.
        self.least = 2 * self.players + 2 + (0 if helped else 2 * FREE)
        self.efficient = criterion == "shapley"
        self._pace = Pace(
            {each.name: each.seconds for each in surrogates()} | {RECOVERED: 0.1, PRIOR: 0.1}
        )

    @cached_property
    def diagonal(self) -> Diagonal:
        """The points at which surrogates are read: those of thousands of players take a while."""
        return DIAGONALS[self.criterion](self.players)

    @property
    def shares(self) -> FloatArray:
        """The weight of all coalitions of each size together."""
        return self.diagonal.shares

    def on(self, pairs: Pairs) -> Paired:
        """The same estimator, reading pairs that it shares with another criterion."""
        return Paired(self.criterion, pairs, helped=self.helped)

    def ask(self, most: int) -> BoolArray:
        """The next pairs of the design."""
        return self.pairs.ask(most)

    def provenance(self) -> dict[str, Any]:
        """Which pairs, and the seed they come from."""
        return {
            "sampler": f"pairs for {' and '.join(self.pairs.criteria)}",
            "seed": self.pairs.seed,
            "pairs": len(self.pairs._pairs),
        }

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths with the pairs."""
        self.pairs.tell(coalitions, worths, variances)

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace the worths of all pairs."""
        self.pairs.revise(worths, variances)

    def estimate(self, until: float = inf) -> Estimate:
        """Values by the surrogate and the correction with the smallest variance, game by game.

        Surrogates that would not be fitted by ``until`` are left out.
        """
        known = self.pairs.worths()[:, :2]
        sample = self.pairs.sample(self.criterion)
        regression = least_squares(sample, self.efficient)
        plain = no_surrogate(sample)
        fits = [plain]
        answers: list[Answer] = []
        count = len(sample.coalitions)
        if count >= self.players + FREE:
            answers = [regression.of(plain, known)]
        linear, enough = answers, count >= ENOUGH * self.players
        if enough:
            answers.append(known_moments(sample, self.efficient).of(plain, known))
        elif self.helped and not _solved(sample, answers):
            answers = []
        # One thread: the same bits on every machine, and nobody in the way of others.
        with one_blas_thread():
            late = bool(answers) and not self._pace.fits(PRIOR, count, until)
            exact = None if _solved(sample, answers) else self._recovered(count, until)
            if exact is not None and np.isfinite(exact.spread).all():
                # How test rows weigh is asked of what is linear in the worths.
                weighed = replace(
                    exact, weights=lambda: prior_weights(*self._prior(), self.efficient)
                )
                return self._estimate(exact, linear or [weighed], (), (EXACT,))
            answers += [] if exact is None else [exact]
            if self.helped and not late and not _solved(sample, answers):
                with self._pace.timed(PRIOR, count):
                    left, _ = self._prior()
                gain = known[:, 1] - known[:, 0] if self.efficient else None
                if not (enough and _is_stepped(sample.both)):
                    answers.append(prior_answer(left, self.diagonal, gain))
                if enough:
                    fits.append(prior_fit(left, self.diagonal, sample))
                    answers.append(regression.of(fits[-1], known))
            for surrogate in self._surrogates(sample, answers):
                if not self._pace.fits(surrogate.name, len(sample.coalitions), until):
                    continue
                weights = sample.weights**2 * (1 - sample.fraction)
                rival = min(fits, key=lambda fit: float(np.sum(weights * fit.outside**2)))
                with self._pace.timed(surrogate.name, len(sample.coalitions)):
                    fit = surrogate.fit(sample, self.diagonal, self.pairs.seed, rival.outside)
                if fit is not None:
                    fits.append(fit)
                    # Intervals from known moments would be too narrow here (measured: .92 – .95).
                    answers.append(regression.of(fit, known))
        return self._estimate(smallest(answers), answers, self._warnings())

    def _prior(self) -> tuple[Posterior, Diagonal]:
        """What the worths leave of a prior over games, and how it is read."""
        rows, _ = self.pairs.received()
        return posterior(rows, self.pairs.worths(), self.pairs.noise()), self.diagonal

    def _recovered(self, pairs: int, until: float) -> Answer | None:
        """What follows for games of few interactions, where worths are not noisy."""
        rows, _ = self.pairs.received()
        worths = self.pairs.worths()
        apt = self.helped and len(worths) <= MOST_GAMES and self.pairs.noise() is None
        if not apt or not self._pace.fits(RECOVERED, pairs, until):
            return None
        with self._pace.timed(RECOVERED, pairs):
            return recovered(rows, worths, self.diagonal, self.pairs.seed)

    def _estimate(
        self,
        best: Answer,
        answers: list[Answer],
        warnings: tuple[str, ...],
        remarks: tuple[str, ...] = (),
    ) -> Estimate:
        """The best of the answers as an estimate."""
        batch, worths, noise = self.pairs.batch, self.pairs.worths(), self.pairs.noise()
        covariance = best.covariance
        if self.efficient and noise is not None:
            # The error of F(N) - F(∅) is shared out evenly; that of pairs is in their residuals.
            covariance = covariance + noise[:, :2].sum(axis=1)[:, None, None] / self.players**2
        shape = (*batch, self.players)
        return Estimate(
            values=best.values.reshape(shape),
            covariance=covariance.reshape(*shape, self.players),
            method=best.method,
            warnings=warnings,
            remarks=remarks,
            more={
                "empty": as_number(worths[:, 0].reshape(batch)),
                "grand": as_number(worths[:, 1].reshape(batch)),
            },
            linear=read_linearly(self.pairs.received()[0], answers),
        )

    def _surrogates(self, sample: Sample, answers: list[Answer]) -> list[Surrogate]:
        """Those worth trying; none where an answer leaves only rounding."""
        enough = len(sample.coalitions) >= ENOUGH * self.players
        if not (self.helped and enough) or _solved(sample, answers):
            return []
        return [each for each in surrogates() if each.suits(sample)]

    def _warnings(self) -> tuple[str, ...]:
        known = self.pairs.worths().shape[1]
        # More than all of them there are not.
        least = min(2 * RELIABLE * self.players + 2, 2**self.players)
        if known >= least:
            return ()
        return (
            f"{known:,} coalitions are few for {self.players} players, and the error bars are not to be "
            f"trusted; {least:,} coalitions are the least for that",
        )


def _solved(sample: Sample, answers: list[Answer]) -> bool:
    """Whether the regression leaves only rounding."""
    size = np.mean(sample.odd**2, axis=1)
    return bool(answers) and bool((answers[0].spread <= 1e-20 * size).all())


def _is_stepped(worths: FloatArray) -> bool:
    """Whether the worths (games, …) of any game jump.

    A prior of games that do not is too sure of what it has not seen: of it only what is corrected by its own
    errors is used.
    """
    return any(len(np.unique(each)) <= STEPPED for each in worths)


@sampler("auto", *STRATA)
@sampler("surrogate", *STRATA)
def with_surrogate(problem: Problem, criterion: str, shares: FloatArray) -> Paired:
    """Regression after the best surrogate."""
    return Paired(criterion, pairs_for(problem, [criterion]))


@sampler("regression", *STRATA)
def regression(problem: Problem, criterion: str, shares: FloatArray) -> Paired:
    """Regression alone."""
    return Paired(criterion, pairs_for(problem, [criterion], together=True), helped=False)
