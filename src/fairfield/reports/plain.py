"""A summary as JSON, as CSV and as text."""

from __future__ import annotations

import csv as comma_separated
import io
import json as javascript_object_notation
import re
from itertools import product
from typing import Any

import numpy as np

from fairfield.core.writing.terminal import shown, shown_json
from fairfield.results.display import number, rows_to_show, text_table
from fairfield.results.tables import MOST_COLUMNS

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def json(summary: dict[str, Any]) -> str:
    """The summary itself; every number is finite or null."""
    text = javascript_object_notation.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1)
    return shown_json(text)


def csv(summary: dict[str, Any]) -> str:
    """One line per player (and per row of a batch), the criteria as columns.

    Text that a spreadsheet would run as a formula has an apostrophe before it; control characters
    are escapes.
    """
    written = io.StringIO()
    writer = comma_separated.writer(written, lineterminator="\n")
    writer.writerows([_guarded(cell) for cell in line] for line in csv_lines(summary))
    return written.getvalue()


def _guarded(cell: Any) -> Any:
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    # Some spreadsheets leave out blanks before a formula.
    formula = cell.lstrip().startswith(("=", "+", "-", "@"))
    return f"'{shown(cell)}" if formula else shown(cell)


def csv_lines(summary: dict[str, Any]) -> list[list[Any]]:
    """The cells of the CSV file, its head first; the mean of a batch is not a line.

    Rows are named as in the data they come from.
    """
    words, data, players = summary["words"], summary["data"], summary["players"]
    lines = len(summary["rows"])
    columns: list[tuple[str, list[Any]]] = [
        (words["player"], [players] * lines),
        *([] if data is None else [("data", data)]),
    ]
    for each in summary["criteria"]:
        for what, suffix in (("values", ""), ("stderr", " stderr"), ("marginals", " marginal")):
            if each[what] is not None:
                columns.append((f"{each['name']}{suffix}", each[what]))
    axes, means = summary["axes"] if lines > 1 else [], summary["means"]
    found: list[list[Any]] = [[*axes, *(name for name, _ in columns)]]
    for row in range(means, lines):
        own = summary["cells"][row - means] if axes else []
        found += [[*own, *line] for line in zip(*(held[row] for _, held in columns), strict=True)]
    return found


def text(summary: dict[str, Any]) -> str:
    """The first players by the first criterion, the others beside it, and how they were found."""
    stops = [f"{each['label']}: {each['stop']}" for each in summary["criteria"]]
    warnings = [f"warning: {warning}" for warning in summary["warnings"]]
    notes = [*outputs_left_out(summary), *summary["notes"], *stops, *warnings]
    return f"{summary['title']}\n\n{text_table(table_of_values(summary), ['', *notes])}\n"


def table_of_values(summary: dict[str, Any]) -> dict[str, list[str]]:
    """The first players by the first criterion, and their values by each, with 95 % intervals.

    Each column has the decimals that show four digits of its largest value. Of several outputs
    the first are shown, each in a column of its own.
    """
    outputs = summary["outputs"] or [""]
    first = np.asarray(summary["criteria"][0]["values"][: len(outputs)])
    shown = rows_to_show(first[0] if len(first) == 1 else np.abs(first).max(axis=0))
    table = {summary["words"]["player"]: [summary["players"][i] for i in shown]}
    places = enumerate(outputs[: _most_outputs(summary)])
    for each, (at, output) in product(summary["criteria"], places):
        values = np.asarray(each["values"][at])
        label = f"{each['label']}, {output}" if output else each["label"]
        top = np.abs(values).max()
        decimals = int(np.clip(3 - np.floor(np.log10(top)), 0, 12)) if top > 0 else 0
        cells = [f"{value:.{decimals}f}" for value in values[shown]]
        if each["stderr"]:
            label = f"{label} ±"
            errors = np.asarray(each["stderr"][at])[shown]
            halves = [number(half, 2) for half in summary["interval"] * errors]
            width = max(map(len, halves))
            cells = [f"{cell} ± {half:<{width}}" for cell, half in zip(cells, halves, strict=True)]
        table[label] = cells
    return table


def outputs_left_out(summary: dict[str, Any]) -> list[str]:
    """A note on the outputs for which the table of values has no room, if there are any."""
    left = len(summary["outputs"] or []) - _most_outputs(summary)
    return [f"… {left} more outputs"] if left > 0 else []


def _most_outputs(summary: dict[str, Any]) -> int:
    return max(1, MOST_COLUMNS // len(summary["criteria"]))
