"""The mean game of the prior given some worths: what it predicts, and what is read of it.

It is given worths, or what a surrogate leaves of them. Its errors are scaled by how well each worth is
predicted from all the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.along import Along, Sets, overlaps
from fairfield.estimation.corrections import INFLATED, SMALLEST, Answer
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.prior.posterior import ROUNDING, Factor, Posterior, posterior, without_own

# Numbers held at a time.
AT_ONCE = 2**22
# Squares of the number of coalitions times sets up to which each set gets an error of its own.
AFFORDABLE = 4e10
# Values are drawn to 0 where their expected squared errors are so many times their squares.
HARDLY = 1.5
# At most this share of an interaction is thought to be lost to what others are like.
DRAWN = 0.9


@dataclass(frozen=True)
class MeanGame:
    """What the prior over games makes of the worths of some games, or of what is left of them."""

    sampled: Sampled
    posterior: Posterior
    worths: FloatArray

    @classmethod
    def given(cls, sampled: Sampled, worths: FloatArray) -> MeanGame:
        """The mean games given worths (games, m) of the coalitions of a sample."""
        anywhere = sampled.anywhere
        found = posterior(sampled.rows, worths, sampled.noise, anywhere=anywhere)
        return cls(sampled, found, worths)

    @cached_property
    def _blocks(self) -> tuple[FloatArray, FloatArray]:
        """Residuals (games, m) of predictions without a coalition and its complement, and how large.

        The latter are mean squares in units of their variances: 1 where these are right.
        """
        found, used = self.posterior, len(self.posterior.coalitions)
        left = without_own(found.alpha, found.inverse, self.sampled.twins[:used])
        return found.scale[:, None] * left, found.alpha * left

    @cached_property
    def inside(self) -> FloatArray:
        """What the mean games leave of the worths, (games, m)."""
        return np.asarray(self.worths - self.posterior.predict(self.sampled.rows))

    @cached_property
    def outside(self) -> FloatArray:
        """What predictions leave that did without the worth, and without its complement's: (games, m)."""
        found, used = self.inside.copy(), len(self.posterior.coalitions)
        found[:, :used] = self._blocks[0]
        return found

    @cached_property
    def error(self) -> FloatArray:
        """The mean squares (games,) of these, sizes weighing as much as is read from them."""
        return self._mean(self._blocks[0] ** 2)

    @cached_property
    def calibration(self) -> FloatArray:
        """By how much variances are multiplied, (games,).

        Never less than 1: that what is alike is predicted well does not vouch for interactions.
        """
        return INFLATED * np.maximum(self._mean(self._blocks[1]), 1.0)

    def _mean(self, squares: FloatArray) -> FloatArray:
        weights = self.sampled.weights[: squares.shape[1]]
        return np.asarray(squares @ weights / weights.sum())

    @property
    def method(self) -> str:
        """What it is, in a few words."""
        return f"a prior over games, given {len(self.posterior.coalitions):,} coalitions"

    def read(self, along: Along, sets: Sets, judged: int, *, whole: bool) -> Answer:
        """The values or interactions of sets (k, size) in the mean games.

        The first ``judged`` of them say how much of it is noise. Their ``whole`` covariance is
        for all single players.
        """
        found = self.posterior
        table, wide = self._table(along), along.sections(found.kernels, found.wide)
        scale, m = found.scale**2 * self.calibration, len(found.coalitions)
        values = self.values(along, sets)
        size = np.sum(values[:, :judged] ** 2, axis=1)
        # Where hardly anything is known, shares that are themselves uncertain leave noise in it.
        left = self._variances(along, sets[:judged], table, found.factor)
        likely = scale * left.sum()
        kept = np.clip(2 - likely / (HARDLY * np.maximum(size, SMALLEST)), 0.0, 1.0)
        if whole:
            own = next(sections(found.coalitions, wide, sets, len(sets)))
            errors = along.covariance(wide) - own.T @ found.wide_factor.solve(own)
            least = ROUNDING * along.of(wide)
            place = np.diag_indices_from(errors)
            errors[place] = np.maximum(errors[place], least)
        else:
            affordable = len(sets) * m**2 <= AFFORDABLE
            some = sets if affordable else sets[:judged]
            errors = self._variances(along, some, wide, found.wide_factor)
            errors = errors if affordable else np.full(len(sets), errors.mean())
        spread = scale.reshape(-1, *(1,) * errors.ndim) * errors
        if not whole:
            # One pair that is unlike all others is drawn to these, by as much as nothing is known of it.
            unknown = min(float(left.mean()) / max(along.of(table), SMALLEST), DRAWN)
            spread = spread + (values * unknown / (1 - unknown)) ** 2
        return Answer(
            kept[:, None] * values, spread, self.method, lambda: self.weights(along, sets)
        )

    def _table(self, along: Along) -> FloatArray:
        return along.sections(self.posterior.kernels, self.posterior.shares)

    def values(self, along: Along, sets: Sets) -> FloatArray:
        """The readings (games, k) of the mean games."""
        found = self.posterior
        parts = [found.alpha @ c for c in sections(found.coalitions, self._table(along), sets)]
        return np.asarray(found.scale[:, None] * np.concatenate(parts, axis=1))

    def weights(self, along: Along, sets: Sets) -> FloatArray:
        """What each worth weighs in the values, before they are drawn to 0: (m, k)."""
        own = next(sections(self.posterior.coalitions, self._table(along), sets, len(sets)))
        return self.posterior.factor.solve(own)

    def _variances(self, along: Along, sets: Sets, table: FloatArray, factor: Factor) -> FloatArray:
        """What the worths leave of the prior variance of readings."""
        prior = along.of(table)
        parts = sections(self.posterior.coalitions, table, sets)
        found = [prior - np.einsum("mk,mk->k", c, factor.solve(c)) for c in parts]
        # No more digits are left than these, and rounding may leave less than nothing.
        return np.asarray(np.maximum(np.concatenate(found), ROUNDING * prior))


def sections(
    rows: BoolArray, table: FloatArray, sets: Sets, block: int | None = None
) -> Iterator[FloatArray]:
    """The entries of a table by |S ∩ A| and |S|, (m, some sets) at a time."""
    sizes, block = rows.sum(axis=1), block or max(1, AT_ONCE // max(len(rows), 1))
    for start in range(0, len(sets), block):
        yield table[overlaps(rows, sets[start : start + block]), sizes[:, None]]
