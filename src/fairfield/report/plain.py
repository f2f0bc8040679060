"""A summary as JSON, as CSV and as text."""

from __future__ import annotations

import csv as comma_separated
import io
import json as javascript_object_notation
from typing import Any

import numpy as np

from fairfield.results.display import (
    HALF_INTERVAL,
    evaluated,
    not_shown,
    number,
    rows_to_show,
    text_table,
    with_errors,
)
from fairfield.results.valuation import NORMAL


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
    batch = len(summary["rows"]) > 1
    columns = [
        (name if what == "values" else f"{name} {told}", criterion[what])
        for criterion in summary["criteria"]
        for name in [criterion["name"]]
        for what, told in (("values", ""), ("stderr", "stderr"), ("marginals", "marginal"))
        if criterion[what] is not None
    ]
    known = summary["data"] is not None
    head = [*(["row"] if batch else []), "player", *(["data"] if known else [])]
    lines: list[list[Any]] = [[*head, *(name for name, _ in columns)]]
    for row in range(1 if batch else 0, len(summary["rows"])):
        for i, player in enumerate(summary["players"]):
            cells: list[Any] = [summary["rows"][row].removeprefix("row ")] if batch else []
            cells += [player, *([summary["data"][row][i]] if known else [])]
            lines.append([*cells, *(held[row][i] for _, held in columns)])
    return lines


def text(summary: dict[str, Any]) -> str:
    """The first players by the first criterion, the others beside it, and how it was found."""
    criteria = summary["criteria"]
    shown = rows_to_show(np.asarray(criteria[0]["values"][0]))
    table: dict[str, list[object]] = {"player": [summary["players"][i] for i in shown]}
    for each in criteria:
        halves = NORMAL * np.asarray(each["stderr"][0])[shown] if each["stderr"] else None
        table[each["label"]] = with_errors(np.asarray(each["values"][0])[shown], halves)
    return text_table(table, ["", *_notes(summary)]) + "\n"


def _notes(summary: dict[str, Any]) -> list[str]:
    about = summary["about"]
    facts = [evaluated(about["evaluations"]), f"{number(about['seconds'], 3)} s"]
    if about["temperature"]:
        temperature = " to ".join(number(t) for t in about["temperature"])
        facts.insert(0, f"temperature {temperature}")
    errors = [
        f"decoupling error: {each['label']} {number(each['decoupling_error'][0])}"
        for each in summary["criteria"]
        if each["decoupling_error"] is not None
    ]
    return [
        *not_shown(len(summary["players"])),
        *([HALF_INTERVAL] if any(each["stderr"] for each in summary["criteria"]) else []),
        f"{about['game']}, {', '.join(about['methods'])}",
        ", ".join(facts),
        *errors,
        *(f"{each['label']}: {each['stop']}" for each in summary["criteria"]),
        *(f"warning: {warning}" for warning in summary["warnings"]),
    ]
