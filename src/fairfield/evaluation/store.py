"""Worths on disk: one SQLite file per game, written round by round.

A round is one row: its coalitions and worths as packed bytes, and a checksum of both. It is
committed as a whole, so a crash loses at most the round being evaluated, and a damaged row
is noticed when it is read. Nothing in the file is ever executed or unpickled.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import measured
from fairfield.core.game import Game
from fairfield.evaluation.by_row import RowScores, decode, encode
from fairfield.evaluation.kept import Keys, as_rows, numbers_kept, pack, unpack
from fairfield.evaluation.remote.answers import Answer, Answers, has_answers, read_answers
from fairfield.evaluation.storage.drivers import Driver, Heartbeat, claim, drivers_of, release
from fairfield.evaluation.storage.errors import StoreError, damage, sqlite_errors
from fairfield.evaluation.storage.file import (
    check,
    connect,
    create,
    disconnect,
    opened,
    patiently,
    tables,
    upgrade,
)
from fairfield.evaluation.threads import one_blas_thread

# A file of a game whose worths are means over test rows has what single rows say of each round.
_BY_ROW = (
    "CREATE TABLE IF NOT EXISTS by_row (id INTEGER PRIMARY KEY, scores BLOB, checksum INTEGER)"
)


@dataclass(frozen=True)
class StoreSummary:
    """The contents of a store: its game, how many worths in how many rounds, and who made them.

    ``worths`` counts coalitions; of a game behind a service, ``answers`` counts the calls.
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
        # The number of the last round that was read, and those that this run added.
        self._last, self._own = 0, set[int]()
        self._description = description = game.describe()
        with sqlite_errors(self.path), damage(self.path):
            self._base = connect(self.path)
            try:
                sizes = [self.players, self.games]
                patiently(lambda: create(self._base, description, versions, sizes))
                check(self._base, self.path, description, versions)
                self._heart = patiently(lambda: Heartbeat(self.path, self._base)) if alive else None
            except BaseException:
                disconnect(self._base)
                raise

    def upgrade(self) -> None:
        """Make a file of an older format one of this format, once its worths are known to be the game's.

        From then on it is refused to other code.
        """
        with sqlite_errors(self.path):
            upgrade(self._base, self._description)

    def load(self, by_row: RowScores | None = None) -> tuple[Keys, FloatArray]:
        """The keys and worths (k, games) that others have added since, or all at first.

        Every checksum is verified. What single test rows say of them is added to ``by_row``.
        """
        found = list(_rounds(self._base, self.path, self.players, self.games, self._last))
        self._last = found[-1][0] if found else self._last
        rounds = [each for each in found if each[0] not in self._own]
        if by_row is not None:
            for number, packed, _ in rounds:
                keys, _ = _joined([(number, packed, b"")], self.players, self.games)
                scores = self._scores(number, (len(keys), by_row.games, by_row.rows))
                if scores is not None:
                    by_row.add(keys, scores)
        return _joined(rounds, self.players, self.games)

    def _scores(self, number: int, shape: tuple[int, int, int]) -> FloatArray | None:
        """What single test rows say of the coalitions of a round, where that was stored."""
        if "by_row" not in tables(self._base):
            return None
        with sqlite_errors(self.path), damage(self.path):
            query = "SELECT scores, checksum FROM by_row WHERE id = ?"
            row = self._base.execute(query, (number,)).fetchone()
            if row is None:
                return None
            if zlib.crc32(row[0]) != row[1]:
                raise _damaged(self.path, number)
            return decode(row[0], shape)

    def claim(self, keys: Keys) -> BoolArray:
        """Which of the coalitions no other driver is evaluating; now this one is."""
        heart, listed = self._heart, keys.tolist()
        if heart is None or not heart.writes:
            return np.ones(len(keys), dtype=bool)
        with sqlite_errors(self.path):
            granted = patiently(lambda: claim(self._base, heart.id, listed))
        return np.array([key in granted for key in listed], dtype=bool)

    def add(
        self,
        coalitions: BoolArray,
        worths: FloatArray,
        provenance: dict[str, Any] | None = None,
        by_row: FloatArray | None = None,
    ) -> None:
        """Commit one round: worths are (m, games), what single test rows say (m, games, rows).

        What this run had claimed is free again.
        """
        keys = pack(coalitions).tobytes()
        values = np.ascontiguousarray(worths, dtype="<f8").tobytes()
        chosen = None if provenance is None else json.dumps(provenance)
        row = (keys, values, zlib.crc32(keys + values), chosen)
        driver = None if self._heart is None else self._heart.id
        scores = None if by_row is None else encode(by_row)

        def commit() -> int | None:
            with self._base:
                release(self._base, driver)
                if not keys:
                    return None
                insert = (
                    "INSERT INTO rounds (coalitions, worths, checksum, law) VALUES (?, ?, ?, ?)"
                )
                number = self._base.execute(insert, row).lastrowid
                if scores is not None:
                    self._base.execute(_BY_ROW)
                    kept = number, scores, zlib.crc32(scores)
                    self._base.execute("INSERT INTO by_row VALUES (?, ?, ?)", kept)
                return number

        with sqlite_errors(self.path):
            self._own.add(patiently(commit) or 0)

    def answers(self) -> Answers:
        """The answers of the game's service in this file."""
        return Answers(self._base, self._heart, self.path)

    def close(self) -> None:
        """Close the file."""
        if self._heart is not None:
            self._heart.close(self._base)
        disconnect(self._base)


