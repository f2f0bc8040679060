"""Text files, with an error that says what is wrong with a file."""

from __future__ import annotations

import gzip
from codecs import BOM_UTF8
from pathlib import Path


def existing(path: Path, needed: str) -> Path:
    """The path, refused where there is no file; ``needed`` says what should be there."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; {needed} is needed")
    return path


def read_utf8(path: Path, needed: str) -> bytes:
    """The bytes of a UTF-8 file, gzipped or not; ``needed`` says what should be in it."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        raw: bytes = file.read()
    try:
        raw if raw.isascii() else raw.decode()
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise ValueError(
            f"{path} is not UTF-8 text: byte 0x{raw[reason.start]:02x} in line {line}; save it as UTF-8"
        ) from None
    if b"\0" in raw:
        raise ValueError(f"{path} is no text file; {needed} is needed")
    return raw.removeprefix(BOM_UTF8)


def read_text(path: Path, needed: str) -> str:
    """The text of such a file."""
    return read_utf8(path, needed).decode()
