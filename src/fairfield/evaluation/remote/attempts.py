"""One call of a service: paced, timed, tried again after errors that pass.

Calls run on an event loop in a thread of their own, which lives as long as the process; so they
work in scripts, in notebooks, whose loop is busy, and with clients that stay bound to one loop.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from fairfield.core.copies import lent
from fairfield.core.service import Service, Worth
from fairfield.evaluation.remote.passing import may_be_charged, retry_after
from fairfield.evaluation.remote.purse import Purse
from fairfield.evaluation.remote.secrets import plain

# Seconds before the second attempt, doubled before each further one, and the most.
FIRST_WAIT, LONGEST_WAIT = 0.1, 60.0
# How often, in seconds, who waits for a turn looks whether the run has ended.
LOOK = 0.2


class NotMadeError(Exception):
    """An attempt was not made, since the run ends or its money does not allow it."""


@dataclass
class Rates:
    """Turns for requests, evenly spaced so that no minute has too many, nor too many tokens.

    While nothing is known of the tokens of an answer, one request goes ahead alone.
    """

    requests: float | None
    tokens: float | None
    # Whether that one is under way, and whether it was answered.
    ahead: bool = False
    _answered: bool = False
    _free: float = 0.0
    _tokens_free: float = 0.0
    _mean: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self, rest: Callable[[float], Awaitable[None]] | None = None) -> float:
        """Wait for the next turn, by ``rest``; returns the tokens that were set aside for it."""
        async with self._lock:
            while (left := self._left()) > 0:
                await (rest or asyncio.sleep)(left)
            self.ahead = self.tokens is not None and not self._answered
            if self.requests is not None:
                now, space = time.monotonic(), 60.0 / self.requests
                # Waking up late does not slow the pace down; who was idle has saved up nothing.
                self._free = (self._free if now - self._free < space else now) + space
            self._take(self._mean)
        return self._mean

    def used(self, tokens: int, aside: float) -> None:
        """Take down what an answer used beyond what was set aside for it."""
        self._answered, self.ahead = True, False
        self._mean += 0.2 * (tokens - self._mean) if self._mean else tokens
        self._take(tokens - aside)

    def pause(self, seconds: float) -> None:
        """No request of anyone before so many seconds have passed."""
        if seconds > 0:
            self._free = max(self._free, time.monotonic() + seconds)

    def _left(self) -> float:
        """The seconds until the next turn, as far as they are known."""
        return LOOK if self.ahead else max(self._free, self._tokens_free) - time.monotonic()

    def _take(self, tokens: float) -> None:
        if self.tokens is not None:
            now = time.monotonic()
            self._tokens_free = max(self._tokens_free, now) + tokens * 60.0 / self.tokens


@dataclass
class Attempts:
    """Calls of one service in one run, with what they had to repeat."""

    service: Service
    rates: Rates
    purse: Purse = field(default_factory=Purse)
    # Once set, no attempt begins: the run is about to end.
    stopping: bool = False
    retries: int = 0

    async def ask(self, names: tuple[Any, ...]) -> Worth:
        """The answer for one coalition, tried again while errors pass and attempts are left."""
        from tenacity import (
            AsyncRetrying,
            retry_if_exception,
            stop_after_attempt,
            wait_exponential,
            wait_random,
        )

        doubled = wait_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)
        backoff = doubled + wait_random(0, FIRST_WAIT)

        def passes(error: BaseException) -> bool:
            return not isinstance(error, NotMadeError) and self.service.passing(error)

        def wait(state: Any) -> float:
            asked = retry_after(state.outcome.exception())
            self.rates.pause(asked)
            return max(asked, backoff(state))

        async for attempt in AsyncRetrying(
            sleep=self._rest,
            retry=retry_if_exception(passes),
            stop=stop_after_attempt(self.service.retries + 1),
            wait=wait,
            reraise=True,
        ):
            with attempt:
                number = attempt.retry_state.attempt_number
                try:
                    return await self._attempt(names, again=number > 1)
                except Exception as error:
                    with suppress(Exception):  # a class of the user's may take no attributes
                        error.fairfield_attempts = number  # type: ignore[attr-defined]  # for attempts_of
                    raise
        raise AssertionError("the last attempt answers or raises")

    async def _rest(self, seconds: float) -> None:
        """Sleep, unless the run ends meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._check()
            await asyncio.sleep(min(left, LOOK))

    def _check(self) -> None:
        if self.stopping or not self.purse.fits():
            raise NotMadeError

    async def _attempt(self, names: tuple[Any, ...], *, again: bool) -> Worth:
        aside = await self.rates.turn(self._rest)
        try:
            self._check()
            self.retries += again
            async with asyncio.timeout(self.service.timeout) as limit:
                assert self.service.worth is not None
                answer = await called(self.service.worth, names)
        except BaseException as error:
            self.rates.ahead = False
            # By the time allowed here, or by that of a client of the user's.
            self.purse.abandoned += may_be_charged(error)
            if isinstance(error, TimeoutError) and limit.expired():
                late = f"no answer within {self.service.timeout:g} seconds"
                raise TimeoutError(late) from error
            raise
        self.rates.used(answer.tokens, aside)
        return answer


def attempts_of(error: BaseException) -> int:
    """How many attempts there were before this error was final."""
    return int(getattr(error, "fairfield_attempts", 1))


async def called(function: Callable[..., Any], names: tuple[Any, ...]) -> Worth:
    """What the function answers: awaited if it is async, else from a thread of its own."""
    try:
        found = function(names) if is_async(function) else await _in_thread(function, names)
        return _copied(await found) if inspect.isawaitable(found) else found
    except (SystemExit, KeyboardInterrupt, StopIteration) as error:
        # These would end the loop, and every call with it.
        raise RuntimeError(f"the worth function raised {type(error).__name__}") from error


def _copied(found: Any) -> Worth:
    """An answer that later calls do not change, though they use its array or record again."""
    answer = found if isinstance(found, Worth) else Worth(found)
    return replace(answer, value=lent(answer.value), record=plain(answer.record))


def is_async(function: Any) -> bool:
    """Whether calling this gives something to await: ``async def``, or an object that is called so."""
    own = getattr(function, "__call__", None)  # noqa: B004  # its kind is asked for
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own)


async def _in_thread(function: Callable[..., Any], names: tuple[Any, ...]) -> Any:
    """A call in a daemon thread: one that hangs for ever keeps neither the run nor the exit."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def settle(found: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((found, error))

    def work() -> None:
        found, raised = None, None
        try:
            found = function(names)
            found = found if inspect.isawaitable(found) else _copied(found)
        except BaseException as error:
            raised = error
        loop.call_soon_threadsafe(settle, found, raised)

    threading.Thread(target=work, daemon=True, name="fairfield worth").start()
    found, error = await done
    if error is not None:
        raise error
    return found


_loops: dict[int, asyncio.AbstractEventLoop] = {}
_starting = threading.Lock()


def loop_of_calls() -> asyncio.AbstractEventLoop:
    """The event loop on which this process calls services; a fork, which has no threads, gets its own."""
    with _starting:
        process = os.getpid()
        if process not in _loops:
            _loops[process] = loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, daemon=True, name="fairfield calls").start()
        return _loops[process]
