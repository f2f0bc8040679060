"""Text from files, refused with a sentence where it is none."""

from __future__ import annotations

import gzip
from pathlib import Path


def existing(path: Path, needed: str) -> Path:
    """The path of a file that is there; ``needed`` says what a folder is not."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder; {needed} is needed")
    return path


def read_text(path: Path, needed: str) -> str:
    """The text of a file in UTF-8, maybe gzipped; ``needed`` says what other files are not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        raw: bytes = file.read()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise ValueError(
            f"{path} is not UTF-8 text: byte 0x{raw[reason.start]:02x} in line {line}; save it as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{path} is no text file; {needed} is needed")
    return text
