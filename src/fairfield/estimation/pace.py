"""How long steps of an estimate take, so that a run can end in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from fairfield.core.arrays import BoolArray
from fairfield.evaluation.evaluator import Evaluator

# So many worths are timed before it is said whether the time is enough; an answer that takes less
# than so many seconds is waited for, however short the time.
TIMED, PATIENCE = 3, 1.0


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


def check_time(evaluator: Evaluator, coalitions: BoolArray, needed: int) -> None:
    """Refuse a time limit within which so many worths, these first, cannot be evaluated.

    The worths of ∅ and N may take less or more than others, so a third is timed alone.
    """
    limit, game = evaluator.options.seconds, evaluator.game
    if limit is None or evaluator.calls is not None or min(len(coalitions), needed) <= TIMED:
        return
    started = perf_counter()
    evaluator.rehearse(coalitions[: TIMED - 1])
    each = evaluator.rehearse(coalitions[TIMED - 1 : TIMED])
    least = perf_counter() - started + (needed - TIMED) * each
    if each and least > max(limit, PATIENCE):
        raise ValueError(
            f"{game!r}: seconds={limit:g} is too short: an answer needs at least {needed:,} worths, "
            f"about {least:.2g} seconds at {each:.2g} each; give more seconds, raise n_jobs=, or make do "
            f"with fewer {game.info.noun}s"
        )
