"""Warnings of a model, each shown once and not at every fit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from fairfield.evaluation.threads import Overlapping

Place = tuple[type[Warning], str, int]

# ``catch_warnings`` replaces what belongs to the whole process.
_recorder = Overlapping(lambda: warnings.catch_warnings(record=True))


@contextmanager
def each_once(shown: set[Place]) -> Iterator[None]:
    """Warnings raised inside come out afterwards, one for each place not yet in ``shown``.

    The user's own filters stay in force: what they ignore is not shown, what they turn into
    an error is raised.

    >>> shown = set()
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     for _ in range(1000):
    ...         with each_once(shown):
    ...             warnings.warn("no convergence")
    >>> len(seen)
    1
    """
    _recorder.enter()
    try:
        yield
    finally:
        for each in _recorder.leave() or ():
            place = (each.category, each.filename, each.lineno)
            if place not in shown:
                shown.add(place)
                warnings.warn_explicit(
                    f"{each.message}\n(warnings like this one are not shown again for this game)",
                    *place,
                )
