"""Blocks of coalitions, evaluated here or by joblib's workers.

A task is some blocks; tasks run in finite rounds, which every joblib backend can do. The
game is sent once to each worker, not once per task: the first round carries it, later tasks
carry its name only, and a worker that has no game of that name says so and gets it.
"""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
import uuid
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray
from fairfield.core.coalitions import members, spell
from fairfield.core.copies import measured
from fairfield.core.game import Game, Measured
from fairfield.evaluation.threads import one_blas_thread

RETRIES = 3

# The game of a worker, by name; threads share it.
_games: dict[str, Game] = {}
_games_lock = threading.Lock()


class WorthError(RuntimeError):
    """The worth of a coalition could not be computed."""


@dataclass(frozen=True)
class Outcome:
    """What was measured of a block, or a sentence on why there is nothing."""

    measured: Measured | None
    failure: str | None
    seconds: float
    error: Exception | None = None
    trace: str | None = None


def evaluate_block(game: Game, coalitions: BoolArray) -> Outcome:
    """The checked worths of one block; a failure is a value, so that it can be sent."""
    start = time.perf_counter()
    try:
        found = measured(game, coalitions)
    except Exception as error:
        failure = _named(game, coalitions, error)
        return Outcome(None, failure, time.perf_counter() - start, error)
    return Outcome(found, _complaint(game, coalitions, found), time.perf_counter() - start)


def _complaint(game: Game, coalitions: BoolArray, found: Measured) -> str | None:
    """What is wrong with the worths, or with their variances; None where nothing is."""
    wanted = (*game.batch, len(coalitions))
    for what, values in (("worth", found.worths), ("variance", found.variances)):
        if values is None:
            continue
        if np.shape(values) != wanted:
            return f"{game!r} returned {what}s of shape {np.shape(values)}; {wanted} is needed"
        if not np.isfinite(values).all():
            bad = np.argwhere(~np.isfinite(values))[0]
            coalition = spell(members(coalitions[bad[-1]], game.players))
            return (
                f"the {what} of coalition {coalition} is {values[tuple(bad)]}; "
                f"every {what} must be a finite number"
            )
    return None


def _named(game: Game, coalitions: BoolArray, error: Exception) -> str:
    """The failure with the first coalition on which the game fails by itself."""
    first, last = (spell(members(coalitions[i], game.players)) for i in (0, -1))
    if len(coalitions) == 1:
        return f"the game failed on coalition {first}: {_spelled(error)}"
    for row in coalitions:
        try:
            measured(game, row[None])
        except Exception as own:
            return _named(game, row[None], own)
    return (
        f"the game failed on {len(coalitions)} coalitions at once, {first} to {last}, "
        f"though not on each alone: {_spelled(error)}"
    )


def _spelled(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _game_named(name: str, parcel: Any) -> Game | None:
    """A game, unpacked by the first thread that gets its parcel; None before that."""
    with _games_lock:
        if name not in _games:
            if parcel is None:
                return None
            import cloudpickle

            _games.clear()
            _games[name] = cloudpickle.loads(parcel.tobytes())
        return _games[name]


def _run_task(name: str, parcel: Any, blocks: list[BoolArray]) -> list[Outcome] | None:
    """What a worker does: the outcomes of its blocks, or None if it lacks the game."""
    game = _game_named(name, parcel)
    if game is None:
        return None
    with one_blas_thread():
        outcomes = [evaluate_block(game, block) for block in blocks]
    # An exception of the user's may not be picklable; its text is.
    return [
        replace(each, error=None, trace="".join(traceback.format_exception(each.error)))
        if each.error is not None
        else each
        for each in outcomes
    ]


class Workers:
    """Runs rounds of tasks for one game, on a pool that stays open until it is closed."""

    def __init__(self, game: Game, n_jobs: int | None) -> None:
        from joblib import effective_n_jobs

        self.game = game
        self.n_jobs = n_jobs
        self.jobs = int(effective_n_jobs(n_jobs))
        self._name = uuid.uuid4().hex
        self._sent = False
        self._pool: Any = None

    def close(self, broken: bool = False) -> None:
        """Close the pool."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            # A pool that lost a worker may raise another error while it is closed.
            with contextlib.suppress(Exception) if broken else contextlib.nullcontext():
                pool.__exit__(None, None, None)
        # Threads are workers of this process: the game must not stay in its memory.
        with _games_lock:
            _games.pop(self._name, None)
        self._sent = False

    def run(self, tasks: list[list[BoolArray]]) -> list[list[Outcome]]:
        """The outcomes of a round; a round that loses a worker is repeated."""
        if self.jobs == 1:
            with one_blas_thread():
                return [[evaluate_block(self.game, block) for block in task] for task in tasks]
        parcel = self._parcel  # before the attempts: a game that cannot be pickled never can
        for _ in range(RETRIES + 1):
            try:
                return self._round(tasks, parcel)
            except Exception as error:
                self.close(broken=True)
                failure = error
        coalitions = [row for task in tasks for block in task for row in block]
        names = ", ".join(spell(members(row, self.game.players)) for row in coalitions[:8])
        raise WorthError(
            f"the workers failed {RETRIES + 1} times on the same {len(coalitions)} coalitions, "
            f"{names}{', …' if len(coalitions) > 8 else ''} ({_spelled(failure)}); worths of "
            "earlier rounds are kept"
        ) from failure

    @cached_property
    def _parcel(self) -> Any:
        """The pickled game, as an array: joblib maps it into the workers' memory, without a copy."""
        import cloudpickle

        try:
            packed = cloudpickle.dumps(self.game)
        except Exception as error:
            raise WorthError(
                f"{self.game!r} cannot be sent to workers, since it cannot be pickled "
                f"({_spelled(error)}); use n_jobs=1, or take out what cannot be pickled"
            ) from error
        return np.frombuffer(packed, dtype=np.uint8)

    def _round(self, tasks: list[list[BoolArray]], parcel: Any) -> list[list[Outcome]]:
        answers = self._send(tasks, None if self._sent else parcel)
        self._sent = True
        # Workers that joined since the game was sent do not have it yet.
        lacking = [task for task, answer in zip(tasks, answers, strict=True) if answer is None]
        repeated = iter(self._send(lacking, parcel) if lacking else ())
        found = [next(repeated) if answer is None else answer for answer in answers]
        return [answer for answer in found if answer is not None]

    def _send(self, tasks: list[list[BoolArray]], parcel: Any) -> list[list[Outcome] | None]:
        from joblib import Parallel, delayed

        if self._pool is None:
            self._pool = Parallel(n_jobs=self.n_jobs, return_as="list", batch_size=1).__enter__()
        call = delayed(_run_task)
        return list(self._pool(call(self._name, parcel, task) for task in tasks))
