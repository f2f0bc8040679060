"""The samplers of each criterion by name: what the option ``sampler`` chooses from.

A new one is a file beside this one that registers what makes its estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fairfield.core.registry import import_all, refuse_taken
from fairfield.estimation.loop import Estimator
from fairfield.problem import Problem

Make = TypeVar("Make", bound=Callable[..., Estimator])

_registered: dict[str, dict[str, Callable[..., Estimator]]] = {}


def sampler(name: str, *criteria: str) -> Callable[[Make], Make]:
    """Decorates what makes the estimator of these criteria under ``sampler=name``.

    It is called with the problem and, by keyword, with what the criterion passes on: the
    ``criterion`` and the ``shares`` of the sizes 0 … n-1 of a semivalue, the ``start`` and the
    number of ``steps`` (None: until they settle) of a variational criterion. The name "auto" is
    what is used where none is given.
    """

    def register(make: Make) -> Make:
        for criterion in criteria:
            known = _registered.setdefault(criterion, {})
            refuse_taken(f"a sampler {name!r} for {criterion}", known.get(name), make)
            known[name] = make
        return make

    return register


def check_sampler(name: str, criterion: str = "", label: str = "") -> None:
    """Refuse a sampler that this criterion does not have, or, where it has none, no other has."""
    if name == "auto":
        return
    import_all("fairfield.estimation.samplers")
    if criterion in _registered:
        _choose(_registered[criterion], name, label)
    else:
        _choose({k: v for known in _registered.values() for k, v in known.items()}, name, "values")


def estimator_of(problem: Problem, criterion: str, label: str, /, **arguments: Any) -> Estimator:
    """The estimator of a criterion by the sampler that the options name."""
    import_all("fairfield.estimation.samplers")
    make = _choose(_registered.get(criterion, {}), problem.options.sampler, label)
    return make(problem, **arguments)


def _choose(
    known: Mapping[str, Callable[..., Estimator]], name: str, label: str
) -> Callable[..., Estimator]:
    if name not in known:
        choice = ", ".join(sorted(known))
        raise ValueError(f"there is no sampler {name!r} for {label}; choose from {choice}")
    return known[name]
