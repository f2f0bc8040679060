"""What the nearest rows of a coalition are worth at a test point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray, IntArray

Task: TypeAlias = Literal["classification", "regression"]
Vote: TypeAlias = Literal["soft", "hard"]
Weights: TypeAlias = Literal["uniform", "distance"] | Callable[[FloatArray], Any]


def inverse_distance(distances: FloatArray) -> FloatArray:
    """The distance of the nearest row over that of each, 1 where both are 0."""
    share = np.ones_like(distances)
    return np.divide(distances[:, :1], distances, out=share, where=distances > 0)


@dataclass(frozen=True)
class Worth:
    """The worth of K rows at most, from the sum of what each brings: its match.

    Soft: the sum over K. A hard vote: 1 if the sum of signed whole weights is above 0, ½ if it
    is 0. The squared error of a joint prediction: the sum is that prediction less the mean of y.
    """

    task: Task
    vote: Vote
    labels: NDArray[Any]
    targets: NDArray[Any]
    k: int
    weights: Weights = "uniform"
    bits: int = 3

    @property
    def joint(self) -> bool:
        """Whether the worth is not additive in the neighbours."""
        return self.vote == "hard"

    @property
    def scale(self) -> float:
        """What a sum counts, where the worth is additive."""
        return 1.0 if self.joint else 1 / self.k

    @property
    def most(self) -> int:
        """The largest weight of a hard vote."""
        return 1 if self.weights == "uniform" else 2**self.bits - 1

    @cached_property
    def base(self) -> FloatArray:
        """By how much the prediction without any neighbour, the mean of y, is above the truth."""
        if self.task == "classification":
            return np.zeros(len(self.targets))
        return np.asarray(self.labels.mean() - self.targets)

    @cached_property
    def largest(self) -> float:
        """A bound of |match| of a soft worth, and of a joint worth."""
        if self.task == "classification":
            soft = self.labels.ndim == 2
            return float(np.abs(self.labels).max()) if soft else 1.0
        ends = np.array([[self.labels.min()], [self.labels.max()]])
        return float(((ends - self.targets) ** 2).max())

    def match(self, rows: IntArray, tests: slice, distances: FloatArray | None) -> FloatArray:
        """What each of these rows, (tests, m), brings at these test points."""
        targets, labels = self.targets[tests, None], self.labels
        weights = self._weights(distances)
        if self.task == "regression" and self.joint:
            return np.asarray(weights * (labels[rows] - labels.mean()) / self.k)
        if self.task == "regression":
            return np.asarray(
                weights * ((labels.mean() - targets) ** 2 - (labels[rows] - targets) ** 2)
            )
        if self.joint:
            return np.asarray(
                np.where(labels[rows] == targets, 1, -1) * np.rint(self.most * weights)
            )
        right = labels[rows, targets] if labels.ndim == 2 else labels[rows] == targets
        return np.asarray(weights * right, dtype=float)

    def of(self, sums: FloatArray, tests: slice) -> FloatArray:
        """Worths (..., tests) of coalitions whose counted neighbours bring these sums."""
        if not self.joint:
            return sums * self.scale
        if self.task == "classification":
            return (1 + np.sign(sums)) / 2
        return np.asarray(-((self.base[tests] + sums) ** 2))

    def _weights(self, distances: FloatArray | None) -> FloatArray | float:
        if self.weights == "uniform" or distances is None:
            return 1.0
        kernel = inverse_distance if self.weights == "distance" else self.weights
        found = np.array(kernel(distances.copy()), dtype=float)
        if found.shape != distances.shape or not ((found >= 0) & (found <= 1)).all():
            raise ValueError(
                f"weights= returned an array of shape {found.shape} with entries from "
                f"{found.min(initial=np.inf):g} to {found.max(initial=-np.inf):g} for distances of shape "
                f"{distances.shape}; it must return one weight from 0 to 1 for each"
            )
        return found
