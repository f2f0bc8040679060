"""The one place where worths are evaluated: once each, checked, stored, here or by a service."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import coalitions_in, members, rows_of, spell
from fairfield.core.game import NO_FAILURES, Failures, Game, Measured
from fairfield.evaluation.by_row import RowScores
from fairfield.evaluation.kept import Keys, as_measured, numbers_kept, pack, unpack
from fairfield.evaluation.local import LocalWorths, block_size
from fairfield.evaluation.memory import check_table
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import INTERRUPTED, WorthError
from fairfield.evaluation.progress import RunBar
from fairfield.evaluation.remote.calls import Calls
from fairfield.evaluation.remote.noise import pooled
from fairfield.evaluation.store import Store, recheck


@dataclass(frozen=True)
class Spent:
    """How many worths were evaluated for an answer, and which of them failed or were stored."""

    evaluations: int = 0
    failures: Failures = NO_FAILURES
    # What single test rows say, where worths are means over them.
    by_row: RowScores | None = None


class Evaluator:
    """Evaluates coalitions of one game, each at most once; to be used as a context."""

    def __init__(self, game: Game, options: Options) -> None:
        # Of a game whose worths come with others', all are evaluated and stored.
        self._place: int | None = None
        if game.part_of is not None:
            game, self._place = game.part_of
        self.game, self.options = game, options
        most = None if options.budget is None else min(options.budget, 2 ** len(game.players))
        self._bar = RunBar(options.progress, most, options.seconds)
        # Coalitions that count against the budget, if there is one.
        self._asked = set[bytes]()
        # How many worths the store had, how many of these were evaluated again, and how many are
        # the fallback by the game's own rule, as far as that can be seen.
        self._stored = self._rechecked = self._ruled = 0
        self._store = None if options.store is None else Store(options.store, game, versions())
        # The calls of the game's service, where it has one.
        self.calls: Calls | None = None
        self._local = LocalWorths(game, options, self._store, self._bar)
        try:
            self._load()
        except BaseException:
            if self._store is not None:
                self._store.close()
            raise

    def _load(self) -> None:
        """Take over the worths in the store, and the answers that a service has given."""
        game, store, local = self.game, self._store, self._local
        if game.traits.service is not None:
            answers = None if store is None else store.answers()
            self.calls = Calls(game, game.traits.service, self.options, answers)
            # The answers of a study are its own, in whatever store it keeps them.
            own = game.traits.service.wanted is not None
            self._stored = 0 if own else len(self.calls.complete()[0])
        elif store is not None:
            local.kept.add(*store.load(local.by_row))
            self._stored = len(local.kept)
            if game.traits.ruled and (local.kept.worths == local.kept.worths[:1]).all():
                self._ruled = self._stored
            if game.traits.opaque:
                # A function of the same name, say, may have captured other data.
                kept = local.kept.keys, local.kept.worths
                local.evaluations = self._rechecked = recheck(game, *kept, store.path)
        if store is not None:
            store.upgrade()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *error: Any) -> None:
        if isinstance(error[1], KeyboardInterrupt):
            self._keep(error[1])
        self._local.close(broken=error[0] is not None)
        self._bar.close()
        if self._store is not None:
            self._store.close()

    @property
    def evaluations(self) -> int:
        """How many worths were evaluated so far."""
        return (self.calls or self._local).evaluations

    @property
    def failures(self) -> Failures:
        """What failed so far, and what the calls of a service took."""
        failures = (self.calls or self._local).failures
        if not failures.count:
            return replace(failures, stored=self._stored)
        # Of a service, those that were given are known too.
        local = self._local
        known = local.evaluations - self._rechecked + local.shared + self._stored
        known = known if self.calls is None else len(self.calls.complete()[0])
        return replace(failures, stored=self._stored, known=known)

    def refuse_fallbacks(self) -> None:
        """Refuse to value players by fallbacks alone: a value is a difference of worths, at least two."""
        failures = self.failures
        found = failures.known - failures.count
        given = failures.ruled + self._ruled
        if failures.count and (found < 2 or found == given):
            error = WorthError(
                f"{self.game!r}: {failures.count:,} of {failures.known:,} worths failed, the first of "
                f"{failures.first}, and from fallbacks alone no player has a value; see why they fail"
            )
            self._attach(error)
            raise error

    @property
    def ended(self) -> str | None:
        """Why no more worths are evaluated, once that is so."""
        return (self.calls or self._local).ended

    @property
    def by_row(self) -> RowScores | None:
        """What single test rows say of the game in question, where worths are means over them."""
        whole = self._local.by_row
        return whole if whole is None or self._place is None else whole.game(self._place)

    @property
    def by_row_of_all(self) -> RowScores | None:
        """The same, where it is there for every worth that is known."""
        found = self.by_row
        return found if found is not None and found.covers(self._local.kept.keys) else None

    @property
    def spent(self) -> Spent:
        """What was evaluated so far."""
        return Spent(self.evaluations, self.failures, self.by_row)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worths (*batch, m) of coalitions (m, n)."""
        self.refuse_auto()
        worths = self.measure(coalitions).worths
        if worths.shape[-1] < len(coalitions):
            raise self.stopped(f"{len(coalitions):,} coalitions are needed")
        self.refuse_fallbacks()
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
        self._spend(keys[first])
        if self.calls is not None:
            self._ask(self.calls.rounds(coalitions[first], until), len(first))
            return self.known(coalitions)
        kept = self._local.kept
        missing = coalitions[first[~kept.find(keys[first])[1]]]
        self._bar.update(len(first) - len(missing))
        size = self._local.in_a_block()
        starts = list(range(0, len(missing), size))

        def block(start: int) -> BoolArray:
            return missing[start : start + size]

        with self._telling():
            for rows, worths in self._local.rounds(starts, block, len(missing), provenance, until):
                kept.add(pack(rows), worths)
        return self.known(coalitions)

    def rehearse(self, coalitions: BoolArray) -> float:
        """The seconds of a worth, by these coalitions, whose worths are kept; 0 if none was evaluated.

        They move the bar when they are asked for again.
        """
        self.measure(coalitions)
        self._bar.update(-len(coalitions))
        return self._local.seconds_each / self._local.jobs

    def known(self, coalitions: BoolArray, *, leading: bool = False) -> Measured:
        """What is known of the first coalitions, up to the first that was not evaluated.

        The ``leading`` worths of a service are those by which further coalitions are chosen.
        """
        if self.calls is not None:
            return self.calls.known(coalitions, leading=leading)
        at, there = self._local.kept.find(pack(coalitions))
        if not there.all():
            at = at[: np.argmin(there)]
        return self._measured(self._local.kept.worths[at].T)

    def repeat(self, coalitions: BoolArray, times: IntArray, until: float = inf) -> None:
        """Ask a service so many times more for coalitions that it has answered."""
        assert self.calls is not None
        self._ask(self.calls.repeat(coalitions, times, until), len(coalitions))

    def _ask(self, calls: Iterator[int], total: int) -> None:
        """Wait for calls of a service, which say how many coalitions they have answered."""
        if self.ended is not None:
            return
        self._bar.expect(total)
        with self._telling():
            for count in calls:
                self._bar.update(count)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """A worth that fails for good says in its error what is known."""
        try:
            yield
        except WorthError as error:
            self._attach(error)
            raise

    def _attach(self, error: Any, known: tuple[BoolArray, FloatArray] | None = None) -> None:
        """The error or interrupt with what is known: coalitions and their worths."""
        if known is None and self.calls is not None:
            known = self.calls.complete()
        elif known is None:
            kept = self._local.kept
            worths = self._measured(kept.worths.T).worths
            known = unpack(kept.keys, len(self.game.players)), worths
        error.coalitions, error.worths = known
        error.partial = getattr(error, "partial", None)

    def _keep(self, interrupt: Any) -> None:
        """An interrupt, wherever it came, has what is known, and says so."""
        if not hasattr(interrupt, "worths"):
            self._attach(interrupt)
        if self._store is None and (count := len(interrupt.coalitions)):
            interrupt.add_note(
                f"the {count:,} worths that were found are in sys.last_value.worths, "
                "their coalitions in sys.last_value.coalitions"
            )

    def _spend(self, keys: Keys) -> None:
        """Refuse more coalitions than the budget allows, stored or not."""
        if self.options.budget is None:
            return
        self._asked.update(keys.tolist())
        if len(self._asked) > self.options.budget:
            raise ValueError(
                f"{self.game!r}: {len(self._asked):,} coalitions are needed, the budget allows "
                f"{self.options.budget:,}; raise it"
            )

    def refuse_auto(self) -> None:
        """Refuse to share answers out where no standard errors say where they are needed."""
        if self.calls is not None and self.calls.service.auto:
            raise ValueError(
                f"{self.game!r}: repeats='auto' puts answers where they make standard errors smallest, "
                "which is not worked out for what is asked here; give repeats= as a number"
            )

    def table(self) -> Measured:
        """All worths (*batch, 2^n) in table order, with variances where the game is noisy."""
        check_table(self.game, self.options)
        self.refuse_auto()
        count, size = len(self.game.players), block_size(self.game)
        if self.calls is not None:
            found = self.measure(coalitions_in(np.arange(2**count), count))
            if found.worths.shape[-1] < 2**count:
                raise self.stopped("exact values need all worths")
            self.refuse_fallbacks()
            return found
        # NaN, so that a missing worth is not taken for one.
        table, kept = np.full((numbers_kept(self.game), 2**count), np.nan), self._local.kept
        starts: Sequence[int] = range(0, 2**count, size)
        if len(kept):
            table[:, rows_of(unpack(kept.keys, count))] = kept.worths.T
            starts = [start for start in starts if np.isnan(table[0, start : start + size]).any()]

        def block(start: int) -> BoolArray:
            rows: IntArray = start + np.flatnonzero(np.isnan(table[0, start : start + size]))
            return coalitions_in(rows, count)

        try:
            for coalitions, worths in self._local.rounds(starts, block, 2**count - len(kept)):
                table[:, rows_of(coalitions)] = worths.T
            if self.ended is not None:
                raise self.stopped("exact values need all worths")
            self._check_full(table)
            self.refuse_fallbacks()
        except (WorthError, KeyboardInterrupt) as error:
            known = np.flatnonzero(~np.isnan(table[0]))
            worths = self._measured(table[:, known]).worths
            self._attach(error, (coalitions_in(known, count), worths))
            raise
        return self._measured(table)

    def _measured(self, columns: FloatArray) -> Measured:
        """The worths of the game in question, of columns (numbers, m) of what is kept."""
        found = as_measured(self.game, columns, self.failures)
        if self.game.traits.pairs and found.variances is not None:
            own = found.variances
            found = replace(found, variances=pooled(own, np.ones(len(own))))
        return found if self._place is None else found.game(self._place)

    def stopped(self, needed: str, why: str | None = None) -> BaseException:
        """The error where evaluation ended before there was enough for any answer."""
        error: BaseException = KeyboardInterrupt()
        if self.ended != INTERRUPTED:
            kept = "" if self._store is None else f"; those evaluated are in {self._store.path}"
            error = WorthError(f"{self.game!r}: {self.ended or why}, and {needed}{kept}")
        self._attach(error)
        return error

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


def evaluate_all(game: Game, options: Options) -> tuple[Measured, Spent]:
    """The table of all worths, and what was evaluated for it."""
    with Evaluator(game, options) as evaluator:
        found = evaluator.table()
        return found, evaluator.spent


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that worths may depend on."""
    import fairfield

    # Of this code, whatever the installation of another copy says.
    found = {"python": ".".join(map(str, sys.version_info[:2])), "fairfield": fairfield.__version__}
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
