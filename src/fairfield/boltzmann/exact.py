"""Sums over p(S) ∝ exp(F(S)/T) · Π π_i^{z_i} (1-π_i)^{1-z_i}, exactly, from a table.

Z is the multilinear extension of the table exp(F/T), read at the prior (or with the
factors 1, 1 where there is none); its faces give the marginals. The largest worth is
taken out before exponentiating, so no temperature overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, on_host
from fairfield.core.coalitions import coalitions_in
from fairfield.core.special import expit
from fairfield.mean_field.elbo import CERTAIN, elbo, entropy, log_odds, prior_energy
from fairfield.multilinear import folding
from fairfield.multilinear.table import TableExtension

# Coalitions drawn together: their rows of the table take 2^18 worths or so.
DRAWN = 2**18


def _exp(xp: Any, gaps: Any) -> Any:
    return xp.exp(gaps)


def _expm1(xp: Any, gaps: Any) -> Any:
    return xp.expm1(gaps)


def _exp_of_gaps(xp: Any, gaps: Any) -> Any:
    return xp.exp(xp.minimum(gaps, xp.zeros_like(gaps)))


def _weighted_gaps(xp: Any, gaps: Any) -> Any:
    return gaps * _exp_of_gaps(xp, gaps)


@dataclass(frozen=True)
class ExactLaw:
    """The law of each game of a table, by sums over all coalitions."""

    extension: TableExtension
    temperature: FloatArray
    prior: FloatArray | None = None
    # Nothing is estimated, so nothing is sampled and there is nothing to warn of.
    samples: ClassVar[int] = 0
    warnings: ClassVar[tuple[str, ...]] = ()

    @cached_property
    def _weights(self) -> TableExtension:
        # Worths that the prior excludes may lie above the maximum.
        lift = _exp_of_gaps if self._certain else _exp
        return self.extension.lifted(self.highest, 1 / self.temperature, lift)

    @property
    def _certain(self) -> bool:
        return self.prior is not None and bool((np.abs(self.prior) == CERTAIN).any())

    @cached_property
    def highest(self) -> FloatArray:
        """The largest worth of a coalition that the prior allows."""
        if self.prior is None or not self._certain:
            return self.extension.highest.reshape(self.extension.batch)
        return self.extension.highest_among(self.prior > -CERTAIN, self.prior < CERTAIN)

    @cached_property
    def _factors(self) -> FloatArray:
        count = self.extension.players
        if self.prior is None:
            return np.ones((1, 1, count, 2))
        return np.stack([expit(-self.prior), expit(self.prior)], axis=-1)[None, None]

    @cached_property
    def _masses(self) -> tuple[FloatArray, FloatArray]:
        """Σ exp((F - max F)/T) · prior over all coalitions, and over those with player i."""
        total, inside = self._weights.probed(self._factors, self._factors * folding.INSIDE)
        return total[:, 0], inside[:, 0]

    @cached_property
    def _total(self) -> FloatArray:
        total, _ = self._masses
        if not (total > 0).all():
            raise FloatingPointError(
                "the prior all but excludes every coalition that this low temperature allows; "
                "raise the temperature, or fix players with condition(inside, outside)"
            )
        return np.asarray(total)

    def _shaped(self, per_game: FloatArray) -> FloatArray:
        return per_game.reshape((*self.extension.batch, *per_game.shape[1:]))

    @cached_property
    def excess(self) -> FloatArray:
        """log Z - max F / T: never overflows."""
        return self._shaped(np.log(self._total))

    @cached_property
    def log_z(self) -> FloatArray:
        return np.asarray(self.highest / self.temperature + self.excess)

    @cached_property
    def marginals(self) -> FloatArray:
        chances = np.minimum(self._masses[1] / self._total[:, None], 1.0)
        if self.prior is not None:
            # Rounding must not leave a certain player any uncertainty.
            chances = np.where(np.abs(self.prior) == CERTAIN, self.prior > 0, chances)
        return self._shaped(chances)

    @cached_property
    def pair_marginals(self) -> FloatArray:
        inside = self._factors[0, 0, :, 1]
        both = self._weights.pairs(self._factors, folding.INSIDE)[:, 0]
        both = both * inside[:, None] * inside / self._total[:, None, None]
        each = np.arange(self.extension.players)
        both[:, each, each] = self.marginals.reshape(both.shape[:2])
        return self._shaped(both)

    @cached_property
    def mean_gap(self) -> FloatArray:
        """E_p[(F - max F)/T]."""
        gaps = self.extension.lifted(self.highest, 1 / self.temperature, _weighted_gaps)
        return self._shaped(gaps.total(self._factors)[:, 0] / self._total)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.highest + self.temperature * self.mean_gap)

    @property
    def total_correlation(self) -> FloatArray:
        return np.maximum(entropy(self.log_odds) - self.entropy, 0.0)

    @cached_property
    def entropy(self) -> FloatArray:
        """log Z - E_p[F]/T - E_p[log prior]."""
        log_prior = prior_energy(self.marginals, log_odds(self.marginals), self.prior)
        return np.asarray(self.excess - self.mean_gap - log_prior)

    def stderr(self, reading: str) -> FloatArray:
        return np.zeros_like(getattr(self, reading))

    def log_share(self, worths: FloatArray) -> FloatArray:
        gaps = (worths - self.highest[..., None]) / self.temperature[..., None]
        return np.asarray(gaps - self.excess[..., None])

    def elbo(self, logits: FloatArray) -> FloatArray:
        return elbo(self.extension.value(expit(logits)), logits, self.temperature, self.prior)

    def gap(self, logits: FloatArray) -> FloatArray:
        value, _ = self.extension.centred(expit(logits))
        return self.gap_of(elbo(value, logits, self.temperature, self.prior))

    def gap_of(self, height: FloatArray) -> FloatArray:
        # Neither log Z nor the ELBO is formed with the offset, which costs digits.
        top = (self.highest - self.extension.offset) / self.temperature
        return np.maximum(top + self.excess - height, 0.0)

    @cached_property
    def log_odds(self) -> FloatArray:
        """To full accuracy at any temperature, also where p_i rounds to 0 or 1."""
        if self._certain:
            # Beside the logit of a certain player no other number survives in a sum.
            return log_odds(self.marginals)
        table = self.extension
        middle = (table.highest / 2 + table.lowest / 2).reshape(table.batch)
        spread = np.ptp([table.lowest, table.highest], axis=0).reshape(table.batch)
        if (spread < self.temperature).all():
            # Hot: with a = E[exp((F - c)/T) - 1], log E[exp] = log(1 + a) loses no digits.
            bias = np.zeros(table.players) if self.prior is None else self.prior
            factors = np.stack([expit(-bias), expit(bias)], axis=-1)[None, None]
            small = table.lifted(middle, 1 / self.temperature, _expm1)
            logs = self._shaped(np.log1p(small.faces(factors)[:, 0]))
            return np.asarray(logs[..., 1] - logs[..., 0] + bias)
        sums = table.log_sums(1 / self.temperature, self.prior)
        return np.asarray(sums[..., 1] - sums[..., 0])

    def draw(self, count: int, rng: np.random.Generator) -> BoolArray:
        """A row of the table by its total weight, then a column of that row."""
        table, low = self._weights, self.extension.low
        halves = folding.Halves(self._factors, low)
        low_weights, high_weights = halves.low[0], halves.high[0, 0]
        _, of_rows = table.matrix.fold(None, low_weights[None])
        games, width = len(of_rows), low_weights.shape[-1]
        drawn = np.empty((games, count), dtype=np.int64)
        for game in range(games):
            of_each = np.cumsum(of_rows[game] * high_weights)
            rows = np.searchsorted(of_each, rng.random(count) * of_each[-1], side="right")
            rows = np.minimum(rows, len(of_each) - 1)
            uniform = rng.random(count)
            step = max(1, DRAWN // width)
            for start in range(0, count, step):
                some = slice(start, start + step)
                weights = on_host(table.matrix.gather(game, rows[some])) * low_weights
                steps = np.cumsum(weights, axis=1)
                columns = np.sum(steps <= uniform[some, None] * steps[:, -1:], axis=1)
                drawn[game, some] = rows[some] * width + np.minimum(columns, width - 1)
        drawn = drawn.reshape((*self.extension.batch, count))
        return coalitions_in(drawn, self.extension.players)
