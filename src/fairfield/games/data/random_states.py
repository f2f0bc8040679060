"""The random states inside a model: its own, and those of its steps and parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

Setter: TypeAlias = Callable[[int], object]


def random_states(model: Any, *, every: bool) -> Iterator[Setter]:
    """Functions that set each random state, in the same order for a clone of the model.

    All of them if ``every``, else those that are not set to an integer: parameters called
    ``random_state`` at any depth, those of splitters (``cv=KFold(3, shuffle=True)``), and of
    estimators in lists, as in the grid of a search.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> model = RandomForestClassifier()
    >>> [set_state(7) for set_state in random_states(model, every=False)]
    [RandomForestClassifier(random_state=7)]
    >>> list(random_states(model, every=False))
    []
    """
    parameters = dict(sorted(model.get_params(deep=True).items()))
    named = {id(value) for value in parameters.values() if hasattr(value, "get_params")}
    for name, value in parameters.items():
        if name.rpartition("__")[2] != "random_state":
            yield from _inside(value, named, every)
        elif every or not isinstance(value, Integral):
            yield partial(_set_parameter, model, name)


def _inside(value: Any, named: set[int], every: bool) -> Iterator[Setter]:
    """The random states of a parameter that get_params does not list separately."""
    if id(value) in named:
        return
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _inside(each, named, every)
    elif isinstance(value, type):
        return
    elif hasattr(value, "get_params"):
        yield from random_states(value, every=every)
    elif (
        hasattr(value, "random_state")
        and getattr(value, "shuffle", True)
        and (every or not isinstance(value.random_state, Integral))
    ):
        yield partial(setattr, value, "random_state")


def _set_parameter(model: Any, name: str, seed: int) -> Any:
    return model.set_params(**{name: seed})
