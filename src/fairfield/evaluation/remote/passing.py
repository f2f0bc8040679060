"""Which errors of a service may pass, and how long it asks to wait; of any client's own errors."""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

# What other libraries call errors that pass; few of them derive from Python's own.
PASSING = {
    "TimeoutError",
    "ConnectionError",
    "TransportError",  # httpx
    "URLError",
    "APIConnectionError",  # openai, anthropic
    "Timeout",  # requests
    "ChunkedEncodingError",
    "ClientConnectionError",  # aiohttp
    "ClientPayloadError",
}
# Time-outs of httpx and requests before a request was sent.
UNSENT = {"ConnectTimeout", "PoolTimeout", "WriteTimeout"}
# Answers to requests that may succeed later: time-outs, conflicts, rate limits; and all of 5xx.
PASSING_STATUS = {408, 409, 425, 429}


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


def may_be_charged(error: BaseException) -> bool:
    """Whether a service may have been at work on a call that nobody waited for: its time ran out.

    Not where the time ran out before the request was sent.

    >>> may_be_charged(TimeoutError()), may_be_charged(ConnectionError())
    (True, False)
    """
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return any("Timeout" in each for each in kinds) and not kinds & UNSENT


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
