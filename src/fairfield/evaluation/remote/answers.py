"""Answers of a service on disk: every one as soon as it is there, beside what it cost.

They are in the file of the store, one row an answer, so that a killed driver loses at most the
calls that were under way. A coalition may have several answers: repeats of a noisy worth.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from fairfield.core.service import Worth
from fairfield.evaluation.remote.secrets import plain
from fairfield.evaluation.storage.drivers import Heartbeat, claim, release
from fairfield.evaluation.storage.errors import StoreError, damage, sqlite_errors
from fairfield.evaluation.storage.file import patiently, tables

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, coalition BLOB, worth BLOB, "
    "cost REAL, tokens INTEGER, seconds REAL, record TEXT, checksum INTEGER)"
)
# Attempts that were given up while the service was at work on them, which may be charged.
_ABANDONED = "CREATE TABLE IF NOT EXISTS abandoned (id INTEGER PRIMARY KEY, attempts INTEGER)"
# Calls that failed for good, each once: a fallback is no answer, and is asked for again.
_FAILED = "CREATE TABLE IF NOT EXISTS failed (id INTEGER PRIMARY KEY, coalition BLOB, why TEXT)"
_INSERT = (
    "INSERT INTO answers (coalition, worth, cost, tokens, seconds, record, checksum) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
Found = TypeVar("Found")


@dataclass(frozen=True)
class Answer:
    """A stored answer: the packed coalition, its worth, what it cost and how long it took."""

    coalition: bytes
    worth: Worth
    seconds: float


class Answers:
    """The answers in one store."""

    def __init__(self, base: sqlite3.Connection, heart: Heartbeat | None, path: str) -> None:
        self._base, self._path = base, path
        self._driver = None if heart is None else heart.id
        # The number of the last answer that was read, those that this run added, what it claimed.
        self._last, self._own, self._claimed = 0, set[int](), set[bytes]()
        # Attempts given up by this run.
        self._abandoned = 0
        self._patiently(self._create)

    def _create(self) -> None:
        with self._base:
            self._base.execute(_TABLE)
            self._base.execute(_ABANDONED)

    def _patiently(self, act: Callable[[], Found]) -> Found:
        with sqlite_errors(self._path):
            return patiently(act)

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """The coalitions that this run may ask for, since no other does."""
        driver, wanted = self._driver, list(dict.fromkeys(keys))
        assert driver is not None
        granted = self._patiently(lambda: claim(self._base, driver, wanted))
        self._claimed |= granted
        return granted

    def fresh(self) -> list[Answer]:
        """The answers that were not read yet, and that others added since."""
        read = self._patiently(lambda: list(read_answers(self._base, self._path, self._last)))
        self._last = read[-1][0] if read else self._last
        return [each for number, each in read if number not in self._own]

    def abandoned(self) -> int:
        """How many attempts others have given up so far."""
        query = "SELECT COALESCE(SUM(attempts), 0) FROM abandoned"
        return int(self._patiently(self._base.execute(query).fetchone)[0]) - self._abandoned

    def failed(self) -> dict[bytes, list[str]]:
        """Why calls failed that took the fallback, by coalition."""
        found: dict[bytes, list[str]] = {}
        if "failed" in tables(self._base):
            query = "SELECT coalition, why FROM failed ORDER BY id"
            for key, why in self._patiently(lambda: self._base.execute(query).fetchall()):
                found.setdefault(key, []).append(why)
        return found

    def add(
        self,
        answers: list[Answer],
        done: Iterable[bytes] = (),
        abandoned: int = 0,
        failed: Iterable[tuple[bytes, str]] = (),
    ) -> None:
        """Commit answers, which no crash then loses, and free coalitions asked for no more.

        ``abandoned`` counts the attempts that this run has given up so far; ``failed`` are the
        coalitions of calls that took the fallback, and why.
        """
        free = [key for key in done if key in self._claimed]
        rows = [_row(each) for each in answers]
        given_up, failed = abandoned - self._abandoned, list(failed)

        def commit() -> list[int | None]:
            with self._base:
                release(self._base, self._driver, free)
                if given_up > 0:
                    insert = "INSERT INTO abandoned (attempts) VALUES (?)"
                    self._base.execute(insert, (given_up,))
                if failed:
                    self._base.execute(_FAILED)
                    insert = "INSERT INTO failed (coalition, why) VALUES (?, ?)"
                    self._base.executemany(insert, failed)
                return [self._base.execute(_INSERT, row).lastrowid for row in rows]

        if rows or free or given_up > 0 or failed:
            self._own.update(number or 0 for number in self._patiently(commit))
            self._claimed.difference_update(free)
            self._abandoned = max(abandoned, self._abandoned)

    def release(self, abandoned: int) -> None:
        """Free all that this run had claimed."""
        self.add([], list(self._claimed), abandoned)


def has_answers(base: sqlite3.Connection) -> bool:
    """Whether a store holds answers of a service."""
    return bool(base.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'").fetchone())


def read_answers(
    base: sqlite3.Connection, path: str, after: int = 0
) -> Iterator[tuple[int, Answer]]:
    """The answers with a number above ``after``, in their order, every checksum verified."""
    query = (
        "SELECT id, coalition, worth, cost, tokens, seconds, record, checksum FROM answers "
        "WHERE id > ? ORDER BY id"
    )
    with damage(path):
        for number, key, worth, cost, tokens, seconds, record, checksum in base.execute(
            query, (after,)
        ):
            if _checksum(key, worth, record) != checksum:
                raise StoreError(
                    f"{path} is damaged: the checksum of answer {number} does not match; restore the "
                    "file from a copy, or delete it"
                )
            kept = None if record is None else json.loads(record)
            found = Worth(struct.unpack("<d", worth)[0], cost, tokens, kept)
            yield number, Answer(key, found, seconds)


def _row(answer: Answer) -> tuple[Any, ...]:
    worth, found = struct.pack("<d", answer.worth.value), answer.worth
    record = None if found.record is None else json.dumps(plain(found.record))
    checksum = _checksum(answer.coalition, worth, record)
    return answer.coalition, worth, found.cost, found.tokens, answer.seconds, record, checksum


def _checksum(key: bytes, worth: bytes, record: str | None) -> int:
    return zlib.crc32(key + worth + (record or "").encode())
