"""The file of a store: how it is opened, what is in it, and whether it is of a game."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import W_OK, PathLike, access, fspath
from os.path import abspath
from pathlib import Path
from typing import Any, TypeVar

from fairfield.core.fingerprint import without_code
from fairfield.core.runtime.notices import warn
from fairfield.core.writing.files import no_folder
from fairfield.evaluation.storage.errors import StoreError, damage, sqlite_errors

Found = TypeVar("Found")
# 2: descriptions hold the code of functions. A file of format 1 is upgraded when it is used.
FORMAT = 2
# Values that differ between two descriptions are quoted up to this length.
SHORT = 40
# Seconds of one wait for a file that another process has locked, and of all of them.
WAIT, LONGEST_WAIT = 5.0, 600.0
_TABLES = (
    "CREATE TABLE game (format INTEGER, fingerprint TEXT, description TEXT, versions TEXT, "
    "players INTEGER, games INTEGER)",
    "CREATE TABLE rounds (id INTEGER PRIMARY KEY, coalitions BLOB, worths BLOB, "
    "checksum INTEGER, law TEXT)",
)


def connect(path: str) -> sqlite3.Connection:
    """A connection that writes, to a file that several drivers may use at once."""
    if not path or path.startswith(":memory:"):
        raise StoreError(f"store={path!r} is no file; give the path of one, or leave store= out")
    if (missing := no_folder(Path(path).resolve())) is not None:
        raise StoreError(f"store={path!r} could not be used: {missing}")
    if Path(path).is_file() and Path(path).stat().st_size == 1:
        # SQLite takes such a file for a new one, and would write over what someone has in it.
        raise StoreError(f"{path} is not a store of fairfield; use another file")
    # Many builds of SQLite take a name such as "file:x?mode=memory" for an address, and keep nothing.
    base = sqlite3.connect(abspath(path), timeout=WAIT)
    try:
        base.execute("PRAGMA trusted_schema = OFF")  # a schema of others may not run functions
        with suppress(sqlite3.OperationalError):  # locked, or a file that may only be read
            base.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        base.close()
        raise
    return base


def disconnect(base: sqlite3.Connection) -> None:
    """Close a connection; the last one leaves a single file, which can be copied."""
    with suppress(sqlite3.Error):
        base.execute("PRAGMA busy_timeout = 0")
        base.execute("PRAGMA journal_mode = DELETE")
    base.close()


def patiently(act: Callable[[], Found]) -> Found:
    """What a transaction gives, tried again while another process has the file locked."""
    until, said = time.monotonic() + LONGEST_WAIT, False
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            locked = "locked" in str(error) or "busy" in str(error)
            if not locked or time.monotonic() > until:
                raise
            if not said:
                warn("another process has locked the store; waiting for it")
            said = True


@contextmanager
def opened(
    path: str | PathLike[str], description: dict[str, Any] | None = None
) -> Iterator[sqlite3.Connection]:
    """A connection that reads a store, of the game described if one is."""
    if not Path(path).exists():
        raise StoreError(f"there is no store {fspath(path)}")
    with sqlite_errors(fspath(path)):
        # A driver that was killed may have left a journal, which only a writer can roll back.
        mode = "rw" if access(path, W_OK) else "ro"
        if mode == "ro" and not Path(f"{fspath(path)}-wal").exists():
            mode = "ro&immutable=1"  # else the log of a folder that cannot be written is missed
        base = sqlite3.connect(Path(path).resolve().as_uri() + f"?mode={mode}", uri=True)
        try:
            base.execute("PRAGMA trusted_schema = OFF")
            with damage(fspath(path)):
                check(base, fspath(path), description)
            yield base
        finally:
            base.close()


def create(
    base: sqlite3.Connection,
    description: dict[str, Any],
    versions: dict[str, str],
    sizes: list[int],
) -> None:
    """Make the tables, unless they are there; ``sizes`` are the numbers of players and games."""
    if _in_use(base):
        return
    text = json.dumps(description, default=str)
    fingerprint = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    row = (FORMAT, fingerprint, text, json.dumps(versions), *sizes)
    with base:
        # Of several processes that find no tables, one creates them.
        base.execute("BEGIN IMMEDIATE")
        if not _in_use(base):
            for table in _TABLES:
                base.execute(table)
            base.execute("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?)", row)


def _in_use(base: sqlite3.Connection) -> bool:
    """Whether a file has anything in it, of fairfield or of others."""
    return base.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def tables(base: sqlite3.Connection) -> set[str]:
    """The names of the tables of a file."""
    return {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def check(
    base: sqlite3.Connection,
    path: str,
    description: dict[str, Any] | None = None,
    versions: dict[str, str] | None = None,
) -> None:
    """Refuse a file that is no store, or the store of a game that is not the one described.

    Other ``versions`` of libraries than those that made it are warned of.
    """
    if not {"game", "rounds"} <= tables(base):
        raise StoreError(f"{path} is not a store of fairfield; use another file")
    query = "SELECT format, description, versions FROM game"
    ((found, held, about),) = base.execute(query).fetchall()
    if found not in range(1, FORMAT + 1):
        raise StoreError(f"{path} has format {found}; this version reads up to {FORMAT}")
    if description is None:
        return
    before = json.loads(about)
    theirs, ours = json.loads(held), json.loads(json.dumps(description, default=str))
    compiled = versions is None or before.get("python") == versions.get("python")
    if found == 1 or not compiled:
        # Another version of Python compiles the same code to other instructions.
        theirs, ours = without_code(theirs), without_code(ours)
    if "code" not in ours:
        theirs.pop("code", None)  # whoever gives a name says that the worths are the same
    if theirs != ours:
        apart = _differences(theirs, ours)
        advice = "use another file"
        if apart == ["code"] and "function" in theirs:
            advice += f", or give the game name={theirs['function']!r}, if its worths are the same"
        raise StoreError(
            f"{path} holds the worths of another game, with other {', '.join(apart)}; {advice}"
        )
    if versions is not None:
        _warn_of_versions(path, before, versions)


def upgrade(base: sqlite3.Connection, description: dict[str, Any]) -> None:
    """Make a file of an older format, which was checked, one of this format."""
    ((found,),) = base.execute("SELECT format FROM game").fetchall()
    if found != FORMAT:
        with suppress(sqlite3.OperationalError), base:  # a file that may only be read
            text = json.dumps(description, default=str)
            base.execute("UPDATE game SET format = ?, description = ?", (FORMAT, text))


def _warn_of_versions(path: str, before: dict[str, str], now: dict[str, str]) -> None:
    changed = [
        f"{name} {before[name]} (now {version})"
        for name, version in now.items()
        if name in before and before[name] != version
    ]
    if changed:
        warn(
            f"{path} was made with {', '.join(changed)}; where that changes worths, delete the file"
        )


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
        shown = len(values) <= SHORT and name != "code"  # whose digests tell nobody anything
        apart.append(f"{name} ({values})" if shown else name)
    return apart
