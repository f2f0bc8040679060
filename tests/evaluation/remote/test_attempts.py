import asyncio
import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from fairfield.core.service import Service
from fairfield.evaluation.remote import attempts as attempts_module
from fairfield.evaluation.remote.attempts import (
    Attempts,
    NotMadeError,
    Rates,
    called,
    is_async,
    loop_of_calls,
)
from fairfield.evaluation.remote.passing import is_passing
from fairfield.evaluation.remote.purse import Purse


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
    assert turns == pytest.approx([100, 100.5, 101, 101.5, 102])


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


def test_one_request_goes_ahead_to_tell_of_tokens(monkeypatch):
    clock, rates = Sleeper(monkeypatch), Rates(requests=None, tokens=600)

    async def take():
        aside = await rates.turn()
        second = asyncio.create_task(rates.turn(lambda seconds: sleep(0)))
        await sleep(0)
        assert not second.done()
        rates.used(20, aside)
        clock.now += 2
        assert await second == 20

    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", clock.sleep)
    asyncio.run(take())


def test_one_that_fails_leaves_the_way_to_others():
    tries = []

    def worth(names):
        tries.append(names)
        if len(tries) == 1:
            raise ConnectionError
        return 2.0

    attempts = Attempts(Service(worth, is_passing), Rates(None, 1e9))
    assert run(attempts).value == 2.0


def test_one_that_is_not_made_leaves_the_way_to_others():
    attempts = Attempts(Service(lambda names: 2.0, is_passing), Rates(None, 1e9))
    attempts.stopping = True
    with pytest.raises(NotMadeError):
        run(attempts)
    assert not attempts.rates.ahead


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
        assert attempts.purse.abandoned == 2


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


def test_a_call_is_not_repeated_once_the_run_ends_or_its_money():
    def ending(names):
        attempts.stopping = True
        raise ConnectionError

    def spending(names):
        attempts.purse.abandoned = 5
        raise ConnectionError

    for worth in (ending, spending):
        attempts = of(worth)
        attempts.purse = Purse(spend=5, price=1, under_way=1)
        with pytest.raises(NotMadeError):
            run(attempts)
        assert attempts.retries == 0


def test_there_is_one_loop_for_all_threads(monkeypatch):
    class Slow(threading.Thread):
        def start(self):
            time.sleep(0.02)
            super().start()

    monkeypatch.setattr(attempts_module, "_loops", {})
    monkeypatch.setattr(attempts_module.threading, "Thread", Slow)
    with ThreadPoolExecutor(4) as pool:
        loops = {id(each) for each in pool.map(lambda _: loop_of_calls(), range(4))}
    assert len(loops) == 1


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
    assert asyncio.run(called(lambda names: by_name(names), (1, 2))).value == 2
