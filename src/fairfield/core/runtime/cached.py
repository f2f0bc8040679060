"""Attributes that are worked out when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Held = TypeVar("Held")


class cached(Generic[Held]):  # noqa: N801  # a decorator, as property is
    """``functools.cached_property`` without its lock, for what evaluates worths.

    Before Python 3.12 that lock is one for all objects of the class: threads with games of their own
    would wait for each other, and a game whose worths are values of another game for ever.
    """

    def __init__(self, function: Callable[[Any], Held]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Held:
        found = instance.__dict__[self.function.__name__] = self.function(instance)
        return found
