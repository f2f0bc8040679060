"""Several criteria on one game, sharing its worths and its log Z."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Players
from fairfield.criteria.free_energy import free_energy_value
from fairfield.criteria.semivalues import banzhaf, leave_one_out, shapley
from fairfield.criteria.streamed import rounds_of
from fairfield.criteria.variational import variational_index
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem
from fairfield.results.comparison import Comparison
from fairfield.results.valuation import Valuation

Criterion: TypeAlias = Callable[..., Valuation]

Criteria: TypeAlias = Sequence[str | Criterion] | Mapping[str, str | Criterion]

CRITERIA: dict[str, Criterion] = {
    "variational_index": variational_index,
    "banzhaf": banzhaf,
    "shapley": shapley,
    "leave_one_out": leave_one_out,
    "free_energy_value": free_energy_value,
}
# What can tell Banzhaf's scale from a sample.
SETTLING = (variational_index, banzhaf)
USUAL = ("variational_index", "banzhaf", "shapley")


def criterion_of(given: str | Criterion) -> Criterion:
    """A criterion from its name, or the function itself."""
    if callable(given):
        return given
    if given not in CRITERIA:
        raise ValueError(f"there is no criterion {given!r}; choose from {', '.join(CRITERIA)}")
    return CRITERIA[given]


def stream(
    criterion: str | Criterion, game: Any, *given: Any, **keywords: Any
) -> Iterator[Valuation]:
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
    yield from rounds_of(criterion_of(criterion))(game, *given, **keywords)


def compare(
    game: Any,
    *,
    criteria: Criteria = USUAL,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Comparison:
    """The values of the players by several criteria, side by side.

    Criteria are names, functions that hand what they are given to a criterion, or a
    mapping from labels to these. The worths are evaluated once, log Z is summed once.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> both = ff.compare([0, 1, 1, 5], temperature=1, criteria=["banzhaf", ff.shapley])
    >>> both["shapley"].values
    array([2.5, 2.5])
    """
    if isinstance(criteria, str):
        criteria = [criteria]
    if not len(criteria):
        raise ValueError("no criteria were given; name at least one")
    listed = criteria.values() if isinstance(criteria, Mapping) else criteria
    chosen = [criterion_of(each) for each in listed]
    found = _all(chosen, Problem.of(game, players, temperature, options))
    if isinstance(criteria, Mapping):
        return Comparison(dict(zip(criteria, found, strict=True)))
    valuations: dict[str, Valuation] = {}
    for valuation in found:
        name, count = valuation.criterion, 2
        while name in valuations:
            name, count = f"{valuation.criterion} ({count})", count + 1
        valuations[name] = valuation
    return Comparison(valuations)


def _all(criteria: list[Criterion], problem: Problem) -> list[Valuation]:
    """The valuations by all of them, at one temperature.

    Where a relative one has to be estimated, those go first that can, and the rest follow.
    """
    order = list(range(len(criteria)))
    if problem.pending:
        order.sort(key=lambda at: criteria[at] not in SETTLING)
        if criteria[order[0]] not in SETTLING:
            problem = problem.at(np.asarray(banzhaf(problem).temperature))
    found: dict[int, Valuation] = {}
    for at in order:
        found[at] = criteria[at](problem)
        temperature = found[at].temperature
        if problem.pending and temperature is not None:
            problem = problem.at(temperature)
    return [found[at] for at in range(len(criteria))]
