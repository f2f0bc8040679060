"""Several criteria on one game, sharing its worths and its log Z."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Players
from fairfield.criteria.banzhaf import Banzhaf
from fairfield.criteria.criterion import USUAL, Call, Given, call_of, rounds
from fairfield.estimation.loop import check_run
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem, resolve
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

Criteria: TypeAlias = Sequence[Given] | Mapping[str, Given]

# Criteria whose estimates settle a temperature that is relative to Banzhaf values.
SETTLING = ("variational_index", "banzhaf")


def stream(criterion: Given, game: Any, *arguments: Any, **keywords: Any) -> Iterator[Valuation]:
    """The valuations of a criterion as evaluations come in, the last being its answer.

    What follows the game is handed to the criterion. Under a budget, a tolerance or a time
    there is one valuation after each round of evaluations, so that one may stop at will.

    >>> import fairfield as ff
    >>> def worth(S):
    ...     return S.any(axis=1) + 0.1 * S.sum(axis=1)
    >>> for v in ff.stream("banzhaf", worth, players=12, budget=400):
    ...     certain = v.stop
    >>> certain
    'used the budget of 400 coalitions'
    """
    call = call_of(criterion, *arguments, **keywords, each_round=True)
    yield from rounds(call.criterion, call.resolve(game))


def compare(
    game: Any,
    *,
    criteria: str | Criteria = USUAL,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Comparison:
    """The values of the players by several criteria, side by side.

    Criteria are names, the functions of this package (with arguments of their own as
    ``functools.partial``), functions of your own that take a game (and a temperature, if they
    like) and return a valuation, or a mapping from labels to these. The worths are evaluated
    once, log Z is summed once.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> both = ff.compare([0, 1, 1, 5], temperature=1, criteria=["banzhaf", ff.shapley])
    >>> both["shapley"].values
    array([2.5, 2.5])
    """
    calls = calls_of(criteria)
    found = compared(calls, resolve(game, players, temperature, options))
    return (
        Comparison(dict(zip(criteria, found.values(), strict=True)))
        if isinstance(criteria, Mapping)
        else found
    )


def calls_of(criteria: str | Criteria) -> list[Call]:
    """The calls of the criteria that were listed, at least one."""
    if isinstance(criteria, str):
        criteria = [criteria]
    if not len(criteria):
        raise ValueError("no criteria were given; name at least one")
    return [call_of(each) for each in _listed(criteria)]


def _listed(criteria: Criteria) -> Sequence[Given]:
    return list(criteria.values()) if isinstance(criteria, Mapping) else criteria


def compared(calls: list[Call], problem: Problem) -> Comparison:
    """The valuations of a problem by these criteria, under their names."""
    valuations: dict[str, Valuation] = {}
    for valuation in _all(calls, problem):
        name, count = valuation.criterion, 2
        while name in valuations:
            name, count = f"{valuation.criterion} ({count})", count + 1
        valuations[name] = valuation
    return Comparison(valuations)


def _all(calls: list[Call], problem: Problem) -> list[Valuation]:
    """The valuations by all of them, at one temperature; each is checked before the first worth.

    Where a relative temperature has to be estimated, those go first that settle it.
    """
    _check(calls, problem)
    order = list(range(len(calls)))
    if problem.pending is not None:
        order.sort(key=lambda at: calls[at].criterion.name not in SETTLING)
        if calls[order[0]].criterion.name not in SETTLING:
            problem = problem.at(_last(Call(Banzhaf()), problem).temperature)
    found: dict[int, Valuation] = {}
    for at in order:
        found[at] = _last(calls[at], problem)
        if problem.pending is not None:
            problem = problem.at(found[at].temperature)
    return [found[at] for at in range(len(calls))]


def _last(call: Call, problem: Problem) -> Valuation:
    """The valuation of one of the criteria, whose clock starts now."""
    posed = replace(call.problem(problem), started=time.perf_counter())
    for valuation in rounds(call.criterion, posed):
        last = valuation
    return last


def _check(calls: list[Call], problem: Problem) -> None:
    """Refuse what any of the criteria would refuse."""
    for call in calls:
        settled = problem
        if problem.pending is not None and call.criterion.name not in SETTLING:
            # Its temperature will have been settled by another criterion.
            settled = problem.at(1.0)
        posed = call.problem(settled)
        if call.criterion.is_estimated(posed):
            check_run(posed.game, call.criterion.estimator(posed), posed.options)
