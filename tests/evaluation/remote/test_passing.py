import time
from email.utils import formatdate
from types import SimpleNamespace

import httpx
import pytest

from fairfield.evaluation.remote.passing import is_passing, may_be_charged, retry_after


class StatusError(Exception):
    def __init__(self, status, headers=None, text=""):
        super().__init__(f"status {status}")
        self.response = SimpleNamespace(status_code=status, headers=headers or {}, text=text)


TransportError = type("TransportError", (Exception,), {})


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (StatusError(429), True),
        (StatusError(503), True),
        (StatusError(408), True),
        (StatusError(401), False),
        (StatusError(400), False),
        (StatusError(429, text='{"code": "insufficient_quota"}'), False),
        (TimeoutError(), True),
        (ConnectionResetError(), True),
        (type("ReadError", (TransportError,), {})(), True),
        (
            type("ServerDisconnectedError", (type("ClientConnectionError", (OSError,), {}),), {})(),
            True,
        ),
        (type("ReadTimeout", (type("Timeout", (OSError,), {}),), {})(), True),
        (ValueError("no number in the answer"), False),
    ],
)
def test_errors_that_may_pass_are_told_from_final_ones(error, passes):
    assert is_passing(error) is passes


def test_a_service_says_how_long_to_wait():
    assert retry_after(StatusError(429, {"retry-after": "1.5"})) == 1.5
    assert retry_after(StatusError(429)) == 0
    assert retry_after(StatusError(429, {"retry-after": "soon"})) == 0
    in_a_minute = formatdate(time.time() + 60, usegmt=True)
    assert 55 < retry_after(StatusError(429, {"retry-after": in_a_minute})) <= 60


def test_what_was_sent_and_not_waited_for_may_be_charged():
    request = httpx.Request("GET", "http://x")
    charged = [kind("late", request=request) for kind in (httpx.ReadTimeout, httpx.ConnectTimeout)]
    assert [may_be_charged(each) for each in charged] == [True, False]
    assert may_be_charged(TimeoutError())
    assert not may_be_charged(ConnectionResetError())
