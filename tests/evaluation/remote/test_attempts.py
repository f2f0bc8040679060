import asyncio
import functools
import time
from email.utils import formatdate
from types import SimpleNamespace

import pytest

from fairfield.core.service import Service
from fairfield.evaluation.remote.attempts import (
    Attempts,
    Rates,
    called,
    is_async,
    is_passing,
    loop_of_calls,
    retry_after,
    without_secrets,
)


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


def test_keys_are_taken_out_of_texts(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "verysecretvalue")
    assert without_secrets("url?x=verysecretvalue") == "url?x=[secret]"
    assert "abcdef123456" not in without_secrets("https://x.y/z?key=abcdef123456&q=1")
    assert "abcdef123456" not in without_secrets("Authorization: Bearer abcdef123456")
    assert without_secrets("the key is under the mat") == "the key is under the mat"


class Sleeper:
    """Time that passes by sleeping only."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(asyncio, "sleep", self.sleep)

    async def sleep(self, seconds):
        self.now += seconds


def test_requests_are_spaced_evenly(monkeypatch):
    clock, rates, turns = Sleeper(monkeypatch), Rates(requests=120, tokens=None), []

    async def take():
        for _ in range(5):
            await rates.turn()
            turns.append(clock.now)

    asyncio.run(take())
    assert turns == pytest.approx([100, 100, 100.5, 101, 101.5])


def test_tokens_are_set_aside_and_corrected(monkeypatch):
    clock, rates = Sleeper(monkeypatch), Rates(requests=None, tokens=600)

    async def take():
        rates.used(20, await rates.turn())  # 20 tokens: 2 s
        aside = await rates.turn()
        assert (clock.now, aside) == (pytest.approx(102), 20)
        rates.used(30, aside)
        await rates.turn()
        assert clock.now == pytest.approx(105)

    asyncio.run(take())


def test_a_pause_holds_for_everyone(monkeypatch):
    clock, rates = Sleeper(monkeypatch), Rates(requests=None, tokens=None)
    rates.pause(7)
    asyncio.run(rates.turn())
    assert clock.now == pytest.approx(107)


def run(attempts, names=("a",)):
    return asyncio.run_coroutine_threadsafe(attempts.ask(names), loop_of_calls()).result()


def of(worth, **settings):
    return Attempts(Service(worth, is_passing, **settings), Rates(None, None))


def test_a_call_is_tried_again_and_that_is_counted():
    tries = []

    async def worth(names):
        tries.append(names)
        if len(tries) < 3:
            raise ConnectionError
        return 2.0

    attempts = of(worth)
    assert run(attempts).value == 2.0
    assert (len(tries), attempts.retries) == (3, 2)


def test_attempts_and_final_errors_end_a_call():
    tries = []

    def worth(names):
        tries.append(names)
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        run(of(worth, retries=1))
    assert len(tries) == 2

    def final(names):
        tries.append(names)
        raise PermissionError

    with pytest.raises(PermissionError):
        run(of(final))
    assert len(tries) == 3


def test_a_call_is_given_up_in_time_async_or_not():
    async def slow(names):
        await asyncio.sleep(60)

    for worth in (slow, lambda names: time.sleep(60)):
        attempts = of(worth, timeout=0.05, retries=1)
        with pytest.raises(TimeoutError, match=r"no answer within 0\.05 seconds"):
            run(attempts)
        assert attempts.abandoned == 2


def test_what_would_end_the_loop_is_an_error():
    for raised in (SystemExit, KeyboardInterrupt, StopIteration):

        def worth(names, raised=raised):
            raise raised

        async def later(names, raised=raised):
            raise raised

        for each in (worth, later) if raised is not StopIteration else (worth,):
            with pytest.raises(RuntimeError, match=raised.__name__):
                run(of(each))
    assert run(of(lambda names: 1.0)).value == 1.0


class Caller:
    async def __call__(self, names):
        return len(names)


async def by_name(names):
    return len(names)


def test_async_is_recognised_in_all_its_forms():
    assert is_async(by_name)
    assert is_async(Caller())
    assert is_async(functools.partial(by_name))
    assert not is_async(len)
    # A function that is not async may still return something to await.
    assert asyncio.run(called(lambda names: by_name(names), (1, 2))) == 2
