"""Warnings of a model, each kind told once instead of at every fit."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

Place = tuple[type[Warning], str, int]


class _Recorder:
    """Catches warnings while anyone is inside.

    ``warnings.catch_warnings`` swaps what belongs to the whole process, so threads that
    overlap must share one of them: the first in opens it, the last out closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._catcher = warnings.catch_warnings(record=True)
                self._caught = self._catcher.__enter__()
            self._inside += 1

    def leave(self) -> list[warnings.WarningMessage]:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return []
            self._catcher.__exit__(None, None, None)
            return self._caught


_recorder = _Recorder()


@contextmanager
def each_once(told: set[Place]) -> Iterator[None]:
    """Warnings raised inside come out afterwards, one for each place not yet in ``told``.

    The user's own filters stay in force: what they ignore is not told, what they turn into
    an error is raised.

    >>> told = set()
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     for _ in range(1000):
    ...         with each_once(told):
    ...             warnings.warn("no convergence")
    >>> len(seen)
    1
    """
    _recorder.enter()
    try:
        yield
    finally:
        for each in _recorder.leave():
            place = (each.category, each.filename, each.lineno)
            if place not in told:
                told.add(place)
                warnings.warn_explicit(
                    f"{each.message}\n(warnings like this one are not shown again for this game)",
                    *place,
                )
