"""The head of a ray cluster, watched: a minute after it is lost, ray ends its driver without a word."""

from __future__ import annotations

import _thread
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

# Seconds without an answer after which a round is the last, and is not waited for; between attempts; for one.
LOST, TOO_LONG, POLL, WAIT = 8.0, 18.0, 1.0, 5.0


Result = TypeVar("Result")


class LostHeadError(RuntimeError):
    """The head of a cluster does not answer."""

    def __init__(self, head: tuple[str, int]) -> None:
        super().__init__("its head at {}:{} does not answer".format(*head))


def ray_head(backend: object) -> tuple[str, int] | None:
    """Where the head of joblib's ray backend listens; None for other backends."""
    if not type(backend).__module__.startswith("ray."):
        return None
    host, _, port = sys.modules["ray"].get_runtime_context().gcs_address.rpartition(":")
    return host.strip("[]"), int(port)


def cluster_gone(head: tuple[str, int] | None, error: Exception) -> str | None:
    """Why a round that ended with this error had nobody to evaluate it; None where it had."""
    if isinstance(error, LostHeadError):
        return str(error)
    if head is not None and not sys.modules["ray"].cluster_resources().get("CPU"):
        return "it has no processor left"
    return None


def answered(head: tuple[str, int] | None, call: Callable[[], Result]) -> Result:
    """What a call of ray's returns; it waits for a head that is lost, and cannot be interrupted in that."""
    if head is None:
        return call()
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="fairfield call").start()
    last = time.monotonic()
    while True:
        try:
            return future.result(POLL)
        except TimeoutError:
            if future.done():  # its own error, or it has just ended
                return future.result()
        if _answers(head):
            last = time.monotonic()
        elif time.monotonic() - last > LOST:
            raise LostHeadError(head)


def _answers(head: tuple[str, int]) -> bool:
    try:
        socket.create_connection(head, WAIT).close()
    except OSError:
        return False
    return True


@contextmanager
def watched(head: tuple[str, int] | None, pool: Any) -> Iterator[None]:
    """A block that ends with an error once the head does not answer to the pool of joblib."""
    if head is None:
        yield
        return
    done, lost = threading.Event(), threading.Event()
    main = threading.current_thread() is threading.main_thread()

    def watch() -> None:
        last = time.monotonic()
        while not done.wait(POLL):
            if _answers(head):
                last = time.monotonic()
                lost.clear()
            else:
                silence = time.monotonic() - last
                if silence > LOST:
                    lost.set()
                if silence > TOO_LONG and not done.is_set():
                    pool._aborted = True  # joblib would begin anew, and wait for the head
                    if main:
                        _thread.interrupt_main()
                    return

    watcher = threading.Thread(target=watch, daemon=True, name="fairfield head")
    watcher.start()
    try:
        try:
            yield
        finally:
            done.set()
            watcher.join()
    except BaseException:
        if not lost.is_set():
            raise
    if lost.is_set():
        raise LostHeadError(head)