def describe_store(path: str | PathLike[str]) -> StoreSummary:
    """The contents of a store of worths; its game is not needed."""
    with opened(path) as base, damage(fspath(path)):
        query = "SELECT description, versions, players, games FROM game"
        description, versions, players, games = base.execute(query).fetchone()
        rounds = list(_rounds(base, fspath(path), players, games))
        keys, drivers = _joined(rounds, players, games)[0], tuple(drivers_of(base).values())
        # A study of a local game leaves answers beside its worths.
        query = "SELECT coalition FROM answers"
        answered = [key for (key,) in base.execute(query)] if has_answers(base) else []
        worths = len(np.unique(np.append(keys, np.array(answered, dtype=keys.dtype))))
        about = json.loads(description), json.loads(versions), players, len(rounds), worths
        return StoreSummary(fspath(path), *about, len(answered), drivers)


def read_answers_of(path: str | PathLike[str]) -> tuple[StoreSummary, list[Answer]]:
    """What a store holds, and every answer of a service in it."""
    with opened(path) as base, damage(fspath(path)):
        found = [each for _, each in read_answers(base, fspath(path))] if has_answers(base) else []
    return describe_store(path), found


def answered(path: str | PathLike[str], repeats: int) -> int:
    """How many coalitions have so many answers of a service in a store; 0 where there is none."""
    if not Path(path).exists():
        return 0
    with opened(path) as base, damage(fspath(path)):
        if not has_answers(base):
            return 0
        query = (
            "SELECT COUNT(*) FROM (SELECT 1 FROM answers GROUP BY coalition HAVING COUNT(*) >= ?)"
        )
        return int(base.execute(query, (repeats,)).fetchone()[0])


def evaluated(path: str | PathLike[str]) -> int:
    """How many coalitions of a store were evaluated here, rather than told of or asked for."""
    with opened(path) as base, damage(fspath(path)):
        players, games = base.execute("SELECT players, games FROM game").fetchone()
        rounds = list(_rounds(base, fspath(path), players, games))
        return len(np.unique(_joined(rounds, players, games)[0]))


def verify_store(path: str | PathLike[str], game: Game | None = None, most: int = 4) -> int:
    """The number of worths and of answers of a service in a store, after all of them were checked.

    The file itself and every checksum are verified, and what a killed driver left half written
    is rolled back; with a ``game``, the store must be of that game, and up to ``most`` stored
    worths are evaluated again and must be the same, unless they are random.
    """
    if game is not None:
        game, _ = game.part_of or (game, None)
    with opened(path, None if game is None else game.describe()) as base, damage(fspath(path)):
        ((found,), *_) = base.execute("PRAGMA integrity_check").fetchall()
        if found != "ok":
            raise StoreError(
                f"{fspath(path)} is damaged ({found.splitlines()[-1]}); restore the file from a copy, or delete it"
            )
        players, games = base.execute("SELECT players, games FROM game").fetchone()
        rounds = _rounds(base, fspath(path), players, games)
        keys, worths = _joined(list(rounds), players, games)
        answered = len(list(read_answers(base, fspath(path)))) if has_answers(base) else 0
    if game is not None and not game.traits.pairs:
        recheck(game, keys, worths, fspath(path), most)
    return len(np.unique(keys)) + answered


def recheck(game: Game, keys: Keys, worths: FloatArray, path: str, most: int = 4) -> int:
    """Evaluate a few stored worths again, and refuse the store if they have changed.

    They are chosen by chance, so that a change that some worths do not show is found sooner or
    later; ∅ comes last, its worth is 0 in most games. Returns how many there were.
    """
    order = np.random.default_rng().permutation(len(keys))
    chosen = np.sort(order[np.argsort(keys[order] == b"", kind="stable")][:most])
    if not len(chosen):
        return 0
    coalitions = unpack(keys[chosen], len(game.players))
    with one_blas_thread():  # as the stored ones were evaluated
        repeated = as_rows(game, measured(game, coalitions))
    # Up to rounding, which is relative to the worths, not to a difference near 0.
    if not (np.abs(repeated - worths[chosen]) <= 1e-9 * np.abs(worths).max(axis=0)).all():
        raise StoreError(
            f"{path} was made when {game!r} had other worths than it has now; delete the file, or "
            "give the changed game another name; if its worths are random, begin another store with "
            "FunctionGame(…, random=True), which has their noise in the standard errors"
        )
    return len(chosen)


def _rounds(
    base: sqlite3.Connection, path: str, players: int, games: int, after: int = 0
) -> Iterator[tuple[int, bytes, bytes]]:
    """The number, keys and worths of each round after one, its checksum verified."""
    width = (players + 7) // 8
    query = "SELECT id, coalitions, worths, checksum FROM rounds WHERE id > ? ORDER BY id"
    with sqlite_errors(path), damage(path):
        rows = base.execute(query, (after,)).fetchall()
        for number, keys, worths, checksum in rows:
            intact = zlib.crc32(keys + worths) == checksum
            if not intact or len(keys) * 8 * games != len(worths) * width:
                raise _damaged(path, number)
            yield number, keys, worths


def _damaged(path: str, number: int) -> StoreError:
    return StoreError(
        f"{path} is damaged: the checksum of round {number} does not match; "
        "restore the file from a copy, or delete it"
    )


def _joined(
    rounds: list[tuple[int, bytes, bytes]], players: int, games: int
) -> tuple[Keys, FloatArray]:
    """The keys and worths (k, games) of rounds."""
    keys = np.frombuffer(b"".join(each[1] for each in rounds), dtype=f"S{(players + 7) // 8}")
    worths = np.frombuffer(b"".join(each[2] for each in rounds), dtype="<f8")
    return keys, worths.reshape(-1, games)
