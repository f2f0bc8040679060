"""Several criteria estimated from one budget, on coalitions that serve all of them.

Shapley's and Banzhaf's values are read from one design of pairs. The variational criteria
adopt these pairs, and each other's draws, before they draw coalitions of their own near the
points at which they are read. Every worth is evaluated once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Any

from fairfield.boltzmann.temperature import scale_of
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.criteria.criterion import Call
from fairfield.estimation.adaptive import Draws
from fairfield.estimation.loop import Estimate, Estimator, is_settled, run, written
from fairfield.estimation.pairs import Pairs, pairs_for
from fairfield.estimation.pool import Pool
from fairfield.estimation.samplers.paired import Paired
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options, Separation
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


def estimated_together(calls: list[Call], problem: Problem) -> tuple[list[Valuation], int]:
    """The valuations by these criteria and the worths evaluated, each criterion checked before the first worth is evaluated."""
    sampled = _estimators(calls, problem)
    paired = {at: each for at, each in sampled.items() if isinstance(each, Paired)}
    # Those that settle a pending temperature go before those that need it.
    others = sorted(
        (at for at in sampled if at not in paired),
        key=lambda at: not isinstance(sampled[at], Draws),
    )
    several = _together(list(paired.values()), [sampled[at] for at in others], problem)
    parts: list[Estimator] = [sampled[at] for at in others]
    if several is not None:
        parts.insert(0, several)
    limits = _Limits.of(problem, parts, exact=len(calls) - len(sampled))
    found: dict[int, Valuation] = {}
    adopted: list[Pairs | Pool] = []
    with Evaluator(problem.game, problem.options) as evaluator:
        problem = replace(problem, evaluator=evaluator)
        if several is not None:
            *_, standing = run(problem.game, several, limits.next(), evaluator)
            adopted.append(several.pairs)
            problem = several.settle(problem)
            for at, estimate in zip(paired, several.estimates, strict=False):
                own = replace(standing, estimate=estimate)
                found[at] = written(calls[at].problem(problem), calls[at].criterion.label, own)
        for at in others:
            criterion, posed = calls[at].criterion, calls[at].problem(problem)
            estimator = criterion.estimator(posed)
            if isinstance(estimator, Draws):
                estimator.adopt(adopted)
            *_, standing = run(problem.game, estimator, limits.next(), evaluator)
            found[at] = written(posed, criterion.label, standing)
            if isinstance(estimator, Draws):
                adopted.append(estimator.pool)
                problem = problem.at(found[at].temperature)
        for at, call in enumerate(calls):
            if at not in sampled:
                found[at] = call.criterion.exact(call.problem(problem))
    return [found[at] for at in range(len(calls))], evaluator.evaluations


def _estimators(calls: list[Call], problem: Problem) -> dict[int, Estimator]:
    """The estimators of the criteria that are estimated, all arguments checked."""
    found = {}
    for at, call in enumerate(calls):
        try:
            posed = call.problem(problem)
        except ValueError:
            if problem.pending is None:
                raise
            # Its temperature will have been settled by another criterion.
            posed = call.problem(problem.at(1.0))
        if call.criterion.is_estimated(posed):
            found[at] = call.criterion.estimator(posed)
    return found


@dataclass
class _Several:
    """Estimators that read the same pairs: what one is told, all are told."""

    estimators: list[Paired]
    tolerance: float | Separation | None
    least: int
    estimates: list[Estimate] = field(default_factory=list)

    @property
    def pairs(self) -> Pairs:
        """The pairs that they share."""
        return self.estimators[0].pairs

    def ask(self, most: int) -> BoolArray:
        """The next pairs."""
        return self.pairs.ask(most)

    def provenance(self) -> dict[str, Any]:
        """Which pairs, and the seed they come from."""
        return self.estimators[0].provenance()

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths with the pairs."""
        self.pairs.tell(coalitions, worths, variances)

    def estimate(self, until: float = inf) -> Estimate:
        """The estimates of all; returned is one that is not settled yet, if there is one."""
        self.estimates = [each.estimate(until) for each in self.estimators]
        if self.tolerance is None:
            return self.estimates[0]
        settled = [is_settled(each, self.tolerance) for each in self.estimates]
        return self.estimates[settled.index(min(settled))]

    def settle(self, problem: Problem) -> Problem:
        """The problem, a pending temperature settled by Banzhaf's values."""
        if problem.pending is None:
            return problem
        values = self.estimates[self.pairs.criteria.index("banzhaf")].values
        return problem.at(problem.pending.factor * scale_of(values))


def _together(paired: list[Paired], others: list[Estimator], problem: Problem) -> _Several | None:
    """The estimators that read pairs, on one design; Banzhaf's too where it settles T."""
    names = [each.criterion for each in paired]
    draws = any(isinstance(each, Draws) for each in others)
    if problem.pending is not None and "banzhaf" not in names and (names or not draws):
        names = [*names, "banzhaf"]
    if not names:
        return None
    distinct = list(dict.fromkeys(names))
    pairs = pairs_for(problem, distinct)
    readers = [each.on(pairs) for each in paired]
    readers += [Paired(name, pairs) for name in names[len(paired) :]]
    return _Several(readers, problem.options.tolerance, max(each.least for each in readers))


@dataclass
class _Limits:
    """Budget and time of a call, shared out evenly among the parts that are left."""

    options: Options
    least: list[int]
    budget: int | None
    until: float

    @classmethod
    def of(cls, problem: Problem, parts: list[Estimator], exact: int) -> _Limits:
        """The limits of a call; ``exact`` criteria need n + 2 worths, the same for all."""
        count, options = len(problem.game.players), problem.options
        least = [min(part.least, 2**count) for part in parts]
        needed = sum(least) + (count + 2 if exact else 0)
        if options.budget is not None and options.budget < needed:
            raise ValueError(
                f"{problem.game!r}: budget={options.budget:,} is too small for these criteria "
                f"together; at least {needed:,} coalitions are needed"
            )
        rest = None if options.budget is None else options.budget - (count + 2 if exact else 0)
        until = inf if options.seconds is None else problem.started + options.seconds
        return cls(options, least, rest, until)

    def next(self) -> Options:
        """The options of the next part."""
        parts, least = len(self.least), self.least.pop(0)
        changes: dict[str, Any] = {}
        if self.budget is not None:
            share = max(least, self.budget // parts)
            share = min(share, self.budget - sum(self.least))
            changes["budget"], self.budget = share, self.budget - share
        if self.options.seconds is not None:
            changes["seconds"] = max(1e-3, (self.until - perf_counter()) / parts)
        return replace(self.options, **changes)
