"""Answers of a service on disk: every one as soon as it is there, beside what it cost.

They are in the file of the store, one row an answer, so that a killed driver loses at most the
calls that were under way. A coalition may have several answers: repeats of a noisy worth.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fairfield.core.service import Worth
from fairfield.evaluation.drivers import Heartbeat, claim
from fairfield.evaluation.remote.attempts import without_secrets
from fairfield.evaluation.store_errors import StoreError, damage, sqlite_errors

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (id INTEGER PRIMARY KEY, coalition BLOB, worth BLOB, "
    "cost REAL, tokens INTEGER, seconds REAL, record TEXT, checksum INTEGER)"
)


@dataclass(frozen=True)
class Answer:
    """A stored answer: the packed coalition, its worth, what it cost and how long it took."""

    coalition: bytes
    worth: Worth
    seconds: float


class Answers:
    """The answers in one store."""

    def __init__(self, base: sqlite3.Connection, heart: Heartbeat | None, path: str) -> None:
        self._base, self._heart, self._path = base, heart, path
        # The number of the last answer that was read, and those that this run added.
        self._last, self._own = 0, set[int]()
        with base:
            base.execute(_TABLE)

    def claim(self, keys: Iterable[bytes]) -> set[bytes]:
        """The coalitions that this run may ask for, since no other does."""
        assert self._heart is not None
        with sqlite_errors(self._path):
            return claim(self._base, self._heart.id, list(dict.fromkeys(keys)))

    def fresh(self) -> list[Answer]:
        """The answers that were not read yet, and that others added since."""
        found = []
        for number, each in read_answers(self._base, self._path, self._last):
            self._last = number
            if number not in self._own:
                found.append(each)
        return found

    def add(self, answers: list[Answer]) -> None:
        """Commit answers; afterwards no crash loses them."""
        with sqlite_errors(self._path), self._base:
            for each in answers:
                added = self._base.execute(
                    "INSERT INTO answers (coalition, worth, cost, tokens, seconds, record, checksum) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    _row(each),
                )
                self._own.add(added.lastrowid or 0)


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
    for number, key, worth, cost, tokens, seconds, record, checksum in base.execute(
        query, (after,)
    ):
        with damage(path):
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
    record = (
        None if found.record is None else without_secrets(json.dumps(found.record, default=str))
    )
    checksum = _checksum(answer.coalition, worth, record)
    return answer.coalition, worth, found.cost, found.tokens, answer.seconds, record, checksum


def _checksum(key: bytes, worth: bytes, record: str | None) -> int:
    return zlib.crc32(key + worth + (record or "").encode())
