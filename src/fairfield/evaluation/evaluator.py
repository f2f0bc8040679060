"""The one place where worths are evaluated: once each, checked, stored, in parallel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import inf
from time import perf_counter, sleep
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import coalitions_in, members, rows_of, spell
from fairfield.core.game import NO_FAILURES, Failures, Game, Measured
from fairfield.evaluation.blocks import TASK_SECONDS, block_size, plan
from fairfield.evaluation.by_row import RowScores
from fairfield.evaluation.kept import KeptWorths, as_measured, as_rows, numbers_kept, pack, unpack
from fairfield.evaluation.memory import check_table
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import Outcome, WorthError
from fairfield.evaluation.progress import RunBar
from fairfield.evaluation.remote.calls import INTERRUPTED, Calls
from fairfield.evaluation.sharing import share
from fairfield.evaluation.store import Store, recheck
from fairfield.evaluation.workers import Workers

# Rounds grow, up to a length that bounds what a crash can lose.
FIRST_ROUND, LONGEST_ROUND = 1.0, 10.0
# What the first coalitions cost says little about the others (the empty one may cost nothing),
# so a round has at most this many times the blocks of the largest before it.
GROWTH = 4

# Worths that take fewer seconds are not worth a claim in the store. While all that is missing is
# being evaluated by other drivers, the store is read again after so long.
CLAIMED, POLL = 1e-4, 0.1

Blocks = Callable[[int], BoolArray]


@dataclass(frozen=True)
class Spent:
    """How many worths were evaluated for an answer, and which of them failed."""

    evaluations: int = 0
    failures: Failures = NO_FAILURES
    # What single test rows say, where worths are means over them.
    by_row: RowScores | None = None


class Evaluator:
    """Evaluates coalitions of one game, each at most once; to be used as a context.

    Coalitions reach the game in blocks whose edges depend on the game and on their
    position alone; how many blocks make a task, and tasks a round, follows the measured
    cost. So the worths are the same for any number of workers on any backend.
    """

    def __init__(self, game: Game, options: Options) -> None:
        # Of a game whose worths come with others', all are evaluated and stored.
        self._place: int | None = None
        if game.part_of is not None:
            game, self._place = game.part_of
        self.game, self.options = game, options
        self.evaluations, self.failures = 0, NO_FAILURES
        self._workers = Workers(game, options)
        most = None if options.budget is None else min(options.budget, 2 ** len(game.players))
        self._bar = RunBar(options.progress, most, options.seconds)
        # Seconds of a worth in the last round, 0 before the first.
        self.seconds_each = 0.0
        # Seconds per block of the last round, seconds of the next, blocks of the largest yet.
        self._cost, self._length, self._largest = 0.0, FIRST_ROUND, 0
        self._kept = KeptWorths(len(game.players), numbers_kept(game))
        # What single test rows say, where worths are means over them.
        rows, games = game.traits.test_rows, int(np.prod(game.batch, dtype=int))
        self._by_row = RowScores(len(game.players), games, rows) if rows else None
        # Coalitions that count against the budget.
        self._used = 0
        self._store = None if options.store is None else Store(options.store, game, versions())
        # The calls of the game's service, where it has one.
        self.calls: Calls | None = None
        # Why no more worths are evaluated, once that is so.
        self.ended: str | None = None
        try:
            self._load()
        except BaseException:
            if self._store is not None:
                self._store.close()
            raise

    def _load(self) -> None:
        """Take over the worths in the store, and the answers that a service has given."""
        game, store = self.game, self._store
        if game.traits.service is not None:
            answers = None if store is None else store.answers()
            self.calls = Calls(game, game.traits.service, self.options, answers)
        elif store is not None:
            self._kept.add(*store.load(self._by_row))
            if game.traits.opaque:
                # A function of the same name, say, may have captured other data.
                keys, worths = self._kept.keys, self._kept.worths
                self.evaluations, self.failures = recheck(game, keys, worths, store.path)

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *error: Any) -> None:
        self._workers.close(broken=error[0] is not None)
        self._bar.close()
        if self._store is not None:
            self._store.close()

    @property
    def by_row(self) -> RowScores | None:
        """What single test rows say of the game in question, where worths are means over them."""
        whole = self._by_row
        return whole if whole is None or self._place is None else whole.game(self._place)

    @property
    def spent(self) -> Spent:
        """What was evaluated so far."""
        return Spent(self.evaluations, self.failures, self.by_row)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worths (*batch, m) of coalitions (m, n)."""
        worths = self.measure(coalitions).worths
        if worths.shape[-1] < len(coalitions):
            raise self.stopped(f"{len(coalitions):,} coalitions are needed")
        return worths

    def measure(
        self,
        coalitions: BoolArray,
        provenance: dict[str, Any] | None = None,
        until: float = inf,
    ) -> Measured:
        """The worths (*batch, m) of coalitions (m, n), with variances where the game is noisy.

        Their ``provenance``, plain data on how they were chosen, is stored with them. No round
        begins after ``until`` (of ``time.perf_counter``); the answer then covers only the first
        coalitions, up to the first that was not evaluated. ``failures`` are all so far.
        """
        keys = pack(coalitions)
        first = np.sort(np.unique(keys, return_index=True)[1])
        self._spend(len(first))
        if self.calls is not None:
            self._ask(self.calls.rounds(coalitions[first], until), len(first))
            return self.known(coalitions)
        missing = coalitions[first[~self._kept.find(keys[first])[1]]]
        self._bar.update(len(first) - len(missing))
        size = self._in_a_block()
        starts = list(range(0, len(missing), size))

        def block(start: int) -> BoolArray:
            return missing[start : start + size]

        try:
            for rows, worths in self._rounds(starts, block, len(missing), provenance, until):
                self._kept.add(pack(rows), worths)
        except WorthError as error:
            kept = self._measured(self._kept.worths.T)
            error.coalitions, error.worths = (
                unpack(self._kept.keys, coalitions.shape[1]),
                kept.worths,
            )
            raise
        return self.known(coalitions)

    def _in_a_block(self) -> int:
        """How many coalitions reach the game at once; under a time limit few, if they take long."""
        size = block_size(self.game)
        if self.options.seconds is None:
            return size
        size = min(size, max(1, int(TASK_SECONDS / self.seconds_each))) if self.seconds_each else 1
        # What a block of another size would have taken.
        self._cost = size * self.seconds_each
        return size

    def rehearse(self, coalitions: BoolArray) -> float:
        """The seconds of a worth, by these coalitions, whose worths are kept; 0 if none was evaluated.

        They count against the budget when they are asked for again.
        """
        before = self._used
        self.measure(coalitions)
        self._used = before
        return self.seconds_each / self._workers.jobs

    def known(self, coalitions: BoolArray, *, leading: bool = False) -> Measured:
        """What is known of the first coalitions, up to the first that was not evaluated.

        The ``leading`` worths of a service are those by which further coalitions are chosen.
        """
        if self.calls is not None:
            return self.calls.known(coalitions, leading=leading)
        at, there = self._kept.find(pack(coalitions))
        if not there.all():
            at = at[: np.argmin(there)]
        return self._measured(self._kept.worths[at].T)

    def repeat(self, coalitions: BoolArray, times: IntArray, until: float = inf) -> None:
        """Ask a service so many times more for coalitions that it has answered."""
        assert self.calls is not None
        self._ask(self.calls.repeat(coalitions, times, until), 0)

    def _spend(self, count: int) -> None:
        """Refuse more coalitions than the budget allows, stored or not."""
        self._used += count
        if self.options.budget is not None and self._used > self.options.budget:
            raise ValueError(
                f"{self.game!r}: {self._used:,} coalitions are needed, the budget allows "
                f"{self.options.budget:,}; raise it"
            )

    def table(self) -> Measured:
        """All worths (*batch, 2^n) in table order, with variances where the game is noisy."""
        check_table(self.game, self.options)
        count, size = len(self.game.players), block_size(self.game)
        if self.calls is not None:
            found = self.measure(coalitions_in(np.arange(2**count), count))
            if self.ended is not None:
                raise self.stopped("exact values need all worths")
            return found
        # NaN, so that a missing worth is not taken for one.
        table = np.full((numbers_kept(self.game), 2**count), np.nan)
        starts: Sequence[int] = range(0, 2**count, size)
        if len(self._kept):
            table[:, rows_of(unpack(self._kept.keys, count))] = self._kept.worths.T
            starts = [start for start in starts if np.isnan(table[0, start : start + size]).any()]

        def block(start: int) -> BoolArray:
            rows: IntArray = start + np.flatnonzero(np.isnan(table[0, start : start + size]))
            return coalitions_in(rows, count)

        try:
            for coalitions, worths in self._rounds(starts, block, 2**count - len(self._kept)):
                table[:, rows_of(coalitions)] = worths.T
        except WorthError as error:
            known = np.flatnonzero(~np.isnan(table[0]))
            found = self._measured(table[:, known])
            error.coalitions, error.worths = coalitions_in(known, count), found.worths
            raise
        if self.ended is not None:
            raise self.stopped("exact values need all worths")
        self._check_full(table)
        return self._measured(table)

    def _measured(self, columns: FloatArray) -> Measured:
        """The worths of the game in question, of columns (numbers, m) of what is kept."""
        found = as_measured(self.game, columns, self.failures)
        return found if self._place is None else found.game(self._place)

    def stopped(self, needed: str) -> BaseException:
        """The error where evaluation ended before there was enough for any answer."""
        if self.ended == INTERRUPTED:
            return KeyboardInterrupt()
        kept = "" if self._store is None else f"; those evaluated are in {self._store.path}"
        return WorthError(f"{self.game!r}: {self.ended}, and {needed}{kept}")

    def _check_full(self, table: FloatArray) -> None:
        """Refuse a table (games, 2^n) in which a worth is missing."""
        if not np.isnan(table.min()):  # a reduction takes no memory of its own
            return
        row = np.argwhere(np.isnan(table))[0, 1]
        players = self.game.players
        missing = spell(members(coalitions_in(row, len(players)), players))
        raise WorthError(
            f"{self.game!r}: coalition {missing} has no worth after all were evaluated; if a store "
            "was given, delete its file, else please report this as a bug of fairfield"
        )

    def _rounds(
        self,
        starts: Sequence[int],
        block: Blocks,
        total: int,
        provenance: dict[str, Any] | None = None,
        until: float = inf,
    ) -> Iterator[tuple[BoolArray, FloatArray]]:
        """Coalitions and their worths (m, games), round by round, as they are committed."""
        if not total or self.ended is not None:
            return
        done = 0
        # Blocks that another driver of the store evaluates.
        elsewhere: list[BoolArray] = []
        self._bar.expect(total)
        while (done < len(starts) or elsewhere) and (left := until - perf_counter()) > 0:
            most = GROWTH * self._largest
            length = min(self._length, left)
            per_task, tasks = plan(self._cost, length, self._workers.jobs, most)
            chosen = starts[done : done + per_task * tasks]
            done += len(chosen)
            blocks = [block(start) for start in chosen]
            if (store := self._shares() if blocks else self._store) is not None:
                if not blocks:
                    at = per_task * tasks
                    blocks, elsewhere = elsewhere[:at], elsewhere[at:]
                blocks, theirs, found = share(store, self._kept, blocks, self._by_row)
                elsewhere += theirs
                yield found
                self._bar.update(len(found[0]))
                if not blocks:
                    sleep(POLL if done == len(starts) and elsewhere else 0.0)
                    continue
            shared = [blocks[i : i + per_task] for i in range(0, len(blocks), per_task)]
            try:
                outcomes = self._workers.run(shared)
            except KeyboardInterrupt:
                self.ended = INTERRUPTED
                self._workers.close(broken=True)
                return
            coalitions, worths = self._commit(blocks, outcomes, provenance)
            yield coalitions, worths
            self._bar.update(len(coalitions))
            _raise_failures(outcomes)
            taken = sum(each.seconds for each in outcomes)
            self._cost, self.seconds_each = taken / len(outcomes), taken / sum(map(len, blocks))
            self._length = min(2 * self._length, LONGEST_ROUND)
            self._largest = max(self._largest, len(blocks))

    def _shares(self) -> Store | None:
        """The store, where worths are costly enough to be shared with its other drivers."""
        cost = self.seconds_each
        return self._store if cost == 0 or cost >= CLAIMED else None

    def _ask(self, calls: Iterator[int], total: int) -> None:
        """Wait for calls of a service, which say how many coalitions they have answered."""
        if self.calls is None or self.ended is not None:
            return
        self._bar.expect(total)
        for count in calls:
            self.evaluations += count
            self._bar.update(count)
        self.failures, self.ended = self.calls.failures, self.calls.ended

    def _commit(
        self, blocks: list[BoolArray], outcomes: list[Outcome], provenance: dict[str, Any] | None
    ) -> tuple[BoolArray, FloatArray]:
        """Store what a round gave."""
        good = [
            (rows, each.measured, not each.filled)
            for rows, each in zip(blocks, outcomes, strict=True)
            if each.measured is not None
        ]
        if not good:
            return blocks[0][:0], np.empty((0, numbers_kept(self.game)))
        coalitions = np.concatenate([rows for rows, _, _ in good])
        worths = np.concatenate([as_rows(self.game, found) for _, found, _ in good])
        lasting = np.concatenate([np.full(len(rows), lasts) for rows, _, lasts in good])
        self.failures = sum((found.failures for _, found, _ in good), self.failures)
        self.evaluations += len(coalitions)
        scores = self._scores_of_rows([found for _, found, _ in good])
        if self._by_row is not None and scores is not None:
            self._by_row.add(pack(coalitions), scores)
        if self._store is not None:
            own = None if scores is None else scores[lasting]
            self._store.add(coalitions[lasting], worths[lasting], provenance, own)
        return coalitions, worths

    def _scores_of_rows(self, found: list[Measured]) -> FloatArray | None:
        """What each test row says of the coalitions of a round, (m, games, rows), if it is known."""
        if self._by_row is None:
            return None
        shape = self._by_row.games, -1, self._by_row.rows
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


def evaluate_all(game: Game, options: Options) -> tuple[Measured, Spent]:
    """The table of all worths, and what was evaluated for it."""
    with Evaluator(game, options) as evaluator:
        found = evaluator.table()
        return found, evaluator.spent


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that worths may depend on."""
    found = {"python": ".".join(map(str, sys.version_info[:2]))}
    for name in ("fairfield", "numpy", "scipy", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
