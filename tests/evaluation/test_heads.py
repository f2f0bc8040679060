import socket
import time
from types import SimpleNamespace

import pytest

from fairfield.evaluation import heads


@pytest.fixture
def head(monkeypatch):
    """Something that listens, as a head does, and a second of silence is too long."""
    monkeypatch.setattr(heads, "POLL", 0.02)
    monkeypatch.setattr(heads, "LOST", 0.1)
    monkeypatch.setattr(heads, "TOO_LONG", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_a_head_that_answers_ends_nothing(head):
    with heads.watched(head.getsockname(), SimpleNamespace()):
        time.sleep(0.3)
    with heads.watched(None, SimpleNamespace()):
        pass
    with (
        pytest.raises(ValueError, match="own"),
        heads.watched(head.getsockname(), SimpleNamespace()),
    ):
        raise ValueError("own")


@pytest.mark.parametrize("seconds", [0.3, 60])
def test_a_round_without_a_head_is_the_last_and_not_waited_for(head, seconds):
    address, started = head.getsockname(), time.monotonic()
    head.close()

    def wait():
        while time.monotonic() < started + seconds:  # as joblib waits for a round
            time.sleep(0.01)

    with (
        pytest.raises(heads.LostHeadError, match="does not answer"),
        heads.watched(address, SimpleNamespace()),
    ):
        wait()
    assert time.monotonic() - started < 30


def test_a_head_that_comes_back_is_not_lost(head):
    address = head.getsockname()
    head.close()
    with heads.watched(address, SimpleNamespace()):
        time.sleep(0.2)
        with socket.create_server(address):
            time.sleep(0.2)


def test_a_call_that_waits_for_a_lost_head_is_not_waited_for(head):
    """As the pool is made, in which ray does not let itself be interrupted."""
    address = head.getsockname()
    assert heads.answered(None, lambda: 1) == 1
    assert heads.answered(address, lambda: time.sleep(0.3) or 2) == 2
    with pytest.raises(TimeoutError, match="own"):
        heads.answered(address, lambda: raised(TimeoutError("own")))
    head.close()
    with pytest.raises(heads.LostHeadError, match="does not answer"):
        heads.answered(address, lambda: time.sleep(60))


def raised(error):
    raise error
