"""Worths of a block of coalitions, checked; a failure is a value, so that it can be sent."""

from __future__ import annotations

import faulthandler
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import members, spell
from fairfield.core.copies import measured
from fairfield.core.game import NO_FAILURES, Failures, Game, Measured
from fairfield.evaluation.options import Options
from fairfield.evaluation.remote.secrets import without_keys
from fairfield.evaluation.threads import one_blas_thread

# Why a run ended that the user did not wait for.
INTERRUPTED = "interrupted"
# Threads whose worths were given up; they cannot be ended, only their process can.
_abandoned: list[threading.Thread] = []


class WorthError(RuntimeError):
    """The worth of a coalition could not be computed.

    ``coalitions`` (m, n) and ``worths`` (*batch, m) are those that were known by then, ``partial`` is
    their valuation where they came in the order of an estimate (under a budget, a tolerance or a time,
    and of a service always) and are enough for one; else None.
    """

    coalitions: BoolArray | None = None
    worths: FloatArray | None = None
    partial: Any = None


class _RefusedError(ValueError):
    """What is wrong with worths that were computed, as a sentence."""


@dataclass(frozen=True)
class Care:
    """How failures are met: the seconds of a worth, attempts, the worth that takes its place.

    ``driver`` is the process that has no other to replace it.
    """

    timeout: float | None = None
    attempts: int = 1
    fallback: float | None = None
    driver: int = 0

    @classmethod
    def of(cls, options: Options) -> Care:
        """What the options ask for."""
        fallback = None if isinstance(options.on_error, str) else options.on_error
        return cls(options.timeout, 1 + (options.retries or 0), fallback, os.getpid())


@dataclass(frozen=True)
class Outcome:
    """What was measured of a block, or a sentence on why there is nothing.

    ``hung`` says that its process is still busy with a worth that was given up; ``kept`` says which
    of the block's coalitions were measured, where some were and another failed, and ``filled`` for
    which of these the worth is the fallback, which is not to be stored.
    """

    measured: Measured | None
    failure: str | None
    seconds: float
    error: BaseException | None = None
    trace: str | None = None
    hung: bool = False
    kept: BoolArray | None = None
    filled: BoolArray | None = None


def evaluate_block(game: Game, coalitions: BoolArray, care: Care) -> Outcome:
    """The checked worths of one block; coalition by coalition, where the block fails or each has its time."""
    start = time.perf_counter()
    parts: dict[int, Measured] = {}
    filled: list[int] = []
    failure: str | None = None
    error: BaseException | None = None
    timed = care.timeout is not None and len(coalitions) > 1
    if not timed:
        try:
            found = _tried(game, coalitions, care)
            # A game may have fallbacks of its own.
            own = found.failures.count >= len(coalitions)
            none_found = np.ones(len(coalitions), dtype=bool) if own else None
            seconds = time.perf_counter() - start
            return Outcome(found, None, seconds, hung=_hung(), filled=none_found)
        except (Exception, SystemExit) as raised:
            failure, error = named(game, coalitions, raised, care.attempts), raised
    if care.fallback is not None or len(coalitions) > 1:
        parts, filled, failed = _one_by_one(game, coalitions, care)
        if failed is not None:
            failure, error = str(failed), failed.__cause__
        # With a single attempt, a block that fails though no coalition does is an error.
        elif care != Care(driver=care.driver):
            failure = error = None
    return Outcome(
        joined(list(parts.values())) if parts else None,
        failure,
        time.perf_counter() - start,
        None if error is None else without_keys(error)[1],
        hung=_hung(),
        kept=np.isin(np.arange(len(coalitions)), list(parts)),
        filled=np.isin(list(parts), filled) if filled else None,
    )


def _one_by_one(
    game: Game, coalitions: BoolArray, care: Care
) -> tuple[dict[int, Measured], list[int], WorthError | None]:
    """What was measured of each coalition alone, by its place; those that took the fallback; the first failure.

    A second failure ends it.
    """
    found: dict[int, Measured] = {}
    filled: list[int] = []
    failed: WorthError | None = None
    for place, row in enumerate(coalitions[:, None]):
        try:
            found[place] = _tried(game, row, care)
        except (Exception, SystemExit) as error:
            if care.fallback is not None:
                why = spelled_error(error) + tried(care.attempts)
                found[place] = replaced(game, row, care.fallback, why)
                filled.append(place)
            elif failed is None:
                failed = WorthError(named(game, row, error, care.attempts))
                failed.__cause__ = error
            else:
                break
    return found, filled, failed


