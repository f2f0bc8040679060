"""Estimates from a budget of coalitions: the loop of asking and telling.

Which coalitions to ask for, and what follows from their worths, is the business of an
estimator; the loop has the worths evaluated (stored, shared out, shown) and stops by budget,
tolerance or time, early enough for the last estimate to be made in time: under a time limit
estimates are timed as the sample grows. An estimator asks for the same coalitions given the
same seed and the same worths, so a run on a store repeats itself without an evaluation, and a
larger budget continues where a smaller one stopped.

A worth may be revised: by further answers of a noisy service, or where answers of an earlier run are
valued by another judge. Coalitions are asked for by the first worths of all, estimates are made of
the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import inf
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from fairfield.assemble import is_within, marginals, write
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Failures, Game
from fairfield.estimation.answered import Answered
from fairfield.estimation.over_rows import with_test_rows
from fairfield.estimation.pace import PATIENCE, Pace, check_time
from fairfield.evaluation.by_row import Coefficients, RowScores
from fairfield.evaluation.evaluator import Evaluator
from fairfield.evaluation.options import Options, Separation
from fairfield.evaluation.outcomes import INTERRUPTED, WorthError
from fairfield.evaluation.remote.purse import Purse
from fairfield.problem import Problem
from fairfield.results.display import joined
from fairfield.results.valuation import Valuation

# At most so many coalitions are asked for where nothing else limits them.
ENDLESS = 2**40
# Under a time limit an estimate is made, to see how long it takes, whenever the sample has grown by
# this factor, in at most this share of the time left.
TIMED_AGAIN, TIMING_SHARE = 2, 1 / 8
# No two estimates take quite the same time, so a little more is kept for the last.
SLACK = 1.25
# Why a run ends, until it is known how long it took.
OUT_OF_TIME = "out of time"


@dataclass(frozen=True)
class Estimate:
    """The values of the players as estimated so far, and their errors.

    ``values`` are (*batch, n), their ``covariance`` (*batch, n, n). ``warnings`` are sentences on
    why the errors are unreliable, ``remarks`` others that belong to why it stopped; ``more`` holds
    further fields of the valuation by name (empty, grand, marginals, elbo, steps, residual).
    ``linear`` makes the coefficients of worths in the values, where an estimate is linear in them.
    """

    values: FloatArray
    covariance: FloatArray
    method: str
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    linear: Callable[[], Coefficients] | None = None

    @property
    def stderr(self) -> FloatArray:
        """The standard errors of the values, (*batch, n)."""
        return np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))


class Estimator(Protocol):
    """Asks for coalitions, receives their worths, and estimates the values of the players."""

    # The fewest coalitions from which an estimate can be made.
    least: int

    def ask(self, most: int) -> BoolArray:
        """The next coalitions, at most so many; none if more would not help.

        They depend on the seed and the worths received so far alone; ``most`` only cuts them off.
        """
        ...

    def provenance(self) -> dict[str, Any]:
        """How the last coalitions were chosen, as plain data: sampler, seed, point."""
        ...

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Receive the worths (*batch, m) of the coalitions asked for, or of the first of them.

        ``variances`` are those of a noisy game's worths.
        """
        ...

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace all the worths received, in their order; the coalitions stay what they are."""
        ...

    def estimate(self, until: float = inf) -> Estimate:
        """The values as the worths received so far have them.

        What would not be done by ``until`` (of ``time.perf_counter``) is left out, where the
        estimate can do without it.
        """
        ...


@dataclass(frozen=True)
class Standing:
    """A run after a round: its estimate, and why it is the last, if it is.

    ``coalitions`` counts those the estimate uses, ``evaluations`` the worths that had to be
    evaluated for them in this run, ``failures`` the worths of the call that took a fallback
    so far, ``by_row`` what single test rows say of them.
    """

    estimate: Estimate
    coalitions: int
    evaluations: int
    stop: str | None
    failures: Failures
    by_row: RowScores | None


def run(
    game: Game, estimator: Estimator, options: Options, shared: Evaluator | None = None
) -> Iterator[Standing]:
    """Round after round of an estimator on a game, until a limit of the options is reached.

    Runs that are parts of one call share an evaluator, and so evaluate no coalition twice. A worth
    that fails ends the run with its error, after what can be said without it.
    """
    check_run(game, estimator.least, options)
    started = perf_counter()
    until = inf if options.seconds is None else started + options.seconds
    budget = ENDLESS if options.budget is None else options.budget
    timed, before = 0, 0 if shared is None else shared.evaluations
    pace, failed = Pace({"estimate": 0.0}), None
    with Evaluator(game, options) if shared is None else nullcontext(shared) as evaluator:
        known = Answered(evaluator, estimator)
        while True:
            coalitions = estimator.ask(max(0, budget - known.spent))
            if not known.used:
                check_time(evaluator, coalitions, estimator.least)
            deadline = until - SLACK * pace.expected("estimate", known.used + len(coalitions))
            # The first estimate is waited for, however short the time, and so is the rest of its
            # round if that takes no longer than anyone would wait.
            least = 0 if until == inf else max(0, estimator.least - known.used)
            wait = deadline
            try:
                if least:
                    evaluator.measure(coalitions[:least], estimator.provenance())
                    wait = max(deadline, started + PATIENCE)
                evaluator.measure(coalitions[least:], estimator.provenance(), wait)
            except WorthError as error:
                failed = error
            received = known.tell(coalitions, evaluator.known(coalitions))
            used = known.used
            if used < estimator.least:
                if failed is not None:
                    raise failed
                if evaluator.ended is not None:
                    raise evaluator.stopped(f"an estimate needs {estimator.least:,} coalitions")
                if not received:
                    raise AssertionError("the estimator asks for nothing, yet cannot estimate")
                continue
            ended = evaluator.ended or _ended(
                known, received or known.auto, deadline, options, evaluator.options.budget
            )
            if failed is not None:
                ended = f"ended by an error after {used:,} coalitions"
            wanted = ended is not None or options.tolerance is not None or options.each_round
            if not (wanted or known.auto) and (until == inf or used < TIMED_AGAIN * timed):
                continue
            known.revise()
            now, timed = perf_counter(), used
            # Worths that came late do not cost the estimate its own time.
            end = max(until, now + SLACK * pace.expected("estimate", used))
            try:
                with pace.timed("estimate", used):
                    estimate = estimator.estimate(
                        end if wanted else now + TIMING_SHARE * (until - now)
                    )
            except KeyboardInterrupt:
                # Whoever waits no longer gets what takes no time.
                estimate, wanted, ended = estimator.estimate(now), True, INTERRUPTED
            # Of a service without any repeat the noise is not known yet.
            measured = not known.auto or known.spent > used
            settled = _settled(estimate, options.tolerance, used) if measured else None
            if settled and game.traits.test_rows:
                settled += ", but for what other test rows would say"
            ended = settled or ended
            if known.auto and ended is None:
                try:
                    # As many as the round had, so that the next one is chosen by what they say.
                    most = max(received, known.spent // 2)
                    if not (known.repeat(estimate, most, budget, deadline) or received):
                        ended = evaluator.ended or _ended(known, 0, deadline, options, None)
                except WorthError as error:
                    failed, ended = error, f"ended by an error after {used:,} coalitions"
            if ended == OUT_OF_TIME:
                ended = _timed_out(options, perf_counter() - started, known)
            if ended is not None and settled is None and options.tolerance is not None:
                ended = f"{ended}, before the tolerance was met"
            if not wanted and ended is None:
                known.revise(leading=True)
                continue
            evaluator.refuse_fallbacks()
            evaluations = evaluator.evaluations - before
            facts = evaluator.failures, evaluator.by_row_of_all
            yield Standing(estimate, used, evaluations, ended, *facts)
            if failed is not None:
                raise failed
            if ended is not None:
                return
            known.revise(leading=True)


def estimated(problem: Problem, criterion: str, estimator: Estimator) -> Iterator[Valuation]:
    """Valuations after each round of an estimator; the last says why it stopped.

    The error of a worth that failed carries the last of them as its ``partial``, and so does an
    interrupt between rounds.
    """
    last = None
    try:
        for standing in run(problem.game, estimator, problem.options, problem.evaluator):
            yield (last := written(problem, criterion, standing))
    except (WorthError, KeyboardInterrupt) as error:
        error.partial = last  # type: ignore[union-attr]  # an interrupt takes any attribute
        raise


def written(problem: Problem, criterion: str, standing: Standing) -> Valuation:
    """The valuation of an estimate."""
    estimate = standing.estimate
    stop = standing.stop or f"under way after {standing.coalitions:,} coalitions"
    stop = joined([stop, *estimate.remarks, *estimate.warnings, *standing.failures.sentences()])
    found = dict(estimate.more)
    if "marginals" not in found:
        found |= marginals(problem, estimate.values, banzhaf=criterion == "banzhaf")
    # A tolerance is one of the draws: more of them tell no more of the test rows.
    covariance, method = estimate.covariance, estimate.method
    if problem.game.traits.test_rows:
        covariance, method = with_test_rows(covariance, method, estimate.linear, standing.by_row)
    return write(
        problem,
        criterion,
        estimate.values,
        covariance,
        standing.failures,
        method=method,
        stops=np.full(problem.game.batch, stop),
        evaluations=standing.evaluations,
        **found,
    )


def check_run(game: Game, least: int, options: Options) -> None:
    """Refuse limits under which nothing can be estimated, which takes at least so many coalitions."""
    least = min(least, 2 ** len(game.players))
    service, limit = game.traits.service, None
    if options.budget is not None and options.budget < least:
        limit = f"budget={options.budget:,}"
    # A store may have answers, and keeps those that are paid for.
    elif service is not None and options.spend is not None and options.store is None:
        calls = least * service.repeats
        if Purse(options.spend, service.price).room(calls) < calls:
            limit = f"spend={options.spend:g}"
    if limit is not None:
        raise ValueError(
            f"{game!r}: {limit} is too small to estimate anything; at least {least:,} coalitions are needed"
        )


def _ended(
    known: Answered, more: int | bool, deadline: float, options: Options, whole: int | None
) -> str | None:
    """The sentence that ends the run, if budget or time do, or no more would help."""
    unit = _unit(known)
    if options.budget is not None and known.spent >= options.budget:
        if whole is not None and whole > options.budget:
            return f"used {options.budget:,} {unit} of the budget of {whole:,}"
        return f"used the budget of {options.budget:,} {unit}"
    if perf_counter() >= deadline:
        return OUT_OF_TIME
    if more:
        return None
    # A part of a comparison may have enough by what the others used.
    own = f"{known.spent:,} {unit}" if known.spent else "the coalitions of the other criteria"
    return f"used {own}; no more {'came' if known.refused else 'would help'}"


def _timed_out(options: Options, taken: float, known: Answered) -> str:
    """That the time ended the run, and how long it took where that was longer."""
    asked, used = options.seconds or 0.0, f"{known.spent:,} {_unit(known)}"
    if taken <= max(1.2 * asked, asked + PATIENCE):
        return f"stopped after {asked:g} seconds and {used}"
    return f"stopped after {taken:.3g} seconds, {asked:g} were asked for, and {used}"


def _unit(known: Answered) -> str:
    return "answers" if known.auto else "coalitions"


def _settled(estimate: Estimate, tolerance: float | Separation | None, used: int) -> str | None:
    """The sentence that ends the run, if the tolerance is met."""
    if tolerance is None or not is_settled(estimate, tolerance):
        return None
    if isinstance(tolerance, Separation):
        which = "best" if tolerance.end == "top" else "worst"
        return f"separated the {which} {tolerance.count} players after {used:,} coalitions"
    return f"every 95 % interval is within ±{tolerance:g} after {used:,} coalitions"


def is_settled(estimate: Estimate, tolerance: float | Separation) -> bool:
    """Whether every game of the batch is known to within the tolerance.

    Errors that an estimate warns about settle nothing.
    """
    if estimate.warnings:
        return False
    return is_within(tolerance, estimate.values, estimate.stderr, estimate.covariance)
