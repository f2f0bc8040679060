"""Who works on a store: each driver leaves a heartbeat, and claims what it is asking for.

A driver that was killed is known by its process, on the same machine, or by a heartbeat that
stopped; what it had claimed is free then. One that lives frees each claim as soon as it has the
worth, or gives it up: others may be waiting for it.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

# Seconds between heartbeats, and after how many without one a driver on another machine is dead.
BEAT, DEAD = 5.0, 60.0
TABLES = (
    "CREATE TABLE IF NOT EXISTS drivers (id TEXT PRIMARY KEY, host TEXT, pid INTEGER, "
    "started REAL, beat REAL, ended REAL)",
    "CREATE TABLE IF NOT EXISTS claims (coalition BLOB PRIMARY KEY, driver TEXT)",
)


# The runs of this process.
_own: set[str] = set()


@dataclass(frozen=True)
class Driver:
    """A run that worked on a store: where, since when, and whether it lives, ended or died."""

    host: str
    pid: int
    started: float
    state: str


class Heartbeat:
    """Marks a store as worked on by this run, until it is closed."""

    def __init__(self, path: str, base: sqlite3.Connection) -> None:
        self.id, self._path, self._stop = uuid.uuid4().hex, path, threading.Event()
        now = time.time()
        self.writes = True
        try:
            with base:
                for table in TABLES:
                    base.execute(table)
                row = (self.id, socket.gethostname(), os.getpid(), now, now, None)
                base.execute("INSERT INTO drivers VALUES (?, ?, ?, ?, ?, ?)", row)
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
            self.writes = False  # a file that may only be read
            return
        _own.add(self.id)
        threading.Thread(target=self._beat, daemon=True, name="fairfield heartbeat").start()

    def _beat(self) -> None:
        while not self._stop.wait(BEAT):
            connected = closing(sqlite3.connect(os.path.abspath(self._path), timeout=30))
            with suppress(sqlite3.Error), connected as base, base:
                base.execute("UPDATE drivers SET beat = ? WHERE id = ?", (time.time(), self.id))

    def close(self, base: sqlite3.Connection) -> None:
        """This run works on the store no more."""
        self._stop.set()
        _own.discard(self.id)
        if self.writes:
            with suppress(sqlite3.Error), base:
                base.execute("UPDATE drivers SET ended = ? WHERE id = ?", (time.time(), self.id))
                release(base, self.id)


def drivers_of(base: sqlite3.Connection) -> dict[str, Driver]:
    """The runs that worked on a store, by their identities, oldest first."""
    if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'drivers'").fetchone():
        return {}
    rows = base.execute("SELECT * FROM drivers ORDER BY started").fetchall()
    return {
        id_: Driver(host, pid, started, _state(id_, host, pid, beat, ended))
        for id_, host, pid, started, beat, ended in rows
    }


def _state(id_: str, host: str, pid: int, beat: float, ended: float | None) -> str:
    if ended is not None:
        return "ended"
    silent = time.time() - beat > DEAD
    here = host == socket.gethostname()
    return "died" if silent or (here and not _runs(id_, pid)) else "alive"


def _runs(id_: str, pid: int) -> bool:
    """Whether a run of this machine is still there."""
    if pid == os.getpid():  # in a container, another process may have had this number before
        return id_ in _own
    try:
        os.kill(pid, 0)
        # A killed process that nobody has waited for is still in the table of processes.
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[:1] != ["Z"]
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to someone else, or the system has no /proc
        return True


def claim(base: sqlite3.Connection, driver: str, keys: list[bytes]) -> set[bytes]:
    """Those of the coalitions that no other living driver is asking for; now this one is."""
    with base:
        base.execute("BEGIN IMMEDIATE")
        alive = {id_ for id_, each in drivers_of(base).items() if each.state == "alive"}
        granted = set()
        for key in keys:
            held = base.execute("SELECT driver FROM claims WHERE coalition = ?", (key,)).fetchone()
            if held is None or held[0] == driver or held[0] not in alive:
                base.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", (key, driver))
                granted.add(key)
    return granted


def release(
    base: sqlite3.Connection, driver: str | None, keys: Iterable[bytes] | None = None
) -> None:
    """Free these coalitions, or all that a driver has claimed, in the transaction of the caller."""
    if keys is None:
        base.execute("DELETE FROM claims WHERE driver = ?", (driver,))
        return
    for key in keys:
        base.execute("DELETE FROM claims WHERE driver = ? AND coalition = ?", (driver, key))
