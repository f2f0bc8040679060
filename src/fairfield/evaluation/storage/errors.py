"""Errors of stores: SQLite's own, as a sentence that names the file."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import isfile


class StoreError(RuntimeError):
    """A store of worths cannot be used."""


@contextmanager
def sqlite_errors(path: str) -> Iterator[None]:
    """SQLite's errors as a StoreError that names the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        there = isfile(path)
        advice = (
            "worths committed earlier are intact" if there else "give a place that can be written"
        )
        raise StoreError(f"{path} could not be used ({error}); {advice}") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{path} is not a store of fairfield, or is damaged ({error}); use another file"
        ) from error


@contextmanager
def damage(path: str) -> Iterator[None]:
    """What strange contents make of the reader, as a StoreError that names the file."""
    try:
        yield
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        OverflowError,
        struct.error,
    ) as error:
        raise StoreError(
            f"{path} is damaged ({type(error).__name__}: {error}); restore the file from a copy, or "
            "delete it"
        ) from error
