"""Worths from a service: many calls at a time, each answer kept as soon as it is there.

The driver decides what is asked next (one call for each that ends, while money and time last)
and commits what was answered; the calls themselves run on the loop of ``attempts.py``.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, IntArray
from fairfield.core.coalitions import members, spell
from fairfield.core.game import Failures, Game, Measured
from fairfield.core.imports import needed_for
from fairfield.core.service import Service, Usage, Worth, finite
from fairfield.evaluation.options import Options
from fairfield.evaluation.outcomes import WorthError
from fairfield.evaluation.remote.answers import Answer, Answers
from fairfield.evaluation.remote.attempts import Attempts, Rates, loop_of_calls, without_secrets
from fairfield.evaluation.remote.known import Known, packed

# How often, in seconds, the driver looks up from waiting, and at what others have answered.
LOOK, POLL = 0.5, 0.2
INTERRUPTED = "interrupted"


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
        self._stored = stored
        self._known = Known(service)
        self._calls = Attempts(self.service, Rates(service.requests, service.tokens))
        self._usage, self._fallbacks, self._dearest = Usage(), Failures(), service.price or 0.0
        # What earlier runs on the store have spent.
        self._before = 0.0
        self._note = ""
        if service.empty is not None and not service.always:
            nobody = np.zeros((1, len(game.players)), dtype=bool)
            self._known.fixed[packed(nobody)[0]] = service.empty
            self._note = f"F(∅) = {service.empty:g} was given, not asked for"
        self._adopt()

    @property
    def failures(self) -> Failures:
        """What went wrong so far, and what all calls took."""
        calls, most = self._calls, self._dearest
        # A call that was given up may yet be charged.
        extra = Usage(retries=calls.retries, cost=calls.abandoned * most, note=self._note)
        return replace(self._fallbacks, usage=self._usage + extra)

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
        variances = self._known.variances(keys[: len(worths)]) if noisy else None
        return Measured(worths, variances, self.failures)

    def counts(self, coalitions: BoolArray) -> IntArray:
        """How many answers each coalition has; 0 for a worth that is not asked for."""
        return self._known.counts(packed(coalitions))

    @property
    def total(self) -> int:
        """How many answers there are."""
        return self._known.total

    def repeat(self, coalitions: BoolArray, times: IntArray, until: float) -> Iterator[int]:
        """As ``rounds``, for so many further answers to coalitions that have some."""
        more = self.counts(coalitions) + times - self.service.repeats
        self._known.more = Counter(dict(zip(packed(coalitions), more.tolist(), strict=True)))
        try:
            yield from self.rounds(coalitions, until)
        finally:
            self._known.more.clear()

    def rounds(self, coalitions: BoolArray, until: float = inf) -> Iterator[int]:
        """How many coalitions have come to have all their answers, as these are committed.

        No call begins after ``until``, nor once the run has ended; those under way are waited for.
        """
        keys = packed(coalitions)
        # Coalitions that are not claimed yet, those that other drivers ask for, and calls to begin.
        waiting = deque(at for at, key in enumerate(keys) if self._known.missing(key))
        if waiting and self.service.worth is None:
            self._refuse(
                coalitions[list(waiting)], [self._known.missing(keys[at]) for at in waiting]
            )
            return
        foreign: list[int] = []
        ready: deque[int] = deque()
        failed: WorthError | None = None
        with _interrupts() as interrupted, _UnderWay(self._calls) as under_way:
            while True:
                if interrupted.is_set():
                    self.ended = self.ended or INTERRUPTED
                self._calls.stopping = failed is not None or self.ended is not None
                room = 0 if failed else self._room(len(under_way.calls), until)
                if room and waiting and len(ready) < room:
                    chosen = [waiting.popleft() for _ in range(min(room, len(waiting)))]
                    granted = self._granted([keys[at] for at in chosen])
                    missing = {at: self._known.missing(keys[at]) for at in chosen}
                    mine = [at for at in chosen if keys[at] in granted]
                    ready.extend(at for at in mine for _ in range(missing[at]))
                    foreign += [at for at in chosen if missing[at] and keys[at] not in granted]
                    yield sum(not missing[at] for at in chosen)
                for at in (ready.popleft() for _ in range(min(room, len(ready)))):
                    names = members(coalitions[at], self.game.players)
                    under_way.begin(at, (*self.service.always, *names))
                if under_way.calls:
                    batch = under_way.ended()
                    failed = self._commit(batch, coalitions, keys) or failed
                    places = {place for _, place, _ in batch}
                    yield sum(not self._known.missing(keys[at]) for at in places)
                elif not room or not (waiting or foreign):
                    break
                elif not waiting:
                    time.sleep(POLL)
                    waiting, foreign = deque(foreign), []
        if failed is not None:
            raise failed

    def _refuse(self, coalitions: BoolArray, counts: list[int]) -> None:
        """End the run where there is no service to ask: the answers are all there are."""
        if self.service.wanted is not None:
            self.service.wanted(coalitions, counts)
        first = spell(members(coalitions[0], self.game.players))
        self.ended = f"no answer for coalition {first} is known"

    def _room(self, under_way: int, until: float) -> int:
        """How many further calls may begin, by concurrency, time and money."""
        if self.ended is not None or time.perf_counter() >= until:
            return 0
        room, spend = self.service.concurrency - under_way, self.options.spend
        if spend is None:
            return room
        left = spend * (1 + 1e-12) - self._before - self.failures.usage.cost
        if self._dearest:
            room = min(room, int(left / self._dearest) - under_way)
        elif left <= 0:
            room = 0
        # What is under way may cost less than feared.
        if room <= 0 and not under_way:
            earlier = f", {self._before:.6g} of it spent before" if self._before else ""
            self.ended = f"spend={spend:g} allows no further call{earlier}"
        return max(room, 0)

    def _commit(
        self,
        batch: list[tuple[Future[Worth], int, float]],
        coalitions: BoolArray,
        keys: list[bytes],
    ) -> WorthError | None:
        """Keep the answers of a batch; returns the first error that ends the run."""
        failed: WorthError | None = None
        good: list[Answer] = []
        for call, place, seconds in batch:
            try:
                worth = call.result()
                worth = replace(worth, value=finite(worth.value))
            except Exception as error:
                failed = self._failed(error, coalitions[place], keys[place]) or failed
                continue
            self._dearest = max(self._dearest, worth.cost or 0.0)
            cost = worth.cost if worth.cost is not None else self.service.price
            worth = replace(worth, cost=cost)
            self._usage += Usage(calls=1, cost=cost or 0.0, tokens=worth.tokens)
            good.append(Answer(keys[place], worth, seconds))
        if good and self._stored is not None:
            self._stored.add(good)
        for answer in good:
            self._known.add(answer.coalition, answer.worth.value)
        return failed

    def _failed(self, error: Exception, coalition: BoolArray, key: bytes) -> WorthError | None:
        """Count a failed call: its coalition takes the fallback, or the run ends with an error."""
        self._usage += Usage(failures=1)
        spelled = spell(members(coalition, self.game.players))
        text = f"{type(error).__name__}: {error}"
        sentence = f"the game failed on coalition {spelled}: {without_secrets(text)}"
        if isinstance(self.options.on_error, float):
            self._fallbacks += Failures(1, f"{spelled} ({without_secrets(text)})")
            if key not in self._known.more:  # a repeat that fails costs no answer
                self._known.fixed[key] = self.options.on_error
            return None
        found = WorthError(sentence)
        # The error itself would show what was taken out of its text.
        found.__cause__ = error if without_secrets(text) == text else None
        return found

    def _granted(self, keys: list[bytes]) -> set[bytes]:
        """The coalitions that no other driver asks for, after its last answers were read."""
        if self._stored is None:
            return set(keys)
        granted = self._stored.claim(keys)
        self._adopt()
        return granted

    def _adopt(self) -> None:
        """Take over what the store has of answers that were not read yet."""
        for each in [] if self._stored is None else self._stored.fresh():
            self._known.add(each.coalition, each.worth.value)
            self._before += each.worth.cost or 0.0


@dataclass
class _UnderWay:
    """The calls under way: of the coalition in which place, and since when."""

    attempts: Attempts
    calls: dict[Future[Worth], tuple[int, float]] = field(default_factory=dict)

    def begin(self, place: int, names: tuple[Any, ...]) -> None:
        """Begin a call on the loop of all calls."""
        call = asyncio.run_coroutine_threadsafe(self.attempts.ask(names), loop_of_calls())
        self.calls[call] = place, time.perf_counter()

    def ended(self) -> list[tuple[Future[Worth], int, float]]:
        """The next calls that end, their places and seconds; none if that takes long."""
        found = wait(self.calls, timeout=LOOK, return_when=FIRST_COMPLETED).done
        now = time.perf_counter()
        batch = [(call, *self.calls.pop(call)) for call in found]
        return [(call, place, now - at) for call, place, at in sorted(batch, key=lambda it: it[2])]

    def __enter__(self) -> _UnderWay:
        return self

    def __exit__(self, *error: object) -> None:
        for call in self.calls:
            call.cancel()


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second interrupts as ever.

    So no answer is lost between its arrival and its commit.
    """
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield interrupted
        return

    def interrupt(number: int, frame: Any) -> None:
        if interrupted.is_set():
            before(number, frame)
        interrupted.set()

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
