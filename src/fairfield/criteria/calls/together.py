"""Several criteria estimated from one budget, on coalitions that serve all of them.

Shapley's, Banzhaf's and other semivalues are read from one design by size. The variational criteria
adopt these coalitions, and each other's draws, before they draw coalitions of their own near the
points at which they are read. Every worth is evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from time import perf_counter

import numpy as np

from fairfield.boltzmann.temperature import OWN_SCALE
from fairfield.criteria.criterion import Call
from fairfield.estimation.along import Along
from fairfield.estimation.at_points.adaptive import Draws
from fairfield.estimation.at_points.pool import Pool
from fairfield.estimation.designs.design import Design
from fairfield.estimation.loop import Estimate, Estimator, is_settled, run, written
from fairfield.estimation.samplers.values import Kind, Values, design_of
from fairfield.evaluation.kept import pack
from fairfield.evaluation.options import Keywords, Separation
from fairfield.evaluation.remote.calls import Calls
from fairfield.evaluation.remote.purse import Purse
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


def estimated_together(calls: list[Call], problem: Problem, found: dict[int, Valuation]) -> int:
    """Finds the valuations by these criteria, all checked before; returns the worths evaluated."""
    sampled = _estimators(calls, problem)
    by_size = {at: each for at, each in sampled.items() if isinstance(each, Values)}
    # Those that settle a pending temperature go before those that need it.
    others = sorted(
        (at for at in sampled if at not in by_size),
        key=lambda at: not isinstance(sampled[at], Draws),
    )
    apart = [sampled[at] for at in others]
    shared = {at for at, call in enumerate(calls) if call.temperature is None}
    settling = {at for at in others if at in shared and isinstance(sampled[at], Draws)}
    # Exact criteria do without a temperature that nobody asked for.
    waiting = shared if problem.given is not OWN_SCALE else shared & sampled.keys()
    settles = bool(by_size) or (bool(waiting) and not settling)
    several = _together(list(by_size.values()), problem, settles)
    parts = apart if several is None else [several, *apart]
    exact = [call for at, call in enumerate(calls) if at not in sampled]
    adopted: list[Design | Pool] = []
    with problem.evaluating() as evaluator:
        if exact:
            evaluator.refuse_auto()
        limits = _limits(problem, parts, _read_exactly(exact, problem), evaluator.calls)
        problem = replace(problem, evaluator=evaluator)
        if several is not None:
            options = problem.changed(next(limits)).options
            for standing in run(problem.game, several, options, evaluator):
                settled = several.settle(problem)
                for at, estimate in zip(by_size, several.estimates, strict=False):
                    own = replace(standing, estimate=estimate)
                    found[at] = written(calls[at].problem(settled), calls[at].criterion.label, own)
            adopted.append(several.design)
            problem = settled
        for at in others:
            criterion = calls[at].criterion
            posed = calls[at].problem(problem.changed(next(limits)))
            estimator = criterion.estimator(posed)
            if isinstance(estimator, Draws):
                estimator.adopt(adopted)
            for standing in run(problem.game, estimator, posed.options, evaluator):
                found[at] = written(posed, criterion.label, standing)
            if isinstance(estimator, Draws):
                adopted.append(estimator.pool)
            if at in settling and problem.pending is not None:
                problem = problem.at(found[at].temperature)
        if evaluator.calls is not None:
            evaluator.calls.allow()
        for at, call in enumerate(calls):
            if at not in sampled:
                found[at] = call.criterion.exact(call.problem(problem))
    return evaluator.evaluations


def _read_exactly(calls: list[Call], problem: Problem) -> int:
    """How many worths the exact values of these criteria are read from together."""
    read = [call.criterion.coalitions_read(call.problem(problem)) for call in calls]
    few = [pack(each) for each in read if each is not None]
    return len(np.unique(np.concatenate(few))) if few else 0


def _estimators(calls: list[Call], problem: Problem) -> dict[int, Estimator]:
    """The estimators of the criteria that are estimated, all arguments checked."""
    posed = [call.problem(problem) for call in calls]
    return {
        at: call.criterion.estimator(each)
        for at, (call, each) in enumerate(zip(calls, posed, strict=True))
        if call.criterion.is_estimated(each)
    }


class _Several(Values):
    """Criteria that are read from the same coalitions."""

    def __init__(self, readers: list[Values], tolerance: float | Separation | None) -> None:
        first = readers[0]
        super().__init__(first.problem, first.kind, first.design)
        self.readers, self.tolerance = readers, tolerance
        self.least = max(each.least for each in readers)
        self.estimates: list[Estimate] = []

    def estimate(self, until: float = inf) -> Estimate:
        """The estimates of all; returned is one that is not settled yet, if there is one."""
        self.estimates = [each.estimate(until) for each in self.readers]
        if self.tolerance is None:
            return self.estimates[0]
        settled = [is_settled(each, self.tolerance) for each in self.estimates]
        return self.estimates[settled.index(min(settled))]

    def settle(self, problem: Problem) -> Problem:
        """The problem, a pending temperature settled by Banzhaf's values."""
        if problem.pending is None:
            return problem
        names = [each.kind.name for each in self.readers]
        return problem.settled(self.estimates[names.index("banzhaf")].values)


def _together(by_size: list[Values], problem: Problem, settles: bool) -> _Several | None:
    """The estimators that read coalitions by size, on one design; Banzhaf's too where that settles T."""
    readers = list(by_size)
    if problem.pending is not None and settles and "banzhaf" not in [r.kind.name for r in readers]:
        shares = Along.banzhaf(len(problem.game.players)).shares
        readers.append(Values(problem, Kind("banzhaf", shares)))
    if not readers:
        return None
    together = not all(each.helped for each in readers)
    design = design_of(problem, [each.kind for each in readers], together=together)
    return _Several([each.on(design) for each in readers], problem.options.tolerance)


def _limits(
    problem: Problem, parts: list[Estimator], apart: int, calls: Calls | None
) -> Iterator[Keywords]:
    """Budget, money and time of each part, shared out evenly among the parts that are left.

    Exact criteria need so many worths ``apart``.
    """
    count, options = len(problem.game.players), problem.options
    least = [int(min(part.least, 2**count)) for part in parts]
    needed = sum(least) + apart
    repeats = 1 if calls is None else calls.service.repeats
    price = None if calls is None else calls.service.price
    money = Purse(options.spend, price).room(needed * repeats) < needed * repeats
    for name, given, short in (
        ("budget", options.budget, options.budget is not None and options.budget < needed),
        ("spend", options.spend, money),
    ):
        if short:
            raise ValueError(
                f"{problem.game!r}: {name}={given:,.12g} is too small for these criteria together; at least "
                f"{needed:,} coalitions are needed"
            )

    def shares() -> Iterator[Keywords]:
        used = apart
        for k, fewest in enumerate(least):
            changes: Keywords = {}
            parts_left, later = len(least) - k, sum(least[k + 1 :])
            if options.budget is not None:
                left = options.budget - used
                changes["budget"] = own = min(max(fewest, left // parts_left), left - later)
                used += own
            if options.spend is not None and calls is not None:
                each = repeats * calls.purse.dearest
                money = options.spend - calls.purse.spent - each * apart
                calls.allow(max(each * fewest, money / parts_left), repeats * (later + apart))
            if options.seconds is not None:
                left_s = problem.started + options.seconds - perf_counter()
                changes["seconds"] = max(1e-3, left_s / parts_left)
            yield changes

    return shares()
