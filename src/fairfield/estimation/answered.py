"""What an estimator has received of a game, and the answers of a service that may yet revise it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import BoolArray
from fairfield.core.game import Measured
from fairfield.estimation.repeats import worth_repeating
from fairfield.evaluation.evaluator import Evaluator

if TYPE_CHECKING:
    from fairfield.estimation.loop import Estimate, Estimator

# Squares of larger worths overflow, those of smaller ones underflow.
LARGEST, SMALLEST = 1e150, 1e-150


class Answered:
    """The coalitions that an estimator has the worths of.

    ``used`` counts them, ``spent`` what they took of the budget: as many, or with ``auto`` repeats
    all their answers. ``refused`` says that the last repeats were asked for in vain.
    """

    def __init__(self, evaluator: Evaluator, estimator: Estimator) -> None:
        self.evaluator, self.estimator, self.calls = evaluator, estimator, evaluator.calls
        self.auto = self.calls is not None and self.calls.service.auto
        self.used = self.spent = 0
        self.refused = False
        self._largest = 0.0
        self._coalitions = np.empty((0, len(evaluator.game.players)), dtype=bool)

    def tell(self, coalitions: BoolArray, found: Measured) -> int:
        """Pass on the worths of the first of these coalitions; returns of how many."""
        received = int(found.worths.shape[-1])
        if not received:
            return 0
        self._check_scale(found)
        coalitions = coalitions[:received]
        if self.calls is not None:
            found = self.calls.known(coalitions, leading=True)
            self._coalitions = np.concatenate([self._coalitions, coalitions])
        self.estimator.tell(coalitions, found.worths, found.variances)
        self.used += received
        self.spent = self.used
        if self.auto and self.calls is not None:
            self.spent = int(self.calls.counts(np.unique(self._coalitions, axis=0)).sum())
        return received

    def revise(self, *, leading: bool = False) -> None:
        """Give the estimator the worths by all answers, or those by which coalitions are chosen."""
        if self.calls is not None:
            found = self.calls.known(self._coalitions, leading=leading)
            self.estimator.revise(found.worths, found.variances)

    def repeat(self, estimate: Estimate, most: int, budget: int, until: float) -> int:
        """Ask again where that serves the errors best, with auto repeats; how many answers came.

        At most so many, and no more than the budget has left. A store may hold answers beyond those
        used here: they are paid for, and count against it.
        """
        if not self.auto or self.calls is None:
            return 0
        rows = np.unique(self._coalitions, axis=0)
        counts, variances = self.calls.counts(rows), self.calls.known(rows).variances
        assert variances is not None
        total = float(np.sum(estimate.stderr**2))
        most = max(0, min(most, budget - max(self.spent, self.calls.total)))
        shares, complete = (getattr(self.estimator, name, None) for name in ("shares", "complete"))
        noise = variances * counts
        times = worth_repeating(rows, counts, noise, shares, total, most, bool(complete))
        self.evaluator.repeat(rows[times > 0], times[times > 0], until)
        came = int((self.calls.counts(rows) - counts).sum())
        self.spent += came
        self.refused = bool(times.any()) and not came
        return came

    def _check_scale(self, found: Measured) -> None:
        """Refuse worths whose errors could not be computed."""
        self._largest = max(self._largest, float(np.abs(found.worths).max()))
        if self._largest and not SMALLEST <= self._largest <= LARGEST:
            raise ValueError(
                f"{self.evaluator.game!r}: the largest worth is of size {self._largest:.3g}, and its "
                "square is beyond what floating-point numbers hold, so no error could be computed; give "
                "the worths in other units"
            )
