"""Several criteria estimated from one budget, on coalitions that serve all of them.

Shapley's and Banzhaf's values are read from one design of pairs. The variational criteria
adopt these pairs, and each other's draws, before they draw coalitions of their own near the
points at which they are read. Every worth is evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from time import perf_counter

from fairfield.boltzmann.temperature import OWN_SCALE
from fairfield.criteria.criterion import Call
from fairfield.estimation.adaptive import Draws
from fairfield.estimation.loop import Estimate, Estimator, is_settled, run, written
from fairfield.estimation.pairs import Pairs, pairs_for
from fairfield.estimation.pool import Pool
from fairfield.estimation.samplers.paired import Paired
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Keywords, Separation
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


def estimated_together(calls: list[Call], problem: Problem) -> tuple[list[Valuation], int]:
    """The valuations by these criteria and the worths evaluated; all are checked before."""
    sampled = _estimators(calls, problem)
    paired = {at: each for at, each in sampled.items() if isinstance(each, Paired)}
    # Those that settle a pending temperature go before those that need it.
    others = sorted(
        (at for at in sampled if at not in paired),
        key=lambda at: not isinstance(sampled[at], Draws),
    )
    apart = [sampled[at] for at in others]
    shared = {at for at, call in enumerate(calls) if call.temperature is None}
    settling = {at for at in others if at in shared and isinstance(sampled[at], Draws)}
    # Exact criteria do without a temperature that nobody asked for.
    waiting = shared if problem.given is not OWN_SCALE else shared & sampled.keys()
    by_pairs = bool(paired) or (bool(waiting) and not settling)
    several = _together(list(paired.values()), problem, by_pairs)
    parts = apart if several is None else [several, *apart]
    limits = _limits(problem, parts, exact=len(sampled) < len(calls))
    found: dict[int, Valuation] = {}
    adopted: list[Pairs | Pool] = []
    with Evaluator(problem.game, problem.options) as evaluator:
        problem = replace(problem, evaluator=evaluator)
        if several is not None:
            options = problem.changed(next(limits)).options
            *_, standing = run(problem.game, several, options, evaluator)
            adopted.append(several.pairs)
            problem = several.settle(problem)
            for at, estimate in zip(paired, several.estimates, strict=False):
                own = replace(standing, estimate=estimate)
                found[at] = written(calls[at].problem(problem), calls[at].criterion.label, own)
        for at in others:
            criterion = calls[at].criterion
            posed = calls[at].problem(problem.changed(next(limits)))
            estimator = criterion.estimator(posed)
            if isinstance(estimator, Draws):
                estimator.adopt(adopted)
            *_, standing = run(problem.game, estimator, posed.options, evaluator)
            found[at] = written(posed, criterion.label, standing)
            if isinstance(estimator, Draws):
                adopted.append(estimator.pool)
            if at in settling and problem.pending is not None:
                problem = problem.at(found[at].temperature)
        for at, call in enumerate(calls):
            if at not in sampled:
                found[at] = call.criterion.exact(call.problem(problem))
    return [found[at] for at in range(len(calls))], evaluator.evaluations


def _estimators(calls: list[Call], problem: Problem) -> dict[int, Estimator]:
    """The estimators of the criteria that are estimated, all arguments checked."""
    posed = [call.problem(problem) for call in calls]
    return {
        at: call.criterion.estimator(each)
        for at, (call, each) in enumerate(zip(calls, posed, strict=True))
        if call.criterion.is_estimated(each)
    }


class _Several(Paired):
    """Criteria that are read from the same pairs."""

    def __init__(self, readers: list[Paired], tolerance: float | Separation | None) -> None:
        super().__init__(readers[0].criterion, readers[0].pairs)
        self.readers, self.tolerance = readers, tolerance
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
        names = [each.criterion for each in self.readers]
        return problem.settled(self.estimates[names.index("banzhaf")].values)


def _together(paired: list[Paired], problem: Problem, settles: bool) -> _Several | None:
    """The estimators that read pairs, on one design; Banzhaf's too where that settles T."""
    names = [each.criterion for each in paired]
    if problem.pending is not None and "banzhaf" not in names and settles:
        names = [*names, "banzhaf"]
    if not names:
        return None
    distinct = list(dict.fromkeys(names))
    pairs = pairs_for(problem, distinct)
    readers = [each.on(pairs) for each in paired]
    readers += [Paired(name, pairs) for name in names[len(paired) :]]
    return _Several(readers, problem.options.tolerance)


def _limits(problem: Problem, parts: list[Estimator], exact: bool) -> Iterator[Keywords]:
    """Budget and time of each part, shared out evenly among the parts that are left.

    Exact criteria need n + 2 worths, the same for all.
    """
    count, options = len(problem.game.players), problem.options
    least = [min(part.least, 2**count) for part in parts]
    apart = count + 2 if exact else 0
    if options.budget is not None and options.budget < sum(least) + apart:
        raise ValueError(
            f"{problem.game!r}: budget={options.budget:,} is too small for these criteria "
            f"together; at least {sum(least) + apart:,} coalitions are needed"
        )

    def shares() -> Iterator[Keywords]:
        used = apart
        for k, fewest in enumerate(least):
            changes: Keywords = {}
            if options.budget is not None:
                left = options.budget - used
                share = max(fewest, left // (len(least) - k))
                changes["budget"] = share = min(share, left - sum(least[k + 1 :]))
                used += share
            if options.seconds is not None:
                left_s = problem.started + options.seconds - perf_counter()
                changes["seconds"] = max(1e-3, left_s / (len(least) - k))
            yield changes

    return shares()