def _hung() -> bool:
    _abandoned[:] = [thread for thread in _abandoned if thread.is_alive()]
    return bool(_abandoned)


def replaced(game: Game, row: BoolArray, fallback: float, why: str) -> Measured:
    """The fallback as the worth of one coalition (1, n), counted as a failure."""
    worths = np.full((*game.batch, 1), fallback)
    failures = Failures(1, f"{spell(members(row[0], game.players))} ({why})")
    rows = game.traits.test_rows
    by_row = np.repeat(worths[..., None], rows, axis=-1) if rows else None
    noise = np.zeros_like(worths) if game.traits.noisy else None
    return Measured(worths, noise, failures, by_row)


def joined(parts: list[Measured]) -> Measured:
    """What was measured of coalitions one by one, as of one block."""
    noise = [each.variances for each in parts if each.variances is not None]
    by_row = [each.by_row for each in parts if each.by_row is not None]
    return Measured(
        np.concatenate([each.worths for each in parts], axis=-1),
        np.concatenate(noise, axis=-1) if noise else None,
        sum((each.failures for each in parts), NO_FAILURES),
        np.concatenate(by_row, axis=-2) if len(by_row) == len(parts) else None,
    )


def _tried(game: Game, coalitions: BoolArray, care: Care) -> Measured:
    for left in reversed(range(care.attempts)):
        try:
            found = _within(care, lambda: measured(game, coalitions))
            complaint = _complaint(game, coalitions, found)
            if complaint is not None:
                raise _RefusedError(complaint)
            return found
        except (Exception, SystemExit):
            if not left:
                raise
    raise AssertionError("there is at least one attempt")


def _within(care: Care, work: Callable[[], Measured]) -> Measured:
    """What the work gives, in the time that a worth may take."""
    if care.timeout is None:
        return work()
    # What reads an answer is imported with the first one, which is no part of the time of a worth.
    array_namespace(np.empty(0))
    found: list[Measured] = []
    errors: list[BaseException] = []
    begun, ended = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with one_blas_thread():
                begun.set()
                found.append(work())
                ended.set()  # to put the threads of BLAS back may take longer than the worth
        except BaseException as error:
            errors.append(error)
        finally:
            begun.set()
            ended.set()

    thread = threading.Thread(target=run, daemon=True, name="fairfield worth")
    with _last_resort(care, care.timeout):
        thread.start()
        begun.wait()
        ended.wait(care.timeout)
    if not ended.is_set():
        _abandoned.append(thread)
        raise TimeoutError(f"no worth within {care.timeout:g} seconds")
    if errors:
        raise errors[0]
    return found[0]


@contextmanager
def _last_resort(care: Care, limit: float) -> Iterator[None]:
    """End a worker whose worth holds the interpreter's lock, so that nothing else can run."""
    if os.getpid() == care.driver:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(2 * limit + 2, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _complaint(game: Game, coalitions: BoolArray, found: Measured) -> str | None:
    """What is wrong with the worths, or with their variances; None where nothing is."""
    wanted = (*game.batch, len(coalitions))
    for what, values in (("worth", found.worths), ("variance", found.variances)):
        if values is None:
            continue
        if np.shape(values) != wanted:
            return f"{game!r} returned {what}s of shape {np.shape(values)}; {wanted} is needed"
        if not np.isfinite(values).all():
            bad = np.argwhere(~np.isfinite(values))[0]
            coalition = spell(members(coalitions[bad[-1]], game.players))
            return (
                f"the {what} of coalition {coalition} is {values[tuple(bad)]}; "
                f"every {what} must be a finite number"
            )
    return None


def named(game: Game, coalitions: BoolArray, error: BaseException, attempts: int) -> str:
    """The failure, with its coalition or the first and last of several, and how often it was tried."""
    if isinstance(error, _RefusedError):
        return f"{error}{tried(attempts)}"
    first, last = (spell(members(coalitions[i], game.players)) for i in (0, -1))
    if len(coalitions) == 1:
        return f"the game failed on coalition {first}: {spelled_error(error)}{tried(attempts)}"
    return (
        f"the game failed on {len(coalitions)} coalitions at once, {first} to {last}, "
        f"though not on each alone: {spelled_error(error)}"
    )


def tried(attempts: int) -> str:
    """How often a worth was tried, where that was more than once.

    >>> tried(3)
    ' (3 attempts, by retries=2)'
    """
    return f" ({attempts} attempts, by retries={attempts - 1})" if attempts > 1 else ""


def spelled_error(error: BaseException) -> str:
    """The kind of an error and what it says, without keys."""
    return without_keys(error)[0]
