"""Several criteria on one game, sharing its worths and its log Z."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Game, Players
from fairfield.criteria.criterion import USUAL, Call, Given, call_of
from fairfield.criteria.together import estimated_together
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem, resolve
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

Criteria: TypeAlias = Sequence[Given] | Mapping[str, Given]


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
    yield from call_of(criterion, *arguments, **keywords, each_round=True).rounds(game)


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
    once, log Z is summed once; a budget is that of the whole call, spent on coalitions that
    serve all criteria.

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
    found = compared(calls_of(criteria), problem)
    if isinstance(criteria, Mapping):
        found = replace(found, valuations=dict(zip(criteria, found.values(), strict=True)))
    return found, problem.played() if problem.source.evaluated else None


def calls_of(criteria: str | Criteria) -> list[Call]:
    """The calls of the criteria that were listed, at least one."""
    if isinstance(criteria, str):
        criteria = [criteria]
    if not len(criteria):
        raise ValueError("no criteria were given; name at least one")
    listed = criteria.values() if isinstance(criteria, Mapping) else criteria
    return [call_of(each) for each in listed]


def compared(calls: list[Call], problem: Problem) -> Comparison:
    """The valuations of a problem by these criteria, under their names."""
    needed = any(call.criterion.temperature is not None for call in calls)
    problem = replace(problem, optional=not needed)
    valuations: dict[str, Valuation] = {}
    found, evaluations = _all(calls, problem)
    for valuation in found:
        name, count = valuation.criterion, 2
        while name in valuations:
            name, count = f"{valuation.criterion} ({count})", count + 1
        valuations[name] = valuation
    return Comparison(valuations, evaluations, time.perf_counter() - problem.started)


def _all(calls: list[Call], problem: Problem) -> tuple[list[Valuation], int]:
    """The valuations by all of them and the worths evaluated; all are checked before the first."""
    if problem.estimated:
        return estimated_together(calls, problem)
    posed = [call.problem(problem) for call in calls]
    # Criteria that share worths do not share the clock.
    found = [
        call.criterion.exact(replace(each, started=time.perf_counter()))
        for call, each in zip(calls, posed, strict=True)
    ]
    return found, max(each.evaluations for each in found)
