"""One call of a service: paced, timed, tried again after errors that pass.

Calls run on an event loop in a thread of their own, which lives as long as the process; so they
work in scripts, in notebooks, whose loop is busy, and with clients that stay bound to one loop.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from fairfield.core.service import Service, Worth

# Seconds before the second attempt, doubled before each further one, and the most.
FIRST_WAIT, LONGEST_WAIT = 0.1, 60.0
# What other libraries call errors that pass; few of them derive from Python's own.
PASSING = {"TimeoutError", "ConnectionError", "TransportError", "URLError", "APIConnectionError"}
# Answers to requests that may succeed later: time-outs, conflicts, rate limits; and all of 5xx.
PASSING_STATUS = {408, 409, 425, 429}
_SECRET_NAMES = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SECRET_TEXTS = re.compile(
    r"(bearer\s+|\bsk-|\b(?:api[-_]?)?key[=:]\s*)[\w.~+/-]{6,}", re.IGNORECASE
)


def is_passing(error: BaseException) -> bool:
    """Whether a call may succeed when it is repeated: the default of ``RemoteGame(passing=)``.

    So it may after a lost connection, a time-out, a rate limit (429) or an error of the server
    (5xx); not after a wrong key, a bad request, or where a quota is exhausted.

    >>> is_passing(TimeoutError()), is_passing(PermissionError("wrong key"))
    (True, False)
    """
    status = status_of(error)
    if status is not None:
        return (status in PASSING_STATUS or status >= 500) and not _quota_exhausted(error)
    return any(kind.__name__ in PASSING for kind in type(error).__mro__)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error of any client carries, if it does."""
    response = getattr(error, "response", None)
    for holder, name in ((error, "status_code"), (response, "status_code"), (error, "status")):
        status = getattr(holder, name, None)
        if isinstance(status, int):
            return status
    code = getattr(error, "code", None)
    return code if isinstance(code, int) else None


def _quota_exhausted(error: BaseException) -> bool:
    """Whether a rate limit is a quota that waiting does not refill, as OpenAI's services say."""
    text = str(getattr(error, "code", "")), str(getattr(error, "body", "")), _body_of(error)
    return any("insufficient_quota" in each for each in text)


def _body_of(error: BaseException) -> str:
    try:
        return str(getattr(getattr(error, "response", None), "text", ""))
    except Exception:  # a body that is still to be read from the network
        return ""


def retry_after(error: BaseException | None) -> float:
    """The seconds that a service asks to wait before the next request; 0 where it does not."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "headers", None) or {}
    given = headers.get("retry-after") or headers.get("Retry-After")
    if given is None:
        return 0.0
    try:
        return max(0.0, float(given))
    except ValueError:
        try:
            return max(0.0, parsedate_to_datetime(str(given)).timestamp() - time.time())
        except ValueError:
            return 0.0


def without_secrets(text: str) -> str:
    """The text without keys: values of environment variables named so, and what looks like one."""
    for name, secret in os.environ.items():
        if len(secret) >= 8 and _SECRET_NAMES.search(name):
            text = text.replace(secret, "[secret]")
    return _SECRET_TEXTS.sub(r"\1[secret]", text)


@dataclass
class Rates:
    """Turns for requests, evenly spaced so that no minute has too many, nor too many tokens."""

    requests: float | None
    tokens: float | None
    _free: float = 0.0
    _tokens_free: float = 0.0
    _mean: float = 0.0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def turn(self) -> float:
        """Wait for the next turn; returns the tokens that were set aside for it."""
        async with self._lock:
            while (left := max(self._free, self._tokens_free) - time.monotonic()) > 0:
                await asyncio.sleep(left)
            if self.requests is not None:
                space = 60.0 / self.requests
                # Waking up late does not slow the pace down.
                self._free = max(self._free, time.monotonic() - space) + space
            self._take(self._mean)
        return self._mean

    def used(self, tokens: int, aside: float) -> None:
        """Take down what an answer used beyond what was set aside for it."""
        self._mean += 0.2 * (tokens - self._mean) if self._mean else tokens
        self._take(tokens - aside)

    def pause(self, seconds: float) -> None:
        """No request of anyone before so many seconds have passed."""
        if seconds > 0:
            self._free = max(self._free, time.monotonic() + seconds)

    def _take(self, tokens: float) -> None:
        if self.tokens is not None:
            now = time.monotonic()
            self._tokens_free = max(self._tokens_free, now) + tokens * 60.0 / self.tokens


@dataclass
class Attempts:
    """Calls of one service in one run, with what they had to repeat."""

    service: Service
    rates: Rates
    # Once set, nothing is tried again: the run is about to end.
    stopping: bool = False
    retries: int = 0
    # Calls given up while the service was still at work, which may yet be charged.
    abandoned: int = 0

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

        def wait(state: Any) -> float:
            asked = retry_after(state.outcome.exception())
            self.rates.pause(asked)
            return max(asked, backoff(state))

        def count(_: Any) -> None:
            self.retries += 1

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda e: not self.stopping and self.service.passing(e)),
            stop=stop_after_attempt(self.service.retries + 1),
            wait=wait,
            before_sleep=count,
            reraise=True,
        )
        answer: Worth = await retrying(self._attempt, names)
        return answer

    async def _attempt(self, names: tuple[Any, ...]) -> Worth:
        aside = await self.rates.turn()
        try:
            async with asyncio.timeout(self.service.timeout) as limit:
                assert self.service.worth is not None
                found = await called(self.service.worth, names)
        except TimeoutError as error:
            if not limit.expired():
                raise
            self.abandoned += 1
            raise TimeoutError(f"no answer within {self.service.timeout:g} seconds") from error
        answer = found if isinstance(found, Worth) else Worth(found)
        self.rates.used(answer.tokens, aside)
        return answer


async def called(function: Callable[..., Any], names: tuple[Any, ...]) -> Any:
    """What the function returns: awaited if it is async, else from a thread of its own."""
    try:
        found = function(names) if is_async(function) else await _in_thread(function, names)
        return await found if inspect.isawaitable(found) else found
    except (SystemExit, KeyboardInterrupt, StopIteration) as error:
        # These would end the loop, and every call with it.
        raise RuntimeError(f"the worth function raised {type(error).__name__}") from error


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
        except BaseException as error:
            raised = error
        loop.call_soon_threadsafe(settle, found, raised)

    threading.Thread(target=work, daemon=True, name="fairfield worth").start()
    found, error = await done
    if error is not None:
        raise error
    return found


def loop_of_calls() -> asyncio.AbstractEventLoop:
    """The event loop on which this process calls services."""
    return _started(os.getpid())


@cache
def _started(process: int) -> asyncio.AbstractEventLoop:
    # By process, since a fork has no threads.
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True, name="fairfield calls").start()
    return loop
