"""Calls under way, as the driver sees them, and the Ctrl-C that it waits for them after."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fairfield.core.service import Worth
from fairfield.evaluation.remote.attempts import Attempts, loop_of_calls

# How often, in seconds, the driver looks up from waiting.
LOOK = 0.5


@dataclass
class UnderWay:
    """The calls under way: of the coalition in which place, and since when."""

    attempts: Attempts
    calls: dict[Future[Worth], tuple[int, float]] = field(default_factory=dict)

    def begin(self, place: int, names: tuple[Any, ...]) -> None:
        """Begin a call on the loop of all calls."""
        loop = loop_of_calls()
        if asyncio._get_running_loop() is loop:
            raise RuntimeError(
                "an async worth function asks another service by fairfield, and so would wait for itself; "
                "await asyncio.to_thread(…) that call"
            )
        self.attempts.purse.under_way += 1
        call = asyncio.run_coroutine_threadsafe(self.attempts.ask(names), loop)
        self.calls[call] = place, time.perf_counter()

    def ended(self) -> list[tuple[Future[Worth], int, float]]:
        """The next calls that end, their places and seconds; none if that takes long."""
        found = wait(self.calls, timeout=LOOK, return_when=FIRST_COMPLETED).done
        now = time.perf_counter()
        batch = [(call, *self.calls.pop(call)) for call in found]
        return [(call, place, now - at) for call, place, at in sorted(batch, key=lambda it: it[2])]

    def __enter__(self) -> UnderWay:
        return self

    def __exit__(self, *error: object) -> None:
        # What a second Ctrl-C leaves without an answer may yet be charged.
        self.attempts.purse.under_way = 0
        self.attempts.purse.abandoned += len(self.calls)
        for call in self.calls:
            call.cancel()


@contextmanager
def interrupts(attempts: Attempts) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, which ends all attempts; the second interrupts as ever.

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
        attempts.stopping = True  # at once, not when the driver looks up

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
