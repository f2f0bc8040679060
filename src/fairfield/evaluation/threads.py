"""What belongs to the whole process, shared by threads that evaluate worths side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


def threads_of(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means, as in joblib; None follows ``joblib.parallel_config``."""
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


class Overlapping(Generic[T]):
    """A context that overlapping threads share: the first in opens it, the last out closes it."""

    def __init__(self, context: Callable[[], AbstractContextManager[T]]) -> None:
        self._new, self._lock, self._inside = context, threading.Lock(), 0

    def enter(self) -> None:
        with self._lock:
            if not self._inside:
                self._context = self._new()
                self._value = self._context.__enter__()
            self._inside += 1

    def leave(self) -> T | None:
        """Leave; the last one out gets what the context gave, the others None."""
        with self._lock:
            self._inside -= 1
            if self._inside:
                return None
            self._context.__exit__(None, None, None)
            return self._value


@contextmanager
def _one_thread_in_process() -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    _take_over()
    limits = threadpool_limits(limits=1, user_api="blas")
    yield
    _take_over()
    limits.restore_original_limits()


def _take_over() -> None:
    """Since 3.8 threadpoolctl obeys one thread only, but another may be the last out."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_blas_limit = Overlapping(_one_thread_in_process)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """One thread for BLAS and OpenMP: models are fitted side by side, and identically."""
    from threadpoolctl import threadpool_limits

    _blas_limit.enter()
    try:
        # The limit of OpenMP is each thread's own.
        with threadpool_limits(limits=1, user_api="openmp"):
            yield
    finally:
        _blas_limit.leave()
