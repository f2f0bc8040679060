"""How long steps of an estimate take, so that a run can end in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter


class Pace:
    """What steps took when they were last done, by name; before that, what they are thought to."""

    def __init__(self, guesses: Mapping[str, float]) -> None:
        self._guesses = guesses
        self._took: dict[str, tuple[float, int]] = {}

    @contextmanager
    def timed(self, step: str, size: int) -> Iterator[None]:
        """Takes down how long a step on a sample of this size took."""
        started = perf_counter()
        yield
        self._took[step] = perf_counter() - started, size

    def expected(self, step: str, size: int) -> float:
        """The seconds of a step on a sample of this size: in proportion to it, if it has grown."""
        seconds, before = self._took.get(step, (self._guesses[step], size))
        return seconds * max(1.0, size / max(before, 1))

    def fits(self, step: str, size: int, until: float) -> bool:
        """Whether a step begun now should be done by then (of ``time.perf_counter``)."""
        return self.expected(step, size) <= until - perf_counter()
