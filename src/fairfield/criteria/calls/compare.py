"""Several criteria on one game, sharing its worths and its log Z."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

import numpy as np

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Game, Players
from fairfield.criteria.calls.together import estimated_together
from fairfield.criteria.criterion import USUAL, Call, Given, call_of
from fairfield.estimation.received import ends
from fairfield.estimation.whole import from_all
from fairfield.evaluation.options import Keywords, Options
from fairfield.evaluation.outcomes import WorthError
from fairfield.problem import Problem, resolve
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

Criteria: TypeAlias = Sequence[Given] | Mapping[str, Given]
# The options that one criterion of a comparison may have for itself.
OF_ONE = ("sampler", "decoupling")


def stream(criterion: Given, game: Any, *arguments: Any, **keywords: Any) -> Iterator[Valuation]:
    """The valuations of a criterion as evaluations come in, the last being its answer.

    What follows the game is handed to the criterion. Under a budget, a tolerance or a time
    there is one valuation after each round of evaluations, so that one may stop at will.

    >>> import fairfield as ff
    >>> def worth(S):
    ...     return S.any(axis=1) + 0.1 * S.sum(axis=1)
    >>> for v in ff.stream("banzhaf", worth, players=12, budget=400):
    ...     last = v
    >>> last.stop
    'used the budget of 400 coalitions; 400 worths are explained to a hundred-thousandth; what fewer than 1 coalition in 133 shows may be missing'
    """
    yield from call_of(criterion, *arguments, **keywords).rounds(game, each_round=True)


def compare(
    game: Any,
    *,
    criteria: str | Criteria = USUAL,
    players: Players | None = None,
    temperature: Temperature | None = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Comparison:
    """The values of the players by several criteria, side by side.

    Criteria are names, the functions of this package (with arguments of their own as
    ``functools.partial``), functions of your own that take a game (and a temperature, if they
    like) and return a valuation, or a mapping from labels to these. The worths are evaluated
    once, log Z is summed once; a budget is that of the whole call: an equal share goes to coalitions
    by size, which serve all values read along the diagonal, and to draws for each criterion that is read
    elsewhere, as the index is, which uses all that were evaluated before. A criterion may have a temperature, a sampler and ``decoupling`` of its
    own; all other options are those of the call.

    Where no criterion needs a temperature, the default one is left out if it would take more
    worths than the values do, as beside ``leave_one_out`` alone, and for a single criterion of features.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> both = ff.compare([0, 1, 1, 5], temperature=1, criteria=["banzhaf", ff.shapley])
    >>> both["shapley"].values
    array([2.5, 2.5])
    """
    return compare_with_worths(
        game, criteria=criteria, players=players, temperature=temperature, **options
    )[0]


def compare_with_worths(
    game: Any,
    *,
    criteria: str | Criteria = USUAL,
    players: Players | None = None,
    temperature: Temperature | None = OWN_SCALE,
    **options: Unpack[Keywords],
) -> tuple[Comparison, Game | None]:
    """A comparison, and its game with all worths (a table or a closed form) for other results.

    None takes the place of the game where not all worths are known.
    """
    problem = resolve(game, players, temperature, options)
    found = compared(calls_of(criteria), problem, criteria)
    return found, problem.played() if problem.source.evaluated else None


def calls_of(criteria: str | Criteria) -> list[Call]:
    """The calls of the criteria that were listed, at least one."""
    if isinstance(criteria, str):
        criteria = [criteria]
    if not len(criteria):
        raise ValueError("no criteria were given; name at least one")
    listed = criteria.values() if isinstance(criteria, Mapping) else criteria
    calls = [call_of(each) for each in listed]
    for call in calls:
        _check_shared(call)
    return calls


def _check_shared(call: Call) -> None:
    """Refuse options of one criterion that all of them share."""
    Options().changed(call.options)  # refuses what is no option at all
    given = [name for name in call.options if name not in OF_ONE]
    if call.players is not None:
        given.append("players")
    if given:
        raise ValueError(
            f"{given[0]}= was given to {call.criterion.label} alone, but criteria side by side "
            f"share it; pass {given[0]}= beside criteria="
        )


def compared(calls: list[Call], problem: Problem, criteria: str | Criteria) -> Comparison:
    """The valuations of a problem by these criteria, under the labels of a mapping or their names.

    An error or an interrupt carries the comparison of what was found as its ``partial``.
    """
    shared = [call.criterion for call in calls if call.temperature is None]
    problem = replace(problem, optional=all(each.temperature is None for each in shared))
    if problem.given is OWN_SCALE and problem.optional:
        problem = _at_no_expense(calls, problem)
    labels = list(criteria) if isinstance(criteria, Mapping) else None
    found: dict[int, Valuation] = {}

    def comparison(evaluations: int | None = None) -> Comparison:
        valuations: dict[str, Valuation] = {}
        for at in sorted(found):
            label = found[at].criterion if labels is None else labels[at]
            name, count = label, 2
            while name in valuations:
                name, count = f"{label} ({count})", count + 1
            valuations[name] = found[at]
        return Comparison(valuations, evaluations, time.perf_counter() - problem.started)

    try:
        return comparison(_all(calls, problem, found))
    except (WorthError, KeyboardInterrupt) as error:
        # An interrupt takes any attribute.
        error.partial = comparison() if found else None  # type: ignore[union-attr]
        raise


def _at_no_expense(calls: list[Call], problem: Problem) -> Problem:
    """The problem without its temperature, where nobody asks for it or it alone needs all worths."""
    without = problem.at(None)
    # Whoever explains a model by Shapley's values alone has no law of coalitions in mind.
    if len(calls) == 1 and problem.game.info.noun == "feature":
        return without
    needed = any(call.criterion.needs_all(call.problem(without)) for call in calls)
    return problem if needed else without


def _all(calls: list[Call], problem: Problem, found: dict[int, Valuation]) -> int:
    """Finds the valuations by all of them, all checked before the first; returns the worths evaluated."""
    if problem.estimated:
        return estimated_together(calls, problem, found)
    posed = {at: call.problem(problem) for at, call in enumerate(calls)}
    # Where all worths are read, a criterion that needs a few of them finds them there.
    order = sorted(posed, key=lambda at: not calls[at].criterion.needs_all(posed[at]))

    def exact(base: Problem) -> Valuation:
        for at in order:
            # Criteria that share worths do not share the clock.
            own = replace(base, started=time.perf_counter())
            found[at] = calls[at].criterion.exact(calls[at].problem(own))
        return found[order[0]]

    few = [at for at in order if calls[at].criterion.coalitions_read(posed[at]) is not None]
    if len(few) == len(order):
        with problem.evaluating() as evaluator:
            exact(replace(problem, evaluator=evaluator))
            return evaluator.evaluations
    for at in order:
        if at in few or not calls[at].criterion.leaves_estimates(posed[at]):
            continue
        if problem.game.traits.service is None and not problem.options.exact:
            return _in_time(calls, problem, found, at, exact)
        # It chooses the order in which a service is asked, so that any beginning is an estimate.
        insisting = posed[at].changed({"exact": True})
        criterion = calls[at].criterion
        try:
            first = from_all(
                insisting, criterion.label, lambda _: exact(problem), criterion.estimator
            )
        except (WorthError, KeyboardInterrupt) as error:
            partial = getattr(error, "partial", None)
            found |= {} if partial is None else {at: partial}
            raise
        found[order[0]] = first
        break
    else:
        exact(problem)
    return max(each.evaluations for each in found.values())


def _in_time(
    calls: list[Call],
    problem: Problem,
    found: dict[int, Valuation],
    at: int,
    exact: Callable[[Problem], Valuation],
) -> int:
    """Exact valuations if all worths can be found in time, else estimates.

    They are asked for in the order of the criterion ``at``, so that a beginning serves, too.
    """
    criterion, limit, count = (
        calls[at].criterion,
        problem.options.seconds,
        len(problem.game.players),
    )
    assert limit is not None  # else worths are found all at once
    until = problem.started + limit
    single = np.eye(count, dtype=bool)
    first = np.concatenate([ends(count), single, ~single])  # what estimates begin with
    with problem.evaluating() as evaluator:
        shared, before = replace(problem, evaluator=evaluator), time.perf_counter()
        evaluator.measure(first, until=until)
        now = time.perf_counter()
        if (now - before) * (2**count / len(first) - 1) <= until - now:
            posed = calls[at].problem(shared.changed({"seconds": until - now}))
            from_all(posed, criterion.label, lambda _: exact(problem), criterion.estimator)
        if not problem.source.evaluated:
            estimated_together(calls, replace(shared, source=problem.source.estimating()), found)
        return evaluator.evaluations
