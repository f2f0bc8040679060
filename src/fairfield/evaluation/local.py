"""Worths evaluated on this side of any service: blocks of coalitions, in rounds of parallel tasks.

Drivers of one store share them: each evaluates what no other is evaluating.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, inf
from time import perf_counter, sleep
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import NO_FAILURES, Game, Measured
from fairfield.evaluation.by_row import RowScores
from fairfield.evaluation.kept import KeptWorths, as_rows, numbers_kept, pack, unpack
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import INTERRUPTED, Outcome, WorthError
from fairfield.evaluation.progress import RunBar
from fairfield.evaluation.store import Store
from fairfield.evaluation.workers import Workers

# A task should outlast the cost of sending it; a round bounds what a crash can lose. More
# tasks than these per worker and round would not share it out better, only cost more.
TASK_SECONDS, MOST_TASKS = 0.1, 40
FIRST_ROUND, LONGEST_ROUND = 1.0, 10.0
# What the first coalitions cost says little about the others (the empty one may cost nothing),
# so a round has at most this many times the blocks of the largest before it.
GROWTH = 4
# Worths that take fewer seconds are not worth a claim in the store. While all that is missing is
# being evaluated by other drivers, the store is read again after so long.
CLAIMED, POLL = 1e-4, 0.1

Found = tuple[BoolArray, FloatArray]


class LocalWorths:
    """Evaluates the worths of one game in this process and its workers, and stores them.

    Coalitions reach the game in blocks whose edges depend on the game and on their
    position alone; how many blocks make a task, and tasks a round, follows the measured
    cost. So the worths are the same for any number of workers on any backend.
    """

    def __init__(self, game: Game, options: Options, store: Store | None, bar: RunBar) -> None:
        self.game, self.options = game, options
        self.evaluations, self.failures = 0, NO_FAILURES
        # How many worths other drivers of the store have found meanwhile.
        self.shared = 0
        # Why no more worths are evaluated, once that is so.
        self.ended: str | None = None
        self.kept = KeptWorths(len(game.players), numbers_kept(game))
        # What single test rows say, where worths are means over them.
        rows, games = game.traits.test_rows, int(np.prod(game.batch, dtype=int))
        self.by_row = RowScores(len(game.players), games, rows) if rows else None
        self._store, self._workers, self._bar = store, Workers(game, options), bar
        # Seconds of a worth in the last round, 0 before the first.
        self.seconds_each = 0.0
        # Seconds per block of the last round, seconds of the next, blocks of the largest yet.
        self._cost, self._length, self._largest = 0.0, FIRST_ROUND, 0

    def close(self, broken: bool) -> None:
        """Close the pool of workers."""
        self._workers.close(broken=broken)

    @property
    def jobs(self) -> int:
        """How many workers there are."""
        return self._workers.jobs

    def in_a_block(self) -> int:
        """How many coalitions reach the game at once; under a time limit few, if they take long."""
        size = block_size(self.game)
        if self.options.seconds is None:
            return size
        size = min(size, max(1, int(TASK_SECONDS / self.seconds_each))) if self.seconds_each else 1
        # What a block of another size would have taken.
        self._cost = size * self.seconds_each
        return size

    def rounds(
        self,
        starts: Sequence[int],
        block: Callable[[int], BoolArray],
        total: int,
        provenance: dict[str, Any] | None = None,
        until: float = inf,
    ) -> Iterator[Found]:
        """Coalitions and their worths (m, numbers), round by round, as they are committed.

        They are in ``total`` blocks' coalitions, each block known by its start.
        """
        if not total or self.ended is not None:
            return
        done = 0
        # Blocks that another driver of the store evaluates.
        elsewhere: list[BoolArray] = []
        self._bar.expect(total)
        while (done < len(starts) or elsewhere) and (left := until - perf_counter()) > 0:
            per_task, tasks = self._plan(left)
            at = per_task * tasks
            blocks = [block(start) for start in starts[done : done + at]]
            done += len(blocks)
            store = self._shares() if blocks else self._store
            if not blocks:
                blocks, elsewhere = elsewhere[:at], elsewhere[at:]
            try:
                if store is not None:
                    blocks, theirs, found = self._shared(store, blocks)
                    elsewhere += theirs
                    yield found
                    self._bar.update(len(found[0]))
                    if not blocks:
                        sleep(POLL if done == len(starts) and elsewhere else 0.0)
                        continue
                tasked = [blocks[i : i + per_task] for i in range(0, len(blocks), per_task)]
                outcomes = self._workers.run(tasked)
            except KeyboardInterrupt:
                self.ended, outcomes = INTERRUPTED, []
            coalitions, worths = self._commit(blocks[: len(outcomes)], outcomes, provenance)
            yield coalitions, worths
            self._bar.update(len(coalitions))
            _raise_failures(outcomes)
            if self.ended is not None or len(outcomes) < len(blocks):
                self.ended = INTERRUPTED
                self._workers.close(broken=True)
                return
            taken = sum(each.seconds for each in outcomes)
            self._cost, self.seconds_each = taken / len(outcomes), taken / sum(map(len, blocks))
            self._length = min(2 * self._length, LONGEST_ROUND)
            self._largest = max(self._largest, len(blocks))

    def _plan(self, left: float) -> tuple[int, int]:
        """Blocks per task and tasks per round, for a round that fits into the seconds left."""
        cost, jobs, most = self._cost, self._workers.jobs, GROWTH * self._largest
        if cost <= 0:
            return 1, jobs
        share = min(min(self._length, left) / cost, most / jobs)
        wanted = max(ceil(TASK_SECONDS / cost), ceil(share / MOST_TASKS))
        per_task = max(1, min(wanted, int(share)))
        return per_task, jobs * max(1, int(share / per_task))

    def _shares(self) -> Store | None:
        """The store, where worths are costly enough to be shared with its other drivers."""
        cost = self.seconds_each
        return self._store if cost == 0 or cost >= CLAIMED else None

    def _shared(
        self, store: Store, blocks: list[BoolArray]
    ) -> tuple[list[BoolArray], list[BoolArray], Found]:
        """What of the blocks is for this driver, what others evaluate, and what these have found.

        The worths that were found, of whatever coalitions, are kept.
        """
        keys = [pack(rows) for rows in blocks]
        claimed = store.claim(np.concatenate(keys))
        # After the claim, so that what another driver has just finished is not taken for free.
        added, worths = store.load(self.by_row)
        self.kept.add(added, worths)
        self.shared += len(added)
        own, others = [], []
        for rows, key in zip(blocks, keys, strict=True):
            mine, claimed = claimed[: len(rows)], claimed[len(rows) :]
            missing = ~self.kept.find(key)[1]
            own.append(rows[missing & mine])
            others.append(rows[missing & ~mine])
        found = unpack(added, store.players), worths
        return [each for each in own if len(each)], [each for each in others if len(each)], found

    def _commit(
        self, blocks: list[BoolArray], outcomes: list[Outcome], provenance: dict[str, Any] | None
    ) -> Found:
        """Store what a round gave."""
        good = [
            (rows if each.kept is None else rows[each.kept], each.measured, each.filled)
            for rows, each in zip(blocks, outcomes, strict=True)
            if each.measured is not None
        ]
        if not good:
            return np.empty((0, len(self.game.players)), bool), np.empty(
                (0, numbers_kept(self.game))
            )
        coalitions = np.concatenate([rows for rows, _, _ in good])
        worths = np.concatenate([as_rows(self.game, found) for _, found, _ in good])
        lasting = np.concatenate(
            [np.ones(len(rows), bool) if filled is None else ~filled for rows, _, filled in good]
        )
        self.failures = sum((found.failures for _, found, _ in good), self.failures)
        self.evaluations += len(coalitions)
        scores = self._scores_of_rows([found for _, found, _ in good])
        if self.by_row is not None and scores is not None:
            self.by_row.add(pack(coalitions), scores)
        if self._store is not None:
            own = None if scores is None else scores[lasting]
            self._store.add(coalitions[lasting], worths[lasting], provenance, own)
        return coalitions, worths

    def _scores_of_rows(self, found: list[Measured]) -> FloatArray | None:
        """What each test row says of the coalitions of a round, (m, games, rows), if it is known."""
        if self.by_row is None:
            return None
        shape = self.by_row.games, -1, self.by_row.rows
        known = [each.by_row.reshape(shape) for each in found if each.by_row is not None]
        if len(known) < len(found):
            return None
        return np.concatenate(known, axis=1).swapaxes(0, 1)


def _raise_failures(outcomes: list[Outcome]) -> None:
    """Raise what went wrong in a round, if anything did."""
    for each in outcomes:
        if each.failure is not None:
            error = WorthError(each.failure)
            if each.trace:
                error.add_note(f"in a worker:\n{each.trace}")
            raise error from each.error


def block_size(game: Game) -> int:
    """How many coalitions reach a game at once.

    The game may say (1 where a worth is a model fit); else blocks are small for small games,
    whose worths may be expensive, and at most 4096 for a table.
    """
    count = len(game.players)
    return game.traits.block or (max(16, 2 ** (count - 12)) if count <= 25 else 64)
