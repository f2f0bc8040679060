"""Shapley's and Banzhaf's values by regression on pairs of complementary coalitions.

Banzhaf's value is the ordinary least-squares slope of F on (z - ½) over all coalitions,
Shapley's the slope weighted by 1/(s (n-s)) per size, moved evenly so that the values sum to
F(N) - F(∅) (boundary correction). What a surrogate explains is taken out before and its
values are added after. Stratum by stratum a residual is that of the surrogate itself as far
as the stratum is known, and that of a surrogate fitted without the pair for the rest, so the
answer is unbiased up to O(1/p), and exact once all pairs are drawn.

What is tried is told by its own error bars: the surrogate and the correction with the smallest
estimated variance give the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, TypeAlias

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.corrections import known_moments, least_squares
from fairfield.estimation.loop import Estimate
from fairfield.estimation.pace import Pace
from fairfield.estimation.pairs import Design
from fairfield.estimation.surrogates.kernels import kernel_surrogate
from fairfield.estimation.surrogates.sample import Fit, Law, Sample, no_surrogate
from fairfield.estimation.surrogates.trees import tree_surrogate, trees_are_installed
from fairfield.estimation.surrogates.triples import triple_surrogate
from fairfield.evaluation.threads import one_blas_thread
from fairfield.results.valuation import as_number

# Error bars from fewer pairs per player are not to be trusted.
TRUSTED = 3
# What is fitted game by game is tried for so many games at most, and from so many pairs on.
MOST_GAMES, FEWEST_PAIRS = 4, 100
# Triples of more players are too many to look at.
MOST_PLAYERS = 128
# Seconds that a surrogate is thought to take where none was fitted yet: trees load libraries.
GUESSES = {"kernel": 0.0, "triples": 0.1, "trees": 3.0}

# Fitted in view of the residuals (games, p) that the best so far leaves.
Surrogate: TypeAlias = Callable[[FloatArray], Fit | None]


class Paired:
    """Estimates Shapley or Banzhaf values from pairs, with the best surrogate or with none."""

    def __init__(
        self, players: int, law: Law, seed: int, *, noisy: bool = False, surrogates: bool = True
    ) -> None:
        self.players, self.seed, self.of = players, seed, law
        self.noisy, self.surrogates = noisy, surrogates
        # Enough pairs to tell every slope, both ends, and two pairs to tell an error.
        self.least = 2 * (players + 2) + 2
        self.efficient = law.name == "shapley"
        design = Design.shapley if self.efficient else Design.banzhaf
        self._design = design(players, seed)
        self._pairs = np.empty((0, players), dtype=bool)
        self._strata: IntArray = np.empty(0, dtype=np.int64)
        self._worths: list[FloatArray] = []
        self._noise_of_ends: FloatArray | float = 0.0  # per game, of F(N) - F(∅)
        self._pace = Pace(GUESSES)

    def propose(self, most: int) -> BoolArray:
        """∅ and N first; then pairs, each time half as many as there are."""
        known = len(self._pairs)
        more = max(self.players + 2, 48, known // 2)
        pairs, strata = self._design.next(more, self._shares(known + more))
        self._pairs = np.concatenate([self._pairs, pairs])
        self._strata = np.concatenate([self._strata, strata])
        coalitions = np.stack([pairs, ~pairs], axis=1).reshape(-1, self.players)
        if not known:
            ends = np.repeat([[False], [True]], self.players, axis=1)
            coalitions = np.concatenate([ends, coalitions])
        return coalitions[:most]

    def _shares(self, total: int) -> FloatArray:
        """How so many pairs are spread over the strata, by what the regression leaves."""
        if not self._worths:
            return self._design.shares(None, total)
        told = self._told()
        sample = self._sample(told[:, 2:])
        apart = least_squares(sample, self.efficient).residuals(sample.odd)
        scale = np.mean(apart**2, axis=1, keepdims=True)
        squares = np.mean(apart**2 / np.where(scale > 0, scale, 1.0), axis=0)
        strata, count = self._strata[: len(squares)], len(self._design.strata)
        drawn = np.bincount(strata, minlength=count)
        left = np.bincount(strata, weights=squares, minlength=count) / np.maximum(drawn, 1)
        return self._design.shares(left, total)

    def law(self) -> dict[str, Any]:
        """Which pairs, and the seed they come from."""
        return {
            "sampler": f"pairs for {self.of.name}",
            "seed": self.seed,
            "pairs": len(self._pairs),
        }

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths; they come in the order of the proposal."""
        if variances is not None and not self._worths:
            self._noise_of_ends = variances[..., :2].reshape(-1, 2).sum(axis=1)[:, None, None]
        self._worths.append(worths)

    def estimate(self, until: float = inf) -> Estimate:
        """Values by the surrogate and the correction with the smallest variance, game by game.

        Surrogates that would not be fitted by ``until`` are left out.
        """
        batch, flat = self._worths[0].shape[:-1], self._told()
        ends, sample = flat[:, :2], self._sample(flat[:, 2:])
        regression = least_squares(sample, self.efficient)
        answers = [regression.of(no_surrogate(sample), ends)]
        answers.append(known_moments(sample, self.efficient).of(no_surrogate(sample), ends))
        # One thread: the same bits on every machine, and nobody in the way of others.
        with one_blas_thread():
            for name, surrogate in self._surrogates(sample, answers[0].spread).items():
                if not self._pace.fits(name, len(sample.coalitions), until):
                    continue
                best = min(answers, key=lambda answer: float(answer.spread.sum()))
                with self._pace.timed(name, len(sample.coalitions)):
                    fit = surrogate(best.left)
                if fit is not None:
                    # Intervals from known moments would be too narrow here (measured: .92 – .95).
                    answers.append(regression.of(fit, ends))
        which = np.argmin([answer.spread for answer in answers], axis=0)
        chosen = [(answers[i], game) for game, i in enumerate(which)]
        covariance = np.stack([answer.covariance(game) for answer, game in chosen])
        if self.efficient:
            # The error of F(N) - F(∅) is shared out evenly; that of pairs is in their residuals.
            covariance = covariance + self._noise_of_ends / self.players**2
        shape = (*batch, self.players)
        return Estimate(
            values=np.stack([answer.values[game] for answer, game in chosen]).reshape(shape),
            stderr=np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)).reshape(shape),
            covariance=covariance.reshape(*shape, self.players),
            method="; ".join(dict.fromkeys(answer.method for answer, _ in chosen)),
            warnings=self._warnings(len(sample.coalitions)),
            more={
                "empty": as_number(ends[:, 0].reshape(batch)),
                "grand": as_number(ends[:, 1].reshape(batch)),
            },
        )

    def _told(self) -> FloatArray:
        """All worths, (games, 2 + coalitions of the pairs)."""
        worths = np.concatenate(self._worths, axis=-1)
        return worths.reshape(-1, worths.shape[-1])

    def _sample(self, worths: FloatArray) -> Sample:
        """The whole pairs among what was told."""
        count = worths.shape[1] // 2
        both = worths[:, : 2 * count].reshape(-1, count, 2).swapaxes(1, 2)
        pairs, strata = self._pairs[:count], self._strata[:count]
        drawn = np.maximum(np.bincount(strata, minlength=len(self._design.strata)), 1)
        weights = (self._design.masses / drawn)[strata]
        return Sample(
            coalitions=pairs,
            odd=(both[:, 0] - both[:, 1]) / 2,
            both=both,
            weights=weights / weights.sum(),
            # What is noisy is never known, however much of it is drawn.
            fraction=(drawn / self._design.pairs * (not self.noisy))[strata],
        )

    def _surrogates(self, sample: Sample, spread: FloatArray) -> dict[str, Surrogate]:
        """Those worth trying; none where the regression leaves only rounding."""
        size = np.mean(sample.odd**2, axis=1)
        if not self.surrogates or (spread <= 1e-20 * size).all():
            return {}
        tried: dict[str, Surrogate] = {"kernel": lambda _: kernel_surrogate(sample, self.of)}
        fewest = max(FEWEST_PAIRS, TRUSTED * self.players)
        if len(sample.odd) <= MOST_GAMES and len(sample.coalitions) >= fewest:
            if self.players <= MOST_PLAYERS:
                tried["triples"] = partial(triple_surrogate, sample, self.of, self.seed)
            if trees_are_installed():
                tried["trees"] = partial(tree_surrogate, sample, self.of, self.seed)
        return tried

    def _warnings(self, pairs: int) -> tuple[str, ...]:
        if pairs >= TRUSTED * self.players:
            return ()
        least = min(2 * TRUSTED * self.players + 2, 2**self.players)
        return (
            f"{pairs:,} pairs are few for {self.players} players, and the error bars are not to be "
            f"trusted; {least:,} coalitions are the least for that",
        )
