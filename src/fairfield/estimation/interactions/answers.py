"""Interactions of a surrogate, corrected by what it leaves of the worths.

What is left is a game as well: either the mean of what the prior over games makes of it is read, or
its interactions are estimated without bias, size by size, from the residuals of predictions that
did without the worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.interactions.sections import Along, Sets, overlaps
from fairfield.estimation.prior.posterior import ROUNDING, Factor, Posterior, posterior

# Coalitions that the prior is given at most: m of them cost O(m³).
FITTED = 3000
# Numbers held at a time.
AT_ONCE = 2**22
# Squares of the number of coalitions times sets up to which each set gets an error of its own.
AFFORDABLE = 4e10
# Squares of values are not divided by less.
SMALLEST = 1e-300
# Shares of kernels and the choice between answers are uncertain, too; measured on the games of the
# benchmark.
INFLATED = 1.4
# Values are drawn to 0 where their expected squared errors are so many times their squares.
HARDLY = 1.5


@dataclass(frozen=True)
class Sampled:
    """Worths (m,) of one game's coalitions (m, n), their variances, and how sizes were drawn.

    ``paired`` where each two that follow one another, after ∅ and N as before, are complements.
    ``drawn`` and ``every`` (n + 1,) count the coalitions of each size that are known and that exist,
    ``reach`` (n + 1,) is how much of the interactions is read from each.
    """

    rows: BoolArray
    worths: FloatArray
    noise: FloatArray | None
    paired: bool
    drawn: FloatArray
    every: FloatArray
    reach: FloatArray

    @cached_property
    def weights(self) -> FloatArray:
        """How much errors of prediction count, (m,), by size: not where all worths are known."""
        each = (self.reach / np.maximum(self.drawn, 1)) ** 2
        found = each[self.sizes] * (1 - self.known) + 1e-12 * each.max()
        return np.asarray(found / found.sum())

    @cached_property
    def sizes(self) -> IntArray:
        """The sizes of the coalitions."""
        return np.asarray(self.rows.sum(axis=1))

    @cached_property
    def groups(self) -> IntArray:
        """Which coalitions are complements of one another, by number."""
        return np.asarray(np.arange(len(self.rows)) // (2 if self.paired else 1))

    @cached_property
    def known(self) -> FloatArray:
        """The share of its size that is known for certain, for each coalition."""
        certain = self.noise is None
        return np.asarray((self.drawn / self.every * certain)[self.sizes])


@dataclass(frozen=True)
class Answer:
    """Interactions (k,) of sets, their variances, and how they were found."""

    values: FloatArray
    variances: FloatArray
    method: str


@dataclass(frozen=True)
class Left:
    """What the prior over games makes of worths, or of what a surrogate leaves of them."""

    sampled: Sampled
    posterior: Posterior

    @classmethod
    def of(cls, sampled: Sampled, left: FloatArray) -> Left:
        """The posterior given residuals (m,)."""
        noise = None if sampled.noise is None else sampled.noise[None]
        return cls(sampled, posterior(sampled.rows, left[None], noise, FITTED))

    @cached_property
    def blocks(self) -> tuple[FloatArray, FloatArray]:
        """Residuals (m,) of predictions without a coalition and its complement, and how large.

        The latter are mean squares in units of their variances: 1 where these are right.
        """
        found, used = self.posterior, len(self.posterior.coalitions)
        alpha, inverse = found.alpha[0], found.inverse
        own = np.diagonal(inverse)
        left, squares = alpha / own, alpha**2 / own
        if self.sampled.paired:
            first = np.arange(0, used - 1, 2)
            second = first + 1
            cross = inverse[first, second]
            whole = own[first] * own[second] - cross**2
            one = (own[second] * alpha[first] - cross * alpha[second]) / whole
            two = (own[first] * alpha[second] - cross * alpha[first]) / whole
            left[first], left[second] = one, two
            squares[first], squares[second] = alpha[first] * one, alpha[second] * two
        return found.scale[0] * left, squares

    @property
    def outside(self) -> FloatArray:
        """Residuals of predictions that did without the worth (and its complement's), (m,)."""
        return self.blocks[0]

    @cached_property
    def error(self) -> float:
        """The mean square of these, sizes weighing as much as interactions are read from them."""
        return self._mean(self.outside**2)

    @cached_property
    def calibration(self) -> float:
        """By how much variances are multiplied.

        Never less than 1: that what is alike is predicted well does not vouch for interactions.
        """
        return INFLATED * max(self._mean(self.blocks[1]), 1.0)

    def _mean(self, squares: FloatArray) -> float:
        weights = self.sampled.weights[: len(squares)]
        return float(weights @ squares / weights.sum())

    def read(self, along: Along, sets: Sets) -> Answer:
        """The interactions of the mean game."""
        found = self.posterior
        table, wide = (along.sections(found.kernels, each) for each in (found.shares, found.wide))
        scale, m = found.scale[0] ** 2 * self.calibration, len(found.coalitions)
        values, size = (self._values(table, each) for each in (sets, along.typical))
        # Where hardly anything is known, shares that are themselves uncertain leave noise in it.
        likely = scale * float(self._variances(along, along.typical, table, found.factor).sum())
        kept = 2 - likely / (HARDLY * max(float(size @ size), SMALLEST))
        affordable = len(sets) * m**2 <= AFFORDABLE
        errors = self._variances(
            along, sets if affordable else along.typical, wide, found.wide_factor
        )
        if not affordable:
            errors = np.full(len(sets), errors.mean())
        method = f"a prior over games, given {m:,} coalitions"
        return Answer(min(max(kept, 0.0), 1.0) * values, scale * errors, method)

    def _values(self, table: FloatArray, sets: Sets) -> FloatArray:
        """The interactions of the mean game, as a table of its sections has them."""
        found = self.posterior
        parts = _sections(found.coalitions, table, sets)
        return np.asarray(found.scale[0] * np.concatenate([found.alpha[0] @ c for c in parts]))

    def _variances(self, along: Along, sets: Sets, table: FloatArray, factor: Factor) -> FloatArray:
        """What the worths leave of the prior variance of the interactions."""
        prior = along.of(table)
        parts = _sections(self.posterior.coalitions, table, sets)
        found = [prior - np.einsum("mk,mk->k", c, factor.solve(c)) for c in parts]
        # No more digits are left than these, and rounding may leave less than nothing.
        return np.asarray(np.maximum(np.concatenate(found), ROUNDING * prior))

    def left(self, worths: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What the mean game leaves of the worths (m,), and what all the others predict leave."""
        inside = worths - self.posterior.predict(self.sampled.rows)[0]
        outside = inside.copy()
        outside[: len(self.outside)] = self.outside
        return inside, outside


def corrected(
    sampled: Sampled, inside: FloatArray, outside: FloatArray, along: Along, sets: Sets
) -> Answer | None:
    """The interactions of what is left (m,), size by size; None unless two of each size show it.

    Sizes that are known whole have no error.
    """
    sizes, drawn = sampled.sizes, sampled.drawn
    needed = np.abs(along.own).max(axis=0) > 0
    if (drawn < np.minimum(2, sampled.every))[needed].any():
        return None
    residuals = sampled.known * inside + (1 - sampled.known) * outside
    weight = np.where(needed, sampled.every / np.maximum(drawn, 1), 0.0)[sizes]
    free = np.where(drawn > 1, drawn / np.maximum(drawn - 1, 1), 1.0)[sizes] * (1 - sampled.known)
    member = (np.arange(len(drawn))[:, None] == sizes) * 1.0
    values, errors = [], []
    for c in _sections(sampled.rows, along.own, sets):
        c *= weight[:, None]
        values.append(residuals @ c)
        parts = outside[:, None] * c
        means = (member @ parts) / np.maximum(drawn, 1)[:, None]
        errors.append(free @ (parts - means[sizes]) ** 2)
    method = f"corrected by {len(sizes):,} coalitions"
    return Answer(np.concatenate(values), INFLATED * np.concatenate(errors), method)


def _sections(rows: BoolArray, table: FloatArray, sets: Sets) -> Iterator[FloatArray]:
    """The entries of a table by |S ∩ A| and |S|, (m, some sets) at a time."""
    sizes, block = rows.sum(axis=1), max(1, AT_ONCE // max(len(rows), 1))
    for start in range(0, len(sets), block):
        yield table[overlaps(rows, sets[start : start + block]), sizes[:, None]]


def every_pair(rows: BoolArray, weights: FloatArray, table: FloatArray) -> FloatArray:
    """Σ_j weight_j table[|S_j ∩ A|, |S_j|] of all pairs A, as a matrix (n, n)."""
    none, one, both = table[:, rows.sum(axis=1)] * weights
    inside = rows.astype(float)
    alone = (one - none) @ inside
    together = (inside * (both - 2 * one + none)[:, None]).T @ inside
    return np.asarray(none.sum() + alone[:, None] + alone + together)
