"""Baskets from text files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from fairfield.core.coalitions import spell
from fairfield.core.writing.text_files import existing, read_text
from fairfield.learning.observed import Observed, observe

NEEDED = "a text file of baskets"
# Cells of a matrix, in lower case.
BITS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
# Names of two columns that hold a basket and one of its items.
BASKETS = re.compile(r"(basket|transaction|order|invoice|visit|team|coalition)([ _]?(id|no))?")
ITEMS = re.compile(r"(item|product|article|player|member)([ _]?(id|no|name))?")
# Fewer lines below the first may look like a table by chance.
FEW_LINES = 3

# The cells of one line, with its number in the file.
Line: TypeAlias = tuple[int, list[str]]


def read_baskets(
    path: str | PathLike[str],
    separator: str | None = None,
    *,
    layout: str | None = None,
    columns: Sequence[str] | None = None,
) -> Observed:
    """The baskets of a text file (UTF-8, maybe gzipped), in one of three layouts.

        "lines"        "long"         "matrix"
        tea,milk       basket,item    tea,milk,bread
        bread          1,tea          1,1,0
                       1,milk         0,0,1
                       2,bread

    By default the layout is found: "matrix" where the lines below a head of names hold only
    numbers (or true and false), "long" where a head of two names says so as above, else
    "lines"; a table of anything else is refused. ``columns`` name the basket and the item of
    a long table, which may have others; by default they are its first two. The default
    separator is the first of semicolon, tab and comma that the first lines contain, or else
    blanks. An item named twice in a basket counts once; an empty line is an empty basket,
    except at the end.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "baskets.csv"
    >>> _ = file.write_text("tea,milk\\nbread\\ntea,milk\\n")
    >>> read_baskets(file)
    3 observed coalitions of 3 players, 2 distinct
    """
    place = existing(Path(path), NEEDED)
    if layout is not None and layout not in LAYOUTS:
        raise ValueError(f"there is no layout {layout!r}; choose from {', '.join(LAYOUTS)}")
    if columns is not None and layout not in (None, "long"):
        raise ValueError(f"columns= are of a long table, and layout={layout!r} is another")
    lines = _lines(place, separator)
    if columns is not None:
        return _long(place, lines, columns)
    if layout is None:
        layout = _layout(lines)
        if layout == "lines":
            _refuse_tables(place, lines)
    return LAYOUTS[layout](place, lines)


def _lines(path: Path, separator: str | None) -> list[Line]:
    """The cells of every line up to the last that is not empty."""
    text = read_text(path, NEEDED).rstrip()
    if not text:
        raise ValueError(f"{path} is empty; it must hold at least one basket")
    if separator is None:
        first = text.split("\n", 100)[:100]
        separator = next((s for s in ";\t," if any(s in line for line in first)), " ")
    if len(separator) != 1:
        raise ValueError(f"the separator {separator!r} was given; it must be a single character")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    try:
        return [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
    except csv.Error as reason:
        raise ValueError(f"{path} is malformed: line {reader.line_num}: {reason}") from None


def _layout(lines: list[Line]) -> str:
    (_, head), *body = lines
    if len(head) == 2 and BASKETS.fullmatch(head[0].lower()) and ITEMS.fullmatch(head[1].lower()):
        return "long"
    cells = {cell for _, line in body for cell in line} - {""}
    named = not all(map(_is_number, head))
    return "matrix" if named and cells and all(map(_is_number, cells)) else "lines"


def _refuse_tables(path: Path, lines: list[Line]) -> None:
    """Refuse lines that are the rows of a table, of which every cell would be an item.

    In a table all lines are as long, and a column holds numbers below a name, or beside a
    column of texts.
    """
    (_, head), *body = lines
    if len(body) < FEW_LINES or any(len(line) != len(head) for _, line in body):
        return
    columns = zip(*(map(_is_number, line) for _, line in body), strict=True)
    numbers = [(all(column), any(column)) for column in columns]
    beside_texts = len(head) > 2 and not all(some for _, some in numbers)
    for place, (name, (every, _)) in enumerate(zip(head, numbers, strict=True)):
        if every and (beside_texts or not _is_number(name)):
            raise ValueError(
                f"{path} seems to be a table and no list of baskets: column {place + 1} of its "
                f"{len(head)} holds numbers; if it names baskets and their items in two columns, give "
                "their names as columns=, and if every line is a basket, give layout='lines'"
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.lower() in BITS
    return True


def _each_line(path: Path, lines: list[Line]) -> Observed:
    """A basket on each line."""
    return observe([sorted({cell for cell in line if cell}) for _, line in lines])


def _matrix(path: Path, lines: list[Line]) -> Observed:
    """A column of 0 and 1 for each item, named in the first line."""
    head, body = _table(path, lines)
    for number, line in body:
        for name, cell in zip(head, line, strict=True):
            if cell.lower() not in BITS:
                raise ValueError(
                    f"line {number} of {path} has {cell!r} for {name!r}; a matrix of baskets holds "
                    "0 and 1: turn counts into 1 where they are above 0, or, if each line names "
                    "the items of a basket, say that the layout is lines, and long if it names a "
                    "basket and one item"
                )
    return observe(np.array([[BITS[cell.lower()] for cell in line] for _, line in body]), head)


def _long(path: Path, lines: list[Line], columns: Sequence[str] | None = None) -> Observed:
    """A basket and one of its items on each line."""
    head, body = _table(path, lines)
    wanted = head[:2] if columns is None else list(columns)
    if len(set(wanted)) != 2 or len(wanted) != 2 or any(head.count(name) != 1 for name in wanted):
        raise ValueError(
            f"a long table needs two columns, of baskets and of items, each once: {spell(wanted)} was "
            f"asked for, and {path} has {spell(head)}"
        )
    basket, item = map(head.index, wanted)
    baskets: dict[str, set[str]] = {}
    for number, line in body:
        if not (line[basket] and line[item]):
            raise ValueError(f"line {number} of {path} lacks its {wanted[0]!r} or {wanted[1]!r}")
        baskets.setdefault(line[basket], set()).add(line[item])
    return observe([sorted(items) for items in baskets.values()])


def _table(path: Path, lines: list[Line]) -> tuple[list[str], list[Line]]:
    """The head and the lines below it, all as long; empty lines are left out."""
    (_, head), *rest = lines
    body = [(number, line) for number, line in rest if any(line)]
    if not body:
        raise ValueError(f"{path} has a head but no baskets; at least one is needed")
    if "" in head:
        raise ValueError(
            f"column {head.index('') + 1} of {path} has no name; give it one, or leave it out "
            "(pandas: to_csv(…, index=False))"
        )
    for number, line in body:
        if len(line) != len(head):
            raise ValueError(
                f"{path} is malformed: line {number} has {len(line)} cells, its head has {len(head)}"
            )
    return head, body


LAYOUTS: dict[str, Callable[[Path, list[Line]], Observed]] = {
    "lines": _each_line,
    "long": _long,
    "matrix": _matrix,
}
