"""Estimates with standard errors, by leaving out one group of samples at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray


@dataclass(frozen=True)
class Jackknifed:
    """An estimate, and its replicates without each group of samples in turn (first axis).

    Differences and functions of estimates from the same groups keep their correlation, so
    their errors are right too. ``least`` is what the standard error is where all groups agree; it is
    added to their spread, in squares.

    >>> float(Jackknifed.mean(np.array([1.0, 2.0, 3.0, 6.0])).stderr.round(4))
    1.0801
    """

    estimate: FloatArray | float
    replicates: FloatArray
    least: float = 0.0

    @classmethod
    def mean(cls, groups: FloatArray) -> Jackknifed:
        """The mean of one number, or one array, per group."""
        total = groups.sum(axis=0)
        return cls(groups.mean(axis=0), (total - groups) / (len(groups) - 1))

    @property
    def stderr(self) -> FloatArray:
        """√((g-1)/g Σ (replicate - mean)² + least²) over g groups."""
        spread = self.replicates - self.replicates.mean(axis=0)
        error = (len(spread) - 1) * np.mean(spread**2, axis=0)
        return np.asarray(np.sqrt(error + self.least**2))

    def through(self, function: Callable[[FloatArray], FloatArray]) -> Jackknifed:
        """A function of the estimate."""
        return Jackknifed(function(np.asarray(self.estimate)), function(self.replicates))

    def unbiased(self) -> Jackknifed:
        """Less the bias of order 1/samples that a curved function has."""
        count = len(self.replicates)
        shift = (count - 1) * (self.replicates.mean(axis=0) - self.estimate)
        return Jackknifed(self.estimate - shift, self.replicates - shift, self.least)

    def times(self, factor: float) -> Jackknifed:
        """A multiple of the estimate."""
        return Jackknifed(
            self.estimate * factor, self.replicates * factor, self.least * abs(factor)
        )

    def __add__(self, constant: float) -> Jackknifed:
        return Jackknifed(self.estimate + constant, self.replicates + constant, self.least)

    def __sub__(self, other: Jackknifed) -> Jackknifed:
        least = float(np.hypot(self.least, other.least))
        return Jackknifed(self.estimate - other.estimate, self.replicates - other.replicates, least)
