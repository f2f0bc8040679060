"""Small tables as text and as HTML, and the notes below them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.writing.terminal import shown

Columns: TypeAlias = dict[str, list[object]]

# How a warning ends that says of errors what another one says, too.
VERDICT = re.compile(
    r",? (so|and)( the errors| the error bars| its errors)? are not to be trusted\b"
)
MOST_ROWS = 20
_CELL = "padding:2px 12px 2px 0;border-bottom:1px solid #ccc;text-align:"
# The style of each tag; the cells of the first column, which are names, come before the others.
STYLES = {
    **dict.fromkeys(("tr><td", "tr><th"), f"{_CELL}left"),
    **dict.fromkeys(("td", "th"), f"{_CELL}right"),
    "table": "border-collapse:collapse;font-variant-numeric:tabular-nums",
    "div": "font-size:85%;opacity:.75",
}
HALF_INTERVAL = "± is half the width of a 95 % interval"


class Shown:
    """A result that is a table with notes, as text and in a notebook."""

    def _shown(self) -> tuple[Columns, list[str]]:
        """The columns of the table, and the notes below it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return text_table(*self._shown())

    def _repr_html_(self) -> str:
        return html_table(*self._shown())

    def to_html(self) -> str:
        """The table and its notes as HTML that brings its own style, to paste into a page or a mail."""
        page = self._repr_html_()
        for tag, style in STYLES.items():  # names are escaped, so that these are tags
            page = page.replace(f"<{tag}>", f'<{tag} style="{style}">')
        return page


def number(value: object, digits: int = 4) -> str:
    """A number as people read it.

    >>> number(0.0627634), number(12), number(1e-12), number(None)
    ('0.06276', '12', '1e-12', '')
    """
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.{digits}g}"
    return shown(value)


def rows_to_show(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places of the largest |value|, as many as are shown, the most valuable first.

    Where all values are below 0, as log-odds often are, half of those shown are the highest.

    >>> rows_to_show(np.array([1.0, -3.0, 2.0])).tolist()
    [2, 0, 1]
    """
    order = np.argsort(-np.abs(values), kind="stable")
    if len(order) > MOST_ROWS and values.max() < 0:
        order = np.concatenate([order[: MOST_ROWS // 2], order[MOST_ROWS // 2 - MOST_ROWS :]])
    kept = np.sort(order[:MOST_ROWS])
    return np.asarray(kept[np.argsort(-values[kept], kind="stable")], dtype=np.int64)


def not_shown(count: int, nouns: str) -> list[str]:
    """A note on the players that are left out, if there are any."""
    return [f"… {count - MOST_ROWS} more {nouns}"] if count > MOST_ROWS else []


def with_errors(values: NDArray[np.float64], halves: NDArray[np.float64] | None) -> list[object]:
    """A column of values, each with half the width of its interval where there is one.

    >>> with_errors(np.array([0.50312]), np.array([0.0213]))
    ['0.5031 ± 0.021']
    """
    if halves is None:
        return list(values)
    return [f"{number(v)} ± {number(h, 2)}" for v, h in zip(values, halves, strict=True)]


def evaluated(count: int) -> str:
    """How many coalitions were evaluated; closed forms, tables and full stores need none.

    >>> evaluated(0), evaluated(1), evaluated(1438)
    ('no coalitions evaluated', '1 coalition evaluated', '1,438 coalitions evaluated')
    """
    return f"{f'{count:,}' if count else 'no'} coalition{'' if count == 1 else 's'} evaluated"


def joined(sentences: Sequence[str]) -> str:
    """Sentences as one; advice and verdict that several end in are given once, by the last of them.

    >>> joined(["the draws are few; raise the budget", "the errors are off; raise the budget"])
    'the draws are few; the errors are off; raise the budget'
    >>> joined(["draws are few, so the errors are not to be trusted", "bars are off, and are not to be trusted"])
    'draws are few; bars are off, and are not to be trusted'
    """
    kept: list[str] = []
    said_so = False
    for sentence in reversed(sentences):
        finding, _, advice = sentence.rpartition("; ")
        repeated = finding and any(later.endswith(f"; {advice}") for later in kept)
        said = finding if repeated else sentence
        kept.insert(0, VERDICT.sub("", said) if said_so else said)
        said_so = said_so or VERDICT.search(said) is not None
    return "; ".join(kept)


def text_table(columns: Mapping[str, Sequence[object]], notes: Sequence[str] = ()) -> str:
    """Columns side by side, the first flush left, and notes below.

    >>> print(text_table({"player": ["ann"], "value": [0.5]}, ["exact table"]))
    player  value
    ann       0.5
    exact table
    """
    cells = [
        [shown(name), *map(number, _without_noise(column))] for name, column in columns.items()
    ]
    for place, column in enumerate(cells):
        width, pad = max(map(len, column)), str.rjust if place else str.ljust
        cells[place] = [pad(cell, width) for cell in column]
    lines = ["  ".join(row).rstrip() for row in zip(*cells, strict=True)]
    return "\n".join([*lines, *map(shown, notes)])


def html_table(columns: Mapping[str, Sequence[object]], notes: Sequence[str] = ()) -> str:
    """The same table for a notebook; every cell is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(number(cell))}</td>" for cell in row) + "</tr>"
        for row in zip(*map(_without_noise, columns.values()), strict=True)
    )
    below = "".join(f"<div>{escape(note)}</div>" for note in notes)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{below}"


def _without_noise(column: Sequence[object]) -> list[object]:
    """The column with 0 for what is rounding beside its largest entry."""
    numbers = [abs(float(cell)) for cell in column if isinstance(cell, (float, np.floating))]
    floor = 1e-14 * max(numbers, default=0.0)
    return [
        0.0 if isinstance(cell, (float, np.floating)) and abs(float(cell)) < floor else cell
        for cell in column
    ]
