"""Worths from a service: many calls at a time, each answer kept as soon as it is there.

The driver decides what is asked next (one call for each that ends, while money and time last)
and commits what was answered; the calls themselves run on the loop of ``attempts.py``.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import members, spell
from fairfield.core.game import Failures, Game, Measured
from fairfield.core.runtime.imports import needed_for
from fairfield.core.service import Service, Usage, Worth, finite
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import INTERRUPTED, WorthError, tried
from fairfield.evaluation.remote.answers import Answer, Answers
from fairfield.evaluation.remote.attempts import Attempts, NotMadeError, Rates, attempts_of
from fairfield.evaluation.remote.known import Known, packed, unpacked
from fairfield.evaluation.remote.purse import Purse
from fairfield.evaluation.remote.secrets import without_keys
from fairfield.evaluation.remote.under_way import UnderWay, interrupts

# How often, in seconds, the driver looks at what others have answered.
POLL = 0.2


class Calls:
    """The answers of one game's service in one run, and what they took.

    ``ended`` is a sentence once no more calls will be made: the money is spent, the user
    interrupted the run.
    """

    def __init__(self, game: Game, service: Service, options: Options, stored: Answers | None):
        with needed_for("a worth behind a service"):
            import tenacity  # noqa: F401  # asked for before the first call
        changes = {"timeout": options.timeout, "retries": options.retries}
        given: dict[str, Any] = {k: v for k, v in changes.items() if v is not None}
        self.game, self.service, self.options = game, replace(service, **given), options
        self.ended: str | None = None
        # The coalitions whose last answers came in this run.
        self._evaluated: set[bytes] = set()
        self._stored, self._known = stored, Known(service)
        self.purse = Purse(options.spend, service.price)
        rates = Rates(service.requests, service.tokens)
        self._attempts = Attempts(self.service, rates, self.purse)
        self._usage, self._fallbacks = service.usage, Failures()
        if service.empty is not None and service.known_empty:
            nobody = np.zeros((1, len(game.players)), dtype=bool)
            self._known.fixed[packed(nobody)[0]] = service.empty
            self._usage += Usage(note=f"F(∅) = {service.empty:g} was given, not asked for")
        self._adopt()

    @property
    def evaluations(self) -> int:
        """How many coalitions were evaluated in this run, each counted once."""
        return len(self._evaluated)

    @property
    def failures(self) -> Failures:
        """What went wrong so far, and what all calls took."""
        doubt = self.purse.doubt(self.ended)
        extra = Usage(retries=self._attempts.retries, cost=self.purse.cost, note=doubt)
        return replace(self._fallbacks, usage=self._usage + extra)

    def allow(self, share: float = inf, aside: int = 0) -> None:
        """Let calls cost this share of the money from now on, so many calls that come later set aside."""
        if self.purse.spend is None:
            return
        out_of_money = self.ended == self.purse.sentence()
        self.purse.share, self.purse.aside = self.purse.spent + share, aside
        if out_of_money and self.purse.room(1):
            self.ended = None

    def measure(self, coalitions: BoolArray) -> Measured:
        """The worths of all these coalitions, for whoever calls the game without an evaluator."""
        for _ in self.rounds(np.unique(coalitions, axis=0)):
            pass
        if self.ended is not None:
            raise WorthError(f"{self.game!r}: {self.ended}")
        return self.known(coalitions)

    def known(self, coalitions: BoolArray, *, leading: bool = False) -> Measured:
        """What is known of the first coalitions, up to the first that waits for answers."""
        keys = packed(coalitions)
        worths = self._known.worths(keys, leading=leading)
        noisy = self.game.traits.noisy
        variances = self._known.variances(keys[: len(worths)], leading=leading) if noisy else None
        return Measured(worths, variances, self.failures)

    def complete(self) -> tuple[BoolArray, FloatArray]:
        """All coalitions that wait for no answers, and their worths."""
        keys = self._known.complete()
        return unpacked(keys, len(self.game.players)), self._known.worths(keys, leading=False)

    def counts(self, coalitions: BoolArray) -> IntArray:
        """How many answers each coalition has; 0 for a worth that is not asked for."""
        return self._known.counts(packed(coalitions))

    @property
    def total(self) -> int:
        """How many answers there are."""
        return self._known.total

    def repeat(self, coalitions: BoolArray, times: IntArray, until: float) -> Iterator[int]:
        """As ``rounds``, for so many further answers to coalitions that have some."""
        self._known.ask_again(packed(coalitions), times)
        try:
            yield from self.rounds(coalitions, until)
        finally:
            self._known.more.clear()

    def rounds(self, coalitions: BoolArray, until: float = inf) -> Iterator[int]:
        """How many coalitions have come to have all their answers, as these are committed.

        No attempt begins after ``until``, nor once the run has ended; those under way are waited for.
        """
        keys = packed(coalitions)
        # Coalitions that are not claimed yet, those that other drivers ask for, and calls to begin.
        waiting = deque(at for at, key in enumerate(keys) if self._known.missing(key))
        foreign: list[int] = []
        ready: deque[int] = deque()
        if waiting and self.service.worth is None:
            self._refuse(coalitions[list(waiting)])
            return
        failed: WorthError | None = None
        attempts = self._attempts
        with (
            ExitStack() as end,
            interrupts(attempts) as interrupted,
            UnderWay(attempts) as under_way,
        ):
            if self._stored is not None:
                stored = self._stored
                end.callback(lambda: stored.release(self.purse.lost))
            while True:
                if interrupted.is_set():
                    self.ended = self.ended or INTERRUPTED
                over = failed is not None or time.perf_counter() >= until
                wanted = bool(waiting or ready or foreign)
                room = self._room(len(under_way.calls)) if wanted and not over else 0
                attempts.stopping = over or self.ended is not None
                if room and waiting and len(ready) < room:
                    chosen = [waiting.popleft() for _ in range(min(room, len(waiting)))]
                    missing = self._claim(chosen, keys)
                    ready.extend(at for at in missing for _ in range(missing[at]))
                    theirs = [at for at in chosen if at not in missing]
                    foreign += [at for at in theirs if self._known.missing(keys[at])]
                    yield sum(not self._known.missing(keys[at]) for at in chosen)
                for at in (ready.popleft() for _ in range(min(room, len(ready)))):
                    names = members(coalitions[at], self.game.players)
                    under_way.begin(at, (*self.service.always, *names))
                if under_way.calls:
                    batch = under_way.ended()
                    not_made, error = self._commit(batch, coalitions, keys)
                    failed = failed or error
                    ready.extendleft(not_made)
                    places = {place for _, place, _ in batch}
                    yield sum(not self._known.missing(keys[at]) for at in places)
                elif not room or not (waiting or foreign):
                    break
                elif not waiting:
                    time.sleep(POLL)
                    waiting, foreign = deque(foreign), []
        if failed is not None:
            raise failed
        if self.purse.spend is not None and self.ended == self.purse.sentence():
            yield self._do_without(coalitions, keys)

    def _do_without(self, coalitions: BoolArray, keys: list[bytes]) -> int:
        """Take the fallback of coalitions whose calls failed in earlier runs, as the money allows none.

        So a run that is repeated gives what it gave before. Returns of how many; where no others
        wait, the run goes on.
        """
        fallback, count = self.options.on_error, 0
        if self._stored is None or not isinstance(fallback, float):
            return 0
        failed = self._stored.failed()
        for coalition, key in zip(coalitions, keys, strict=True):
            if (missing := self._known.missing(key)) and len(failed.get(key, ())) >= missing:
                for why in failed[key][:missing]:
                    self._lose(coalition, key, fallback, why)
                count += 1
        if not any(map(self._known.missing, keys)):
            self.ended = None
        return count

    def _lose(self, coalition: BoolArray, key: bytes, fallback: float, why: str) -> None:
        """Do without an answer."""
        if self._known.lose(key, fallback):
            spelled = spell(members(coalition, self.game.players))
            self._fallbacks += Failures(1, f"{spelled} ({why})")

    def _refuse(self, coalitions: BoolArray) -> None:
        """End the run where there is no service to ask: the answers are all there are."""
        counts = [self._known.missing(key) for key in packed(coalitions)]
        wanted = self.service.wanted
        why = None if wanted is None else wanted(coalitions, counts)
        first, held = (
            spell(members(coalitions[0], self.game.players)),
            self.counts(coalitions[:1])[0],
        )
        known = f"{held} of {held + counts[0]} answers" if held else "no answer"
        self.ended = why or f"{known} for coalition {first} {'are' if held else 'is'} known"

    def _room(self, under_way: int) -> int:
        """How many further calls may begin, by concurrency and money."""
        if self.ended is not None:
            return 0
        room = self.purse.room(self.service.concurrency - under_way)
        # What is under way may cost less than feared.
        if not room and not under_way:
            self.ended = self.purse.sentence()
        return room

    def _commit(
        self,
        batch: list[tuple[Future[Worth], int, float]],
        coalitions: BoolArray,
        keys: list[bytes],
    ) -> tuple[list[int], WorthError | None]:
        """Keep the answers of a batch; returns what was not asked, and the first error to end the run."""
        not_made: list[int] = []
        failed: WorthError | None = None
        good: list[Answer] = []
        lost: list[tuple[bytes, str]] = []
        for call, place, seconds in batch:
            worth = None
            try:
                worth = self.purse.pay(call.result())
                self._usage += Usage(tokens=worth.tokens)
                worth = replace(worth, value=finite(worth.value))
            except NotMadeError:
                not_made.append(place)
            except Exception as error:
                self.purse.useless += worth is not None
                why, cause = without_keys(error)
                why += tried(attempts_of(error))
                self._usage += Usage(failures=1)
                if isinstance(self.options.on_error, float):
                    self._lose(coalitions[place], keys[place], self.options.on_error, why)
                    lost.append((keys[place], why))
                elif failed is None:
                    spelled = spell(members(coalitions[place], self.game.players))
                    failed = WorthError(f"the game failed on coalition {spelled}: {why}")
                    failed.__cause__ = cause
            else:
                self._usage += Usage(calls=1)
                self._known.add(keys[place], worth.value)
                good.append(Answer(keys[place], worth, seconds))
        self.purse.under_way -= len(batch)
        done = {key for _, at, _ in batch if not self._known.missing(key := keys[at])}
        self._evaluated |= done
        if self._stored is not None:
            self._stored.add(good, done, self.purse.lost, lost)
        return not_made, failed

    def _claim(self, chosen: list[int], keys: list[bytes]) -> dict[int, int]:
        """How many answers this driver is to ask for, of places that no other driver asks for."""
        granted = {keys[at] for at in chosen}
        if self._stored is not None:
            granted = self._stored.claim(granted)
            self._adopt()  # what others have answered until now
        missing = {at: self._known.missing(keys[at]) for at in chosen if keys[at] in granted}
        if self._stored is not None:
            self._stored.add([], [keys[at] for at, count in missing.items() if not count])
        return missing

    def _adopt(self) -> None:
        """Take over what the store has of answers that were not read yet."""
        if self._stored is None:
            return
        for each in self._stored.fresh():
            self._known.add(each.coalition, each.worth.value)
            self.purse.pay(each.worth, earlier=True)
        self.purse.abandoned_before = self._stored.abandoned()
