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

from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.corrections import known_moments, least_squares
from fairfield.estimation.loop import Estimate
from fairfield.estimation.pace import Pace
from fairfield.estimation.pairs import Design, Strata
from fairfield.estimation.surrogates.registry import Surrogate, surrogates
from fairfield.estimation.surrogates.sample import Diagonal, Sample, no_surrogate
from fairfield.evaluation.threads import one_blas_thread
from fairfield.results.valuation import as_number

# Error bars from fewer pairs per player are unreliable.
RELIABLE = 3
# The strata of the pairs from which a criterion is read.
STRATA = {"shapley": Strata.shapley, "banzhaf": Strata.banzhaf}


class Pairs:
    """Pairs that were asked for and their worths: one design for one criterion or for both."""

    def __init__(self, players: int, criteria: list[str], seed: int, *, noisy: bool) -> None:
        self.players, self.criteria, self.seed, self.noisy = players, criteria, seed, noisy
        self.design = Design(players, [STRATA[name](players) for name in criteria], seed)
        self._pairs = np.empty((0, players), dtype=bool)
        self._strata: IntArray = np.empty(0, dtype=np.int64)
        self._worths: list[FloatArray] = []
        self._noise: list[FloatArray] = []

    def ask(self, most: int) -> BoolArray:
        """∅ and N first; then pairs, each time half as many as there are."""
        known = len(self._pairs)
        more = max(self.players + 2, 48, known // 2)
        pairs, strata = self.design.next(more, self._shares(known + more))
        self._pairs = np.concatenate([self._pairs, pairs])
        self._strata = np.concatenate([self._strata, strata])
        coalitions = _both(pairs)
        if not known:
            ends = np.repeat([[False], [True]], self.players, axis=1)
            coalitions = np.concatenate([ends, coalitions])
        return coalitions[:most]

    def tell(self, worths: FloatArray, variances: FloatArray | None) -> None:
        """Keep the worths; they come in the order in which they were asked for."""
        self._worths.append(worths)
        if variances is not None:
            self._noise.append(variances)

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
            drawn = np.bincount(strata, minlength=count)
            left.append(
                np.bincount(strata, weights=squares, minlength=count) / np.maximum(drawn, 1)
            )
        return self.design.shares(np.stack(left), total)

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of the worths."""
        return self._worths[0].shape[:-1]

    def worths(self) -> FloatArray:
        """All worths, (games, 2 + coalitions of the pairs)."""
        worths = np.concatenate(self._worths, axis=-1)
        return worths.reshape(-1, worths.shape[-1])

    def noise(self) -> FloatArray | None:
        """The variances of these worths, where they are noisy."""
        if not self._noise:
            return None
        return np.concatenate(self._noise, axis=-1).reshape(self.worths().shape)

    def received(self) -> tuple[BoolArray, FloatArray]:
        """The coalitions whose worths were received, the ends first, and the log of their law."""
        count = self.worths().shape[1] - 2
        ends = np.repeat([[False], [True]], self.players, axis=1)
        whole = -(-count // 2)
        rows = np.concatenate([ends, _both(self._pairs[:whole])[:count]])
        return rows, self.design.log_density(self._strata[:whole])

    def sample(self, criterion: str) -> Sample:
        """The whole pairs that were received, with the weights of a criterion."""
        worths = self.worths()[:, 2:]
        count = worths.shape[1] // 2
        both = worths[:, : 2 * count].reshape(-1, count, 2).swapaxes(1, 2)
        pairs, strata = self._pairs[:count], self._strata[:count]
        drawn = np.maximum(np.bincount(strata, minlength=len(self.design.strata)), 1)
        masses = self.design.masses[self.criteria.index(criterion)]
        weights = (masses / drawn)[strata]
        return Sample(
            coalitions=pairs,
            odd=(both[:, 0] - both[:, 1]) / 2,
            both=both,
            weights=weights / weights.sum(),
            # What is noisy is never certain, however much of it is drawn.
            fraction=(drawn / self.design.pairs * (not self.noisy))[strata],
        )


class Paired:
    """Estimates Shapley or Banzhaf values from pairs, helped by the best surrogate or by none."""

    def __init__(self, criterion: str, pairs: Pairs, *, helped: bool = True) -> None:
        self.criterion, self.pairs, self.helped = criterion, pairs, helped
        self.players = pairs.players
        self.diagonal = Diagonal.of(criterion, self.players)
        # Enough pairs to fit every slope, both ends, and two pairs to estimate an error.
        self.least = 2 * (self.players + 2) + 2
        self.efficient = criterion == "shapley"
        self._pace = Pace({each.name: each.seconds for each in surrogates()})

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
        self.pairs.tell(worths, variances)

    def estimate(self, until: float = inf) -> Estimate:
        """Values by the surrogate and the correction with the smallest variance, game by game.

        Surrogates that would not be fitted by ``until`` are left out.
        """
        batch, ends = self.pairs.batch, self.pairs.worths()[:, :2]
        sample = self.pairs.sample(self.criterion)
        regression = least_squares(sample, self.efficient)
        answers = [regression.of(no_surrogate(sample), ends)]
        answers.append(known_moments(sample, self.efficient).of(no_surrogate(sample), ends))
        # One thread: the same bits on every machine, and nobody in the way of others.
        with one_blas_thread():
            for surrogate in self._surrogates(sample, answers[0].spread):
                if not self._pace.fits(surrogate.name, len(sample.coalitions), until):
                    continue
                best = min(answers, key=lambda answer: float(answer.spread.sum()))
                with self._pace.timed(surrogate.name, len(sample.coalitions)):
                    fit = surrogate.fit(sample, self.diagonal, self.pairs.seed, best.left)
                if fit is not None:
                    # Intervals from known moments would be too narrow here (measured: .92 – .95).
                    answers.append(regression.of(fit, ends))
        which = np.argmin([answer.spread for answer in answers], axis=0)
        chosen = [(answers[i], game) for game, i in enumerate(which)]
        covariance = np.stack([answer.covariance(game) for answer, game in chosen])
        noise = self.pairs.noise()
        if self.efficient and noise is not None:
            # The error of F(N) - F(∅) is shared out evenly; that of pairs is in their residuals.
            covariance += noise[:, :2].sum(axis=1)[:, None, None] / self.players**2
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

    def _surrogates(self, sample: Sample, spread: FloatArray) -> list[Surrogate]:
        """Those worth trying; none where the regression leaves only rounding."""
        size = np.mean(sample.odd**2, axis=1)
        if not self.helped or (spread <= 1e-20 * size).all():
            return []
        return [each for each in surrogates() if each.suits(sample)]

    def _warnings(self, pairs: int) -> tuple[str, ...]:
        if pairs >= RELIABLE * self.players:
            return ()
        least = min(2 * RELIABLE * self.players + 2, 2**self.players)
        return (
            f"{pairs:,} pairs are few for {self.players} players, and the error bars are not to be "
            f"trusted; {least:,} coalitions are the least for that",
        )


def _both(pairs: BoolArray) -> BoolArray:
    """Each coalition and its complement, one after the other."""
    return np.stack([pairs, ~pairs], axis=1).reshape(-1, pairs.shape[1])
