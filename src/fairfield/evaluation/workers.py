"""Blocks of coalitions, evaluated here or by joblib's workers.

A task is some blocks; tasks run in finite rounds, which every joblib backend can do. The
game is sent once to each worker, not once per task: the first round carries it, later tasks
carry its name only, and a worker that has no game of that name says so and gets it.
"""

from __future__ import annotations

import contextlib
import threading
import traceback
import uuid
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray
from fairfield.core.coalitions import members, spell
from fairfield.core.game import Game
from fairfield.evaluation.heads import LostHeadError, answered, cluster_gone, ray_head, watched
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import (
    Care,
    Outcome,
    WorthError,
    evaluate_block,
    joined,
    replaced,
    spelled_error,
)
from fairfield.evaluation.threads import one_blas_thread

RETRIES = 3

# The game of a worker, by name; threads share it.
_games: dict[str, Game] = {}
_games_lock = threading.Lock()


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


def _run_task(name: str, parcel: Any, blocks: list[BoolArray], care: Care) -> list[Outcome] | None:
    """What a worker does: the outcomes of its blocks, or None if it lacks the game."""
    game = _game_named(name, parcel)
    if game is None:
        return None
    with one_blas_thread():
        outcomes = [evaluate_block(game, block, care) for block in blocks]
    # An exception of the user's may not be picklable; its text is.
    return [
        replace(each, error=None, trace="".join(traceback.format_exception(each.error)))
        if each.error is not None
        else each
        for each in outcomes
    ]


class Workers:
    """Runs rounds of tasks for one game, on a pool that stays open until it is closed."""

    def __init__(self, game: Game, options: Options) -> None:
        from joblib import effective_n_jobs

        self.game, self.care = game, Care.of(options)
        self.n_jobs = options.n_jobs
        self.jobs = int(effective_n_jobs(self.n_jobs))
        self.here = self.jobs == 1 and self.care.timeout is None
        if self.jobs == 1 and not self.here:
            # A worth that hangs can only be ended with its process; joblib has none for one job.
            self.n_jobs = 2
        self._name = uuid.uuid4().hex
        self._sent = False
        self._pool: Any = None
        # Where the head of a ray cluster listens.
        self._head: tuple[str, int] | None = None
        # Why the run ends, once a coalition has failed for good.
        self._failure: str | None = None

    def close(self, broken: bool = False, hung: bool = False) -> None:
        """Close the pool, ending what is still at work in it where that is ``hung``."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            if hung:
                with contextlib.suppress(Exception):
                    pool._backend.abort_everything(ensure_ready=False)
            # A pool that lost a worker may raise another error while it is closed.
            with contextlib.suppress(Exception) if broken else contextlib.nullcontext():
                pool.__exit__(None, None, None)
        # Threads are workers of this process: the game must not stay in its memory.
        with _games_lock:
            _games.pop(self._name, None)
        self._sent = False

    def run(self, tasks: list[list[BoolArray]]) -> list[Outcome]:
        """The outcomes of the blocks of a round; what a lost worker had is evaluated again.

        Of a round that was interrupted here, they are those of its first blocks.
        """
        outcomes: list[Outcome] = []
        if self.here:
            with one_blas_thread(), contextlib.suppress(KeyboardInterrupt):
                for block in chain.from_iterable(tasks):  # those before an interrupt are kept
                    outcomes.append(evaluate_block(self.game, block, self.care))  # noqa: PERF401
            return outcomes
        self._parcel  # noqa: B018  # before the attempts: a game that cannot be pickled never can
        outcomes = self._survived(tasks)
        if any(each.hung for each in outcomes):
            self.close(broken=True, hung=True)
        return outcomes

    def _survived(self, tasks: list[list[BoolArray]]) -> list[Outcome]:
        """The outcomes of all blocks; those of a round that failed are halved until one is alone.

        So a coalition that kills its worker is found, and the others of its round are kept.
        """
        blocks = [block for task in tasks for block in task]
        attempts = 1 if len(blocks) > 1 or self._failure is not None else RETRIES + 1
        for _ in range(attempts):
            try:
                return [each for task in self._round(tasks) for each in task]
            except Exception as error:
                if isinstance(error, LostHeadError):
                    self._pool = None  # to close it would wait for the head
                self.close(broken=True, hung=self.care.timeout is not None)
                lost = error
                if (why := cluster_gone(self._head, error)) is not None:
                    self._failure = (
                        f"ray's cluster was lost ({why}); start it again, and then this run; "
                        "worths that were found are kept"
                    )
                    break
        if self._failure is not None:
            # The run is over; the search for one deadly coalition after another would take long.
            return [Outcome(None, self._failure, 0.0) for _ in blocks]
        if len(blocks) > 1:
            middle = len(blocks) // 2
            halves = blocks[:middle], blocks[middle:]
            return [each for half in halves for each in self._survived([[b] for b in half])]
        return [self._lost(blocks[0], lost)]

    def _lost(self, block: BoolArray, error: Exception) -> Outcome:
        """The outcome of a block on which the workers failed again and again."""
        if len(block) > 1:
            parts = self._survived([[row[None]] for row in block])
            measured = [each.measured for each in parts if each.measured is not None]
            failed = next((each for each in parts if each.measured is None), None)
            if failed is None:
                filled = np.array([each.filled is not None and each.filled.all() for each in parts])
                return Outcome(joined(measured), None, sum(p.seconds for p in parts), filled=filled)
            kept = np.array([each.measured is not None for each in parts])
            return replace(failed, measured=joined(measured) if measured else None, kept=kept)
        if self.care.fallback is not None:
            why = spelled_error(error)
            found = replaced(self.game, block, self.care.fallback, why)
            return Outcome(found, None, 0.0, filled=np.ones(1, dtype=bool))
        coalition = spell(members(block[0], self.game.players))
        self._failure = (
            f"the workers failed {RETRIES + 1} times on coalition {coalition} alone "
            f"({spelled_error(error)}); worths of others are kept"
        )
        return Outcome(None, self._failure, 0.0, error)

    @cached_property
    def _parcel(self) -> Any:
        """The pickled game, as an array: joblib maps it into the workers' memory, without a copy."""
        import cloudpickle

        try:
            packed = cloudpickle.dumps(self.game)
        except Exception as error:
            raise WorthError(
                f"{self.game!r} cannot be sent to workers, since it cannot be pickled "
                f"({spelled_error(error)}); use n_jobs=1, or take out what cannot be pickled"
            ) from error
        return np.frombuffer(packed, dtype=np.uint8)

    def _round(self, tasks: list[list[BoolArray]]) -> list[list[Outcome]]:
        parcel = self._parcel
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
            pool: Any = Parallel(n_jobs=self.n_jobs, return_as="list", batch_size=1)
            self._head = ray_head(pool._backend)
            self._pool = answered(self._head, pool.__enter__)
        call = delayed(_run_task)
        with watched(self._head, self._pool):
            return list(self._pool(call(self._name, parcel, task, self.care) for task in tasks))
