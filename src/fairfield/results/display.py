"""Small tables as text and as HTML, and the sentences below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 20
HALF_INTERVAL = "± is half the width of a 95 % interval"


def number(value: object, digits: int = 4) -> str:
    """A number as people read it.

    >>> number(0.0627634), number(12), number(1e-12), number(None)
    ('0.06276', '12', '1e-12', '')
    """
    if value is None:
        return ""
    if isinstance(value, (float, np.floating)):
        return f"{value:.{digits}g}"
    return str(value)


def rows_to_show(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of the largest |value|, as many as are shown, the most valuable first.

    Where all values are below 0, as log-odds often are, half of them are the highest.

    >>> rows_to_show(np.array([1.0, -3.0, 2.0])).tolist()
    [2, 0, 1]
    """
    order = np.argsort(-np.abs(values), kind="stable")
    if len(order) > MOST_ROWS and values.max() < 0:
        order = np.concatenate([order[: MOST_ROWS // 2], order[MOST_ROWS // 2 - MOST_ROWS :]])
    kept = np.sort(order[:MOST_ROWS])
    return np.asarray(kept[np.argsort(-values[kept], kind="stable")], dtype=np.int64)


def not_shown(count: int) -> list[str]:
    """A note on the rows that are left out, if there are any."""
    hidden = count - MOST_ROWS
    return [f"… {hidden} more players"] if hidden > 0 else []


def with_errors(values: NDArray[np.float64], halves: NDArray[np.float64] | None) -> list[object]:
    """A column of values, each with half the width of its interval where there is one.

    >>> with_errors(np.array([0.50312]), np.array([0.0213]))
    ['0.5031 ± 0.021']
    """
    if halves is None:
        return list(values)
    return [f"{number(v)} ± {number(h, 2)}" for v, h in zip(values, halves, strict=True)]


def evaluated(count: int) -> str:
    """How many worths had to be found; closed forms, tables and full stores need none.

    >>> evaluated(0), evaluated(1), evaluated(1438)
    ('no worths evaluated', '1 worth evaluated', '1,438 worths evaluated')
    """
    return f"{f'{count:,}' if count else 'no'} {'worth' if count == 1 else 'worths'} evaluated"


def joined(sentences: Sequence[str]) -> str:
    """Sentences as one; advice that several end in is given once, by the last of them.

    >>> joined(["the draws are few; raise the budget", "the errors are off; raise the budget"])
    'the draws are few; the errors are off; raise the budget'
    """
    told: list[str] = []
    for sentence in reversed(sentences):
        said, _, advice = sentence.rpartition("; ")
        known = said and any(later.endswith(f"; {advice}") for later in told)
        told.insert(0, said if known else sentence)
    return "; ".join(told)


def text_table(columns: Mapping[str, Sequence[object]], notes: Sequence[str] = ()) -> str:
    """Columns side by side, the first flush left, and notes below.

    >>> print(text_table({"player": ["ann"], "value": [0.5]}, ["exact table"]))
    player  value
    ann       0.5
    exact table
    """
    cells = [[name, *map(number, _without_noise(column))] for name, column in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    lines = []
    for row in zip(*cells, strict=True):
        first, *others = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join([*lines, *notes])


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
