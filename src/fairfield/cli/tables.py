"""Tables from files: CSV and Parquet, refused with a sentence where they are not tables."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairfield.cli.sentences import InputError
from fairfield.coalitions import spell

if TYPE_CHECKING:
    import pandas as pd

PARQUET = {".parquet", ".pq"}
# What else may stand between the columns of a file that is called CSV.
OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'"}
# Cells that stand for nothing in a table of text.
EMPTY = {"", "NA", "NaN", "nan", "null", "NULL", "None"}


def read_table(path: Path, *, delimiter: str | None = None, as_text: bool = False) -> pd.DataFrame:
    """The table in a CSV file (UTF-8, with a head, maybe gzipped) or a Parquet file.

    ``as_text`` leaves the cells as they are written.
    """
    import pandas as pd

    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; a CSV or Parquet file is needed")
    if path.suffix.lower() in PARQUET:
        try:
            table: pd.DataFrame = pd.read_parquet(path)
        except Exception as reason:  # whatever a strange file makes of pyarrow
            first = str(reason).split("\n")[0]
            raise InputError(f"{path} is not a Parquet file that can be read ({first})") from None
        if not len(table):
            raise InputError(f"{path} has no rows; at least one is needed")
        return table
    head, lines = _cells(path, delimiter)
    columns = {name: [line[i] for line in lines] for i, name in enumerate(head)}
    if as_text:
        return pd.DataFrame(columns, dtype=str)
    return pd.DataFrame({name: _typed(cells) for name, cells in columns.items()})


def _cells(path: Path, delimiter: str | None) -> tuple[list[str], list[list[str]]]:
    """The head and the lines of a CSV file, all of one length."""
    mark = (delimiter or ("\t" if ".tsv" in path.suffixes else ",")).replace("\\t", "\t")
    if len(mark) != 1:
        raise InputError(f"--delimiter {delimiter!r} is no single character")
    text = _text(path)
    if not text.strip():
        raise InputError(f"{path} is empty; a line of column names and at least one row are needed")
    if "\0" in text:
        raise InputError(f"{path} is no text file; a CSV or Parquet file is needed")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    lines: list[list[str]] = []
    try:
        for line in reader:
            if not line:
                continue  # an empty line, as at the end of many files
            lines.append(line)
            if len(line) != len(lines[0]):
                raise InputError(
                    f"{path} is malformed: line {reader.line_num} has {len(line)} cells, its head "
                    f"has {len(lines[0])}"
                )
    except csv.Error as reason:
        raise InputError(f"{path} is malformed: line {reader.line_num}: {reason}") from None
    head = [name.strip() for name in lines[0]]
    _check_head(path, head, mark)
    if len(lines) < 2:
        raise InputError(f"{path} has a head but no rows; at least one is needed")
    return head, lines[1:]


def _text(path: Path) -> str:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        raw: bytes = file.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise InputError(
            f"{path} is not UTF-8 text: byte 0x{raw[reason.start]:02x} in line {line}; save it as UTF-8"
        ) from None


def _check_head(path: Path, head: list[str], mark: str) -> None:
    if len(head) == 1:
        for other, name in OTHER_DELIMITERS.items():
            if other != mark and other in head[0]:
                raise InputError(
                    f"{path} has the one column {head[0]!r}; its cells seem to be separated by "
                    f"{name}, so pass --delimiter {name}"
                )
    for i, name in enumerate(head):
        if not name:
            raise InputError(
                f"column {i + 1} of {path} has no name; give it one, or leave it out (pandas: "
                "to_csv(…, index=False))"
            )
        if name in head[:i]:
            raise InputError(f"{path} has two columns named {name!r}; names must differ")


def _typed(cells: Sequence[str]) -> Any:
    """A column of numbers where all cells are numbers or empty, else of text."""
    import numpy as np
    import pandas as pd

    stripped = [cell.strip() for cell in cells]
    numbers = pd.to_numeric(
        pd.Series([None if cell in EMPTY else cell for cell in stripped], dtype=object),
        errors="coerce",
    )
    empty = np.array([cell in EMPTY for cell in stripped])
    if not (numbers.isna().to_numpy() & ~empty).any() and not empty.all():
        return numbers
    return pd.Series([None if cell in EMPTY else cell for cell in stripped], dtype=object)


def column(table: pd.DataFrame, name: str, path: Path) -> pd.Series[Any]:
    """A column by its name."""
    if name not in table.columns:
        raise InputError(f"there is no column {name!r} in {path}; it has {spell(table.columns)}")
    return table[name]
