"""All worths that exact values need, in an order in which any beginning of them allows an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import coalitions_in
from fairfield.core.game import Game, Measured
from fairfield.estimation.loop import Estimate, Estimator, Standing, is_settled, run, written
from fairfield.estimation.pace import check_time
from fairfield.estimation.received import Received
from fairfield.evaluation.evaluator import Spent
from fairfield.evaluation.kept import pack
from fairfield.evaluation.outcomes import WorthError
from fairfield.games.given.function import FunctionGame
from fairfield.multilinear.choose import FEWEST
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# The share of the coalitions that an estimator chooses; the rest come in their order, since the
# last few would be long in being drawn.
CHOSEN = 0.5


class Whole(Received):
    """Asks for all these coalitions (m, n), first for those that an estimator asks for.

    Its estimate is that estimator's until all worths are there, then the exact ``reading`` of these,
    which is kept as the ``valuation``.
    """

    def __init__(
        self,
        coalitions: BoolArray,
        estimator: Estimator,
        reading: Callable[[Measured], Valuation],
    ) -> None:
        super().__init__()
        self.coalitions, self.inner, self.reading = coalitions, estimator, reading
        self.least = min(estimator.least, len(coalitions))
        every = len(coalitions) == 2 ** coalitions.shape[1]
        self.shares = getattr(estimator, "shares", None) if every else None
        self.valuation: Valuation | None = None
        self._keys = pack(coalitions)
        self._sorted = np.argsort(self._keys)
        # Which coalitions were asked for, in that order, and how many of them the estimator chose.
        self._rows: list[int] = []
        self._chosen = self._told = 0

    @property
    def complete(self) -> bool:
        """Whether all worths are there."""
        return len(set(self._rows[: self._told])) == len(self.coalitions)

    def ask(self, most: int) -> BoolArray:
        """The estimator's coalitions, then all others."""
        found = self.coalitions[:0]
        # Where an estimate needs all worths, too, there is nothing to choose.
        most_chosen = CHOSEN * len(self.coalitions) if self.least < len(self.coalitions) else 0
        if self._chosen == len(self._rows) < most_chosen:
            found = self.inner.ask(most)
            self._chosen += len(found)
        if not len(found):
            left = np.setdiff1d(np.arange(len(self.coalitions)), self._rows)
            found = self.coalitions[left[:most]]
        at = np.searchsorted(self._keys, pack(found), sorter=self._sorted)
        self._rows += self._sorted[at].tolist()
        return found

    def provenance(self) -> dict[str, Any]:
        """That of the estimator, or that all are asked for."""
        return self.inner.provenance() if self._told < self._chosen else {"sampler": "all"}

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths, and pass the estimator's own on."""
        if self._told < self._chosen:
            self.inner.tell(coalitions, worths, variances)
        self._told += len(coalitions)
        super().tell(coalitions, worths, variances)

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace all of them."""
        super().revise(worths, variances)
        if own := min(self._told, self._chosen):
            noise = None if variances is None else variances[..., :own]
            self.inner.revise(worths[..., :own], noise)

    def estimate(self, until: float = inf) -> Estimate:
        """The estimator's, or the exact values of all worths."""
        if not self.complete:
            return self.inner.estimate(until)
        first, noise = np.unique(self._rows[: self._told], return_index=True)[1], self.noise()
        found = Measured(self.worths()[..., first], None if noise is None else noise[..., first])
        self.valuation = self.reading(found)
        return _as_estimate(self.valuation)


def _as_estimate(found: Valuation) -> Estimate:
    covariance = found.covariance
    if covariance is None:
        covariance = np.zeros((*found.values.shape, len(found.players)))
    return Estimate(found.values, covariance, found.method)


def one_by_one(problem: Problem) -> bool:
    """Whether worths are to be found one by one, and what ends that should leave an estimate.

    So it is where a service is asked, and where time is limited, unless they are very few.
    """
    game, limited = problem.game, problem.options.seconds is not None
    by_worths = type(game).table is Game.table or isinstance(game, FunctionGame)
    local = limited and by_worths and game.traits.device is None
    service, source = game.traits.service, problem.source
    if source.evaluated or source.tableless or not (service is not None or local):
        return False
    return len(game.players) > FEWEST or (service is not None and service.auto)


def from_all(
    problem: Problem,
    criterion: str,
    exact: Callable[[Problem], Valuation],
    estimator: Callable[[Problem], Estimator],
    coalitions: BoolArray | None = None,
) -> Valuation:
    """The exact valuation, or an estimate if that ends early and the options permit one.

    It is read from the table of all worths, or from those of these coalitions alone. An error or an
    interrupt carries an estimate as its ``partial``.
    """
    posed = replace(problem, source=problem.source.estimating()).changed({"sampler": "auto"})
    service, count = problem.game.traits.service, len(problem.game.players)
    options = replace(problem.options, each_round=False)
    repeats = service is not None and service.auto
    if not repeats:
        # Which are for estimates, and for answers that may be repeated; and so is time, if they must not be.
        # All worths are within the budget, though an estimator may ask for some twice.
        options = replace(options, tolerance=None, budget=None)
        options = replace(options, seconds=None) if options.exact else options
    last: Standing | None = None
    with problem.evaluating() as evaluator:
        before = 0 if problem.evaluator is None else evaluator.evaluations

        def reading(found: Measured) -> Valuation:
            # What repeats have left of the tolerance is said of them.
            own = problem.changed({"tolerance": None}) if repeats else problem
            if coalitions is not None:
                valuation = exact(replace(own, evaluator=evaluator))
                return replace(valuation, evaluations=evaluator.evaluations - before)
            problem.source.hold(found, evaluator.spent)
            return exact(replace(own))  # whatever it had worked out of other worths

        every = coalitions_in(np.arange(2**count), count) if coalitions is None else coalitions
        whole = Whole(every, estimator(posed), reading)
        try:
            for standing in run(problem.game, whole, options, evaluator):
                last = standing
            if whole.valuation is None and (options.exact or not problem.options.estimates):
                assert last is not None
                raise evaluator.stopped("exact values need all worths", last.stop)
        except (WorthError, KeyboardInterrupt) as error:
            if last is not None:
                # An interrupt takes any attribute.
                error.partial = written(posed, criterion, last)  # type: ignore[union-attr]
            raise
    assert last is not None
    found, wanted = whole.valuation, problem.options.tolerance
    if found is None:
        if not (repeats or wanted is None or is_settled(last.estimate, wanted)):
            last = replace(last, stop=f"{last.stop}, before the tolerance was met")
        return written(posed, criterion, last)
    if not repeats:
        return found
    return replace(found, stops=np.asarray(np.strings.add(found.stops, f"; {last.stop}")))


def worths_of(problem: Problem, coalitions: BoolArray, what: str) -> tuple[Measured, Spent]:
    """The worths of these coalitions alone, for ``what``, and what was evaluated for them."""
    before = 0 if problem.evaluator is None else problem.evaluator.evaluations
    with problem.evaluating() as evaluator:
        found = evaluator.known(coalitions)
        if found.worths.shape[-1] < len(coalitions):
            evaluator.refuse_auto()
            check_time(evaluator, coalitions, len(coalitions))
            found = evaluator.measure(coalitions)
        if found.worths.shape[-1] < len(coalitions):
            raise evaluator.stopped(f"{what} need {len(coalitions):,} worths")
        evaluator.refuse_fallbacks()
    return found, replace(evaluator.spent, evaluations=evaluator.evaluations - before)
