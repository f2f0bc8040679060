"""Worths on disk: one SQLite file per game, written round by round.

A round is one row: its coalitions and worths as packed bytes, and a checksum of both. It is
committed as a whole, so a crash loses at most the round being evaluated, and a damaged row
is noticed when it is read. Nothing in the file is ever executed or unpickled.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import W_OK, PathLike, access, fspath
from pathlib import Path
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import measured
from fairfield.core.game import NO_FAILURES, Failures, Game
from fairfield.evaluation.drivers import Driver, Heartbeat, drivers_of
from fairfield.evaluation.kept import Keys, as_rows, numbers_kept, pack, unpack
from fairfield.evaluation.remote.answers import (
    Answer,
    Answers,
    has_answers,
    read_answers,
)
from fairfield.evaluation.store_errors import StoreError, sqlite_errors
from fairfield.evaluation.threads import one_blas_thread

FORMAT = 1
# Values that differ between two descriptions are quoted up to this length.
SHORT = 40
_TABLES = (
    "CREATE TABLE game (format INTEGER, fingerprint TEXT, description TEXT, versions TEXT, "
    "players INTEGER, games INTEGER)",
    "CREATE TABLE rounds (id INTEGER PRIMARY KEY, coalitions BLOB, worths BLOB, "
    "checksum INTEGER, law TEXT)",
)


def fingerprint(description: dict[str, Any]) -> str:
    """The SHA-256 of a game's description."""
    text = json.dumps(description, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class StoreSummary:
    """The contents of a store: its game, how many worths in how many rounds, and who made them.

    Of a game behind a service, ``answers`` counts the calls and ``worths`` the coalitions.
    """

    path: str
    description: dict[str, Any]
    versions: dict[str, str]
    players: int
    rounds: int
    worths: int
    answers: int = 0
    drivers: tuple[Driver, ...] = ()


class Store:
    """The worths of one game in one file."""

    def __init__(
        self,
        path: str | PathLike[str],
        game: Game,
        versions: dict[str, str],
        *,
        alive: bool = True,
    ) -> None:
        """Open or create it; ``alive`` marks it as worked on until it is closed."""
        self.path = fspath(path)
        self.players, self.games = len(game.players), numbers_kept(game)
        description = game.describe()
        with sqlite_errors(self.path):
            self._base = sqlite3.connect(self.path, timeout=30)
            try:
                if not _tables(self._base):
                    self._create(description, versions)
                _check(self._base, self.path, description)
                self._heart = Heartbeat(self.path, self._base) if alive else None
            except BaseException:
                self._base.close()
                raise

    def _create(self, description: dict[str, Any], versions: dict[str, str]) -> None:
        held = json.dumps(description, default=str), json.dumps(versions)
        row = FORMAT, fingerprint(description), *held, self.players, self.games
        with self._base:
            # Of several processes that find no tables, one creates them.
            self._base.execute("BEGIN IMMEDIATE")
            if not _tables(self._base):
                for table in _TABLES:
                    self._base.execute(table)
                self._base.execute("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?)", row)

    def load(self) -> tuple[Keys, FloatArray]:
        """All keys and worths (k, games) in the store, every checksum verified."""
        return _read(self._base, self.path, self.players, self.games)

    def add(
        self, coalitions: BoolArray, worths: FloatArray, provenance: dict[str, Any] | None = None
    ) -> None:
        """Commit one round: worths are (m, games)."""
        keys = pack(coalitions).tobytes()
        values = np.ascontiguousarray(worths, dtype="<f8").tobytes()
        chosen = None if provenance is None else json.dumps(provenance)
        row = (keys, values, zlib.crc32(keys + values), chosen)
        with sqlite_errors(self.path), self._base:
            self._base.execute(
                "INSERT INTO rounds (coalitions, worths, checksum, law) VALUES (?, ?, ?, ?)", row
            )

    def answers(self) -> Answers:
        """The answers of the game's service in this file."""
        with sqlite_errors(self.path):
            return Answers(self._base, self._heart, self.path)

    def close(self) -> None:
        """Close the file."""
        if self._heart is not None:
            self._heart.close(self._base)
        self._base.close()


def describe_store(path: str | PathLike[str]) -> StoreSummary:
    """The contents of a store of worths; its game is not needed."""
    with _opened(path) as base:
        _, _, description, versions, players, _ = base.execute("SELECT * FROM game").fetchone()
        width = (players + 7) // 8
        rounds, size = base.execute(
            "SELECT COUNT(*), COALESCE(SUM(LENGTH(coalitions)), 0) FROM rounds"
        ).fetchone()
        answers, coalitions, drivers = 0, size // width, tuple(drivers_of(base).values())
        if has_answers(base):
            query = "SELECT COUNT(*), COUNT(DISTINCT coalition) FROM answers"
            answers, coalitions = base.execute(query).fetchone()
    about = json.loads(description), json.loads(versions), players, rounds, coalitions
    return StoreSummary(fspath(path), *about, answers, drivers)


def read_answers_of(path: str | PathLike[str]) -> tuple[StoreSummary, list[Answer]]:
    """What a store holds, and every answer of a service in it."""
    with _opened(path) as base:
        found = [each for _, each in read_answers(base, fspath(path))] if has_answers(base) else []
    return describe_store(path), found


def verify_store(path: str | PathLike[str], game: Game | None = None, most: int = 4) -> int:
    """The number of worths (or answers of a service) in a store, after all of them were checked.

    Every checksum is verified; with a ``game``, the store must be of that game, and up to
    ``most`` stored worths are evaluated again and must be the same.
    """
    with _opened(path, None if game is None else game.describe()) as base:
        players, games = base.execute("SELECT players, games FROM game").fetchone()
        keys, worths = _read(base, fspath(path), players, games)
        if has_answers(base):
            return len(list(read_answers(base, fspath(path))))
    if game is not None:
        recheck(game, keys, worths, fspath(path), most)
    return len(keys)


def recheck(
    game: Game, keys: Keys, worths: FloatArray, path: str, most: int = 4
) -> tuple[int, Failures]:
    """Evaluate a few stored worths again, and refuse the store if they have changed.

    Returns how many were evaluated, and the failures among them.
    """
    chosen = np.unique(np.linspace(0, len(keys) - 1, min(most, len(keys))).astype(int))
    if not len(chosen):
        return 0, NO_FAILURES
    coalitions = unpack(keys[chosen], len(game.players))
    with one_blas_thread():  # as the stored ones were evaluated
        found = measured(game, coalitions)
    repeated = as_rows(game, found)
    # Up to rounding, which is relative to the worths, not to a difference near 0.
    if not (np.abs(repeated - worths[chosen]) <= 1e-9 * np.abs(worths).max(axis=0)).all():
        raise StoreError(
            f"{path} was made when {game!r} had other worths than it has now; "
            "delete the file, or give the changed game another name"
        )
    return len(chosen), found.failures


def _read(base: sqlite3.Connection, path: str, players: int, games: int) -> tuple[Keys, FloatArray]:
    width = (players + 7) // 8
    with sqlite_errors(path):
        rows = base.execute(
            "SELECT id, coalitions, worths, checksum FROM rounds ORDER BY id"
        ).fetchall()
    for number, keys, worths, checksum in rows:
        intact = zlib.crc32(keys + worths) == checksum
        if not intact or len(keys) * 8 * games != len(worths) * width:
            raise StoreError(
                f"{path} is damaged: the checksum of round {number} does not match; "
                "restore the file from a copy, or delete it"
            )
    keys = np.frombuffer(b"".join(row[1] for row in rows), dtype=f"S{width}")
    worths = np.frombuffer(b"".join(row[2] for row in rows), dtype="<f8").reshape(-1, games)
    return keys, worths


def _tables(base: sqlite3.Connection) -> set[str]:
    return {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def _check(base: sqlite3.Connection, path: str, description: dict[str, Any] | None = None) -> None:
    """Refuse a file that is no store, or the store of a game that is not the one described."""
    if not {"game", "rounds"} <= _tables(base):
        raise StoreError(f"{path} is not a store of fairfield; use another file")
    found, held, theirs = base.execute(
        "SELECT format, fingerprint, description FROM game"
    ).fetchone()
    if found != FORMAT:
        raise StoreError(f"{path} has format {found}; this version reads format {FORMAT}")
    if description is not None and held != fingerprint(description):
        apart = _differences(json.loads(theirs), json.loads(json.dumps(description, default=str)))
        raise StoreError(
            f"{path} holds the worths of another game, with other {', '.join(apart)}; use another file"
        )


@contextmanager
def _opened(
    path: str | PathLike[str], description: dict[str, Any] | None = None
) -> Iterator[sqlite3.Connection]:
    if not Path(path).exists():
        raise StoreError(f"there is no store {fspath(path)}")
    with sqlite_errors(fspath(path)):
        # A driver that was killed may have left a journal, which only a writer can roll back.
        mode = "rw" if access(path, W_OK) else "ro"
        base = sqlite3.connect(Path(path).resolve().as_uri() + f"?mode={mode}", uri=True)
        try:
            _check(base, fspath(path), description)
            yield base
        finally:
            base.close()


def _differences(held: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """The names of the entries in which two descriptions differ, with both values if short."""
    apart: list[str] = []
    for name in dict.fromkeys([*held, *given]):
        old, new = held.get(name), given.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            values = ", ".join(_differences(old, new))
        else:
            values = " not ".join(json.dumps(each, ensure_ascii=False) for each in (old, new))
        apart.append(f"{name} ({values})" if len(values) <= SHORT else name)
    return apart
