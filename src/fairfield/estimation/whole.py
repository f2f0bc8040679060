"""All worths of a small game, in an order in which any beginning of them allows an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import coalitions_in, rows_of
from fairfield.core.game import Game, Measured
from fairfield.estimation.loop import Estimate, Estimator, Standing, run, written
from fairfield.estimation.received import Received
from fairfield.evaluation.outcomes import WorthError
from fairfield.games.given.function import FunctionGame
from fairfield.multilinear.choose import FEWEST
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# The share of all coalitions that an estimator chooses; the rest come as they are numbered, since
# the last few would be long in being drawn.
CHOSEN = 0.5


class Whole(Received):
    """Asks for all coalitions, first those that an estimator asks for.

    Its estimate is that estimator's until all worths are there, then the exact ``reading`` of their
    table, which is kept as the ``valuation``.
    """

    def __init__(
        self, players: int, estimator: Estimator, reading: Callable[[Measured], Valuation]
    ) -> None:
        super().__init__()
        self.players, self.inner, self.reading = players, estimator, reading
        self.least = min(estimator.least, 2**players)
        self.shares = getattr(estimator, "shares", None)
        self.valuation: Valuation | None = None
        # Rows of the table in the order asked for, and how many of them the estimator chose.
        self._rows: list[int] = []
        self._chosen = self._told = 0

    def ask(self, most: int) -> BoolArray:
        """The estimator's coalitions, then all others."""
        found = np.empty((0, self.players), dtype=bool)
        if self._chosen == len(self._rows) < CHOSEN * 2**self.players:
            found = self.inner.ask(most)
            self._chosen += len(found)
        if not len(found):
            left = np.setdiff1d(np.arange(2**self.players), self._rows)
            found = coalitions_in(left[:most], self.players)
        self._rows += rows_of(found).tolist()
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
        own = min(self._told, self._chosen)
        self.inner.revise(worths[..., :own], None if variances is None else variances[..., :own])

    def estimate(self, until: float = inf) -> Estimate:
        """The estimator's, or the exact values of the whole table."""
        rows, first = np.unique(self._rows[: self._told], return_index=True)
        if len(rows) < 2**self.players:
            return self.inner.estimate(until)
        noise = self.noise()
        table = Measured(self.worths()[..., first], None if noise is None else noise[..., first])
        found = self.valuation = self.reading(table)
        covariance = found.covariance
        if covariance is None:
            covariance = np.zeros((*found.values.shape, self.players))
        return Estimate(found.values, covariance, found.method)


def asks_for_all(problem: Problem, needed: Callable[[Problem], int]) -> bool:
    """Whether all worths are to be found one by one, and what ends that should leave an estimate.

    So it is where a service is asked, and where time is limited, unless fewer worths are ``needed``.
    """
    game, limited = problem.game, problem.options.seconds is not None
    by_worths = type(game).table is Game.table or isinstance(game, FunctionGame)
    local = limited and by_worths and game.traits.device is None
    one_by_one = (game.traits.service is not None or local) and not problem.source.evaluated
    count = len(game.players)
    return one_by_one and problem.source.tabled and count > FEWEST and needed(problem) == 2**count


def from_all(
    problem: Problem,
    criterion: str,
    exact: Callable[[Problem], Valuation],
    estimator: Callable[[Problem], Estimator],
) -> Valuation:
    """The exact valuation, or an estimate if that ends early and the options permit one.

    An error or an interrupt carries an estimate as its ``partial``.
    """
    posed = replace(problem, source=problem.source.estimating()).changed({"sampler": "auto"})
    service = problem.game.traits.service
    options = replace(problem.options, each_round=False)
    if service is None or not service.auto:
        # Which is for estimates, and for answers that may be repeated.
        options = replace(options, tolerance=None)
    last: Standing | None = None
    with problem.evaluating() as evaluator:

        def reading(found: Measured) -> Valuation:
            return exact(replace(problem, source=problem.source.holding(found, evaluator.spent)))

        whole = Whole(len(problem.game.players), estimator(posed), reading)
        try:
            for standing in run(problem.game, whole, options, evaluator):
                last = standing
            insisted = options.exact or not options.estimates
            if whole.valuation is None and evaluator.ended is not None and insisted:
                raise evaluator.stopped("exact values need all worths")
        except (WorthError, KeyboardInterrupt) as error:
            if last is not None:
                # An interrupt takes any attribute.
                error.partial = written(posed, criterion, last)  # type: ignore[union-attr]
            raise
    if whole.valuation is not None:
        return whole.valuation
    assert last is not None
    return written(posed, criterion, last)
