"""Tables from CSV and Parquet files; what is not a table is refused in one sentence."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from fairfield.cli.messages import InputError
from fairfield.core.arrays import BoolArray
from fairfield.core.coalitions import spell
from fairfield.core.writing.text_files import existing, read_utf8

if TYPE_CHECKING:
    import pandas as pd

Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(help="What separates the cells of CSV files.")
]

NEEDED = "a CSV or Parquet file"
PARQUET = {".parquet", ".pq"}
# Separators of cells in files that are called CSV.
DELIMITERS = ",;\t|"


def read_table(
    path: Path,
    *,
    delimiter: str | None = None,
    as_text: bool = False,
    texts: Sequence[str] = (),
) -> pd.DataFrame:
    """The table in a CSV file (UTF-8, with a head, maybe gzipped) or a Parquet file.

    ``as_text`` leaves the cells as they are written, ``texts`` those of some columns.
    """
    if existing(path, NEEDED).suffix.lower() in PARQUET:
        return _read_parquet(path)
    return _read_csv(path, delimiter, as_text, texts)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        table: pd.DataFrame = pd.read_parquet(path)
    except ImportError:
        raise
    except Exception as reason:  # pyarrow raises anything on malformed files
        first = str(reason).split("\n")[0]
        raise InputError(f"{path} is not a Parquet file that can be read ({first})") from None
    if not len(table):
        raise InputError(f"{path} has no rows; at least one is needed")
    return table


def _read_csv(
    path: Path, delimiter: str | None, as_text: bool, texts: Sequence[str]
) -> pd.DataFrame:
    import pandas as pd

    mark = _mark(path, delimiter)
    raw = read_utf8(path, NEEDED)
    head = _checked_head(path, raw, mark)
    left = {underscored(name) for name in texts}
    kept: dict[str, Any] = {"dtype": {name: str for name in head if underscored(name) in left}}
    if as_text:
        kept = {"dtype": str, "keep_default_na": False}
    table: pd.DataFrame = pd.read_csv(
        io.BytesIO(raw), sep=mark, names=head, header=0, index_col=False,
        skipinitialspace=True, **kept,
    )  # fmt: skip
    return table


def _mark(path: Path, delimiter: str | None) -> str:
    """The separator of the cells of a file."""
    mark = (delimiter or ("\t" if ".tsv" in path.suffixes else ",")).replace("\\t", "\t")
    if len(mark) != 1:
        raise InputError(f"--delimiter {delimiter!r} is not a single character; give one")
    return mark


def place(path: Path, row: int, delimiter: str | None = None) -> str:
    """Where a row of the table stands in its file: its line, or its number in a Parquet file."""
    if path.suffix.lower() in PARQUET:
        return f"row {row} of {path}"
    lines = _lines(path, read_utf8(path, NEEDED), _mark(path, delimiter))
    number, _ = next(islice(lines, row + 1, None))
    return f"line {number} of {path}"


def _lines(path: Path, raw: bytes, mark: str) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of every line that is not empty, as many are at the end of files."""
    reader = csv.reader(
        io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline=""), delimiter=mark, strict=True
    )
    try:
        yield from ((reader.line_num, line) for line in reader if line)
    except csv.Error as reason:
        raise InputError(f"{path} is malformed: line {reader.line_num}: {reason}") from None


def _checked_head(path: Path, raw: bytes, mark: str) -> list[str]:
    """The names of the columns, once every line is seen to have as many cells."""
    if not raw or raw.isspace():
        raise InputError(f"{path} is empty; a line of column names and at least one row are needed")
    lines = _lines(path, raw, mark)
    head = [name.strip() for name in next(lines)[1]]
    _check_mark(path, head, mark)
    first = next(lines, None)
    if not _plain(raw, mark, len(head)):
        for number, line in () if first is None else chain([first], lines):
            if len(line) != len(head):
                raise InputError(
                    f"{path} is malformed: line {number} has {len(line)} cells, its head has "
                    f"{len(head)}"
                )
    _check_names(path, head)
    if first is None:
        raise InputError(f"{path} has a head but no rows; at least one is needed")
    return head


def _plain(raw: bytes, mark: str, cells: int) -> bool:
    """Whether each line has that many cells, as counting tells outside of quotes.

    This takes a tenth of the time that reading the cells one by one does.
    """
    if not mark.isascii():
        return False
    if b'"' in raw:
        raw = _outside_quotes(raw, mark)
    if not raw:
        return False
    if b"\r" in raw and raw.count(b"\r") > raw.count(b"\r\n"):
        return False
    # What separates cells and lines, in its order: as many marks as a line has, and its end.
    sign = mark.encode()
    others = bytes(set(range(256)) - {*sign, *b"\n"})
    last = raw[-99:]
    empty = last[len(last.rstrip(b"\r\n")) :].count(b"\n")
    between = raw.translate(None, others)
    between = between[: len(between) - empty] + b"\n"
    return between == (sign * (cells - 1) + b"\n") * (len(between) // cells)


def _outside_quotes(raw: bytes, mark: str) -> bytes:
    """The text with only the last quote of what is quoted; nothing where one is not at an edge of its cell."""
    import numpy as np

    text = np.frombuffer(raw, dtype=np.uint8)
    quotes = text == ord('"')
    at, edge = np.flatnonzero(quotes), np.zeros(256, dtype=bool)
    # A quote beside another one is a quote inside a cell.
    edge[list(f'"\r\n{mark}'.encode())] = True
    outer = np.append(at[::2] - 1, at[1::2] + 1)
    outer = outer[(outer >= 0) & (outer < len(text))]
    if len(at) % 2 or not edge[text[outer]].all():
        return b""
    inside: BoolArray = np.logical_xor.accumulate(quotes)
    return text[~inside].tobytes()


def _check_mark(path: Path, head: list[str], mark: str) -> None:
    if len(head) == 1:
        for other in DELIMITERS:
            if other != mark and other in head[0]:
                raise InputError(
                    f"{path} has the one column {head[0]!r}; its cells seem to be separated by "
                    f"{other!r}, so pass --delimiter {other!r}"
                )


def _check_names(path: Path, head: list[str]) -> None:
    for i, name in enumerate(head):
        if not name:
            raise InputError(
                f"column {i + 1} of {path} has no name; give it one, or leave it out (pandas: "
                "to_csv(…, index=False))"
            )
        if name in head[:i]:
            raise InputError(f"{path} has two columns named {name!r}; names must differ")


def underscored(name: object) -> str:
    """The name of a column as LightGBM writes it, without blanks."""
    return str(name).replace(" ", "_")


def column(table: pd.DataFrame, name: str, path: Path) -> pd.Series[Any]:
    """A column by its name."""
    if name not in table.columns:
        raise InputError(f"there is no column {name!r} in {path}; it has {spell(table.columns)}")
    return table[name]


def columns_like(table: pd.DataFrame, model: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The columns that another table has, in its order."""
    for name in model.columns:
        column(table, name, path)
    return table[list(model.columns)]
