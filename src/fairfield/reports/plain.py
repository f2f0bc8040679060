"""A summary as JSON, as CSV and as text."""

from __future__ import annotations

import csv as comma_separated
import io
import json as javascript_object_notation
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.results.display import Columns, rows_to_show, text_table, with_errors


def json(summary: dict[str, Any]) -> str:
    """The summary itself; every number is finite or null."""
    return javascript_object_notation.dumps(summary, allow_nan=False, ensure_ascii=False, indent=1)


def csv(summary: dict[str, Any]) -> str:
    """One line per player (and per row of a batch), the criteria as columns."""
    written = io.StringIO()
    writer = comma_separated.writer(written, lineterminator="\n")
    writer.writerows(csv_lines(summary))
    return written.getvalue()


def csv_lines(summary: dict[str, Any]) -> list[list[Any]]:
    """The cells of the CSV file, its head first; the mean of a batch is not a line.

    Rows are named as in the data they come from.
    """
    words, data = summary["words"], summary["data"]
    batch = len(summary["rows"]) > 1
    columns = [
        (f"{criterion['name']}{suffix}", criterion[what])
        for criterion in summary["criteria"]
        for what, suffix in (("values", ""), ("stderr", " stderr"), ("marginals", " marginal"))
        if criterion[what] is not None
    ]
    head = [
        *([words["row"]] if batch else []),
        words["player"],
        *([] if data is None else ["data"]),
    ]
    lines: list[list[Any]] = [[*head, *(name for name, _ in columns)]]
    for row in range(1 if batch else 0, len(summary["rows"])):
        name = summary["rows"][row].removeprefix(f"{words['row']} ")
        for i, player in enumerate(summary["players"]):
            cells = [*([name] if batch else []), player, *([] if data is None else [data[row][i]])]
            lines.append([*cells, *(held[row][i] for _, held in columns)])
    return lines


def text(summary: dict[str, Any]) -> str:
    """The first players by the first criterion, the others beside it, and how they were found."""
    shown = first_players(summary)
    table: Columns = {summary["words"]["player"]: [summary["players"][i] for i in shown]}
    for each in summary["criteria"]:
        halves = half_widths(each, summary)
        column = np.asarray(each["values"][0])[shown]
        table[each["label"]] = with_errors(column, None if halves is None else halves[shown])
    stops = [f"{each['label']}: {each['stop']}" for each in summary["criteria"]]
    warnings = [f"warning: {warning}" for warning in summary["warnings"]]
    notes = [*summary["notes"], *stops, *warnings]
    return f"{summary['title']}\n\n{text_table(table, ['', *notes])}\n"


def first_players(summary: dict[str, Any]) -> IntArray:
    """The places of the players that a table of text shows, by the first criterion."""
    return rows_to_show(np.asarray(summary["criteria"][0]["values"][0]))


def half_widths(criterion: dict[str, Any], summary: dict[str, Any]) -> FloatArray | None:
    """Half the width of each 95 % interval, of the mean where there are several rows."""
    if not criterion["stderr"]:
        return None
    return np.asarray(summary["interval"] * np.asarray(criterion["stderr"][0]))
