"""The tables of valuations and comparisons, and the notes below them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.results.display import (
    HALF_INTERVAL,
    Columns,
    evaluated,
    not_shown,
    number,
    rows_to_show,
    with_errors,
)

if TYPE_CHECKING:
    from fairfield.results.comparison import Comparison
    from fairfield.results.valuation import Valuation

# Named games of a batch have columns of their own, up to so many over all criteria.
MOST_COLUMNS = 12


def valuation_table(v: Valuation) -> tuple[Columns, list[str]]:
    """The most valuable players; of a batch, values by the name of each game, or means."""
    half, beside = v.half_widths, v.side_by_side
    if beside is not None:
        order = rows_to_show(np.abs(list(beside.values())).max(axis=0))
        columns, half = dict(beside), None
    elif v.batch:
        means = v.mean()
        magnitude = means.magnitude.mean(axis=0)
        order = rows_to_show(magnitude)
        # The values of different outputs have no mean, and often cancel.
        columns = {} if v.outputs else {v.words.with_unit("mean value"): means.mean[0]}
        columns["mean |value|"] = magnitude
    else:
        order = rows_to_show(v.values)
        columns = {v.words.with_unit("value"): v.values}
    if half is not None:
        columns["±"] = half
    if not v.batch and v.marginals is not None:
        columns["marginal"] = v.marginals
    table: Columns = {v.words.noun: [v.players[i] for i in order]}
    table |= {name: list(column[order]) for name, column in columns.items()}
    notes = _valuation_notes(v, errors=half is not None)
    return table, [*_outputs_note(v, apart=beside is not None), *notes]


def _valuation_notes(v: Valuation, *, errors: bool) -> list[str]:
    facts = {
        "temperature": v.temperature,
        "decoupling error": v.decoupling_error,
        "±": v.log_z_half_width,
        "steps": v.steps,
    }
    counts = [f"{name} {number(held)}" for name, held in facts.items() if held is not None]
    which = f"{v.labels[0]!r} in " if v.labels and not v.batch else ""
    return [
        *not_shown(len(v.players), v.words.nouns),
        *([HALF_INTERVAL] if errors else []),
        f"{v.criterion} of {which}{v.game}, {v.method}",
        ", ".join([*([] if v.batch else counts), evaluated(v.evaluations)]),
        v.stop,
        *([v.words.note] if v.words.note else []),
    ]


def _outputs_note(v: Valuation, *, apart: bool) -> list[str]:
    """What is shown of several outputs, each ``apart`` or all together, unless that is values."""
    if v.outputs is None or (apart and v.games == len(v.outputs)):
        return []
    if apart:
        return [f"mean |value| of each {v.words.output_noun} over {v[..., 0].extent}"]
    return [f"mean |value| over {v.extent}"]


def comparison_table(found: Comparison) -> tuple[Columns, list[str]]:
    """The most valuable players by the first criterion, with a column for each criterion."""
    first = found.first
    columns: dict[str, tuple[FloatArray, FloatArray | None]]
    beside = first.side_by_side
    apart = beside is not None and len(found) * len(beside) <= MOST_COLUMNS
    if beside is not None and apart:
        order = rows_to_show(np.abs(list(beside.values())).max(axis=0))
        columns = {
            f"{name}, {label}": (row, v[..., i].half_widths)
            for name, v in found.items()
            for i, (label, row) in enumerate((v.side_by_side or {}).items())
        }
    elif first.outputs is not None:
        sizes = {name: v.mean().magnitude.mean(axis=0) for name, v in found.items()}
        order = rows_to_show(next(iter(sizes.values())))
        columns = {f"mean |{name}|": (sizes[name], v.half_widths) for name, v in found.items()}
    elif first.batch:
        order = rows_to_show(first.mean().magnitude[0])
        columns = {f"mean {name}": (v.mean().mean[0], v.half_widths) for name, v in found.items()}
    else:
        order = rows_to_show(first.values)
        columns = {name: (v.values, v.half_widths) for name, v in found.items()}
    table: Columns = {first.words.noun: [first.players[i] for i in order]}
    for name, (values, half) in columns.items():
        table[name] = with_errors(values[order], None if half is None else half[order])
    return table, [*_outputs_note(first, apart=apart), *comparison_notes(found)]


def comparison_notes(
    found: Comparison, label: Callable[[str], str] = str, *, in_report: bool = False
) -> list[str]:
    """The lines below the table of a comparison, criteria named by ``label``.

    A report has the game as its title, shows the mean of a batch, gives the time, and lists
    apart why criteria stopped.
    """
    first, words = found.first, found.first.words
    rows = int(np.prod(first.lead, dtype=int))
    temperatures = " to ".join(map(number, found.temperatures))
    facts = [
        *dict.fromkeys(v.method for v in found.values()),
        *([f"temperature {temperatures}"] if temperatures else []),
        evaluated(found.evaluations),
        *([f"{number(found.seconds, 3)} s"] if in_report else []),
    ]
    errors = [
        f"{label(name)} {number(float(np.mean(v.decoupling_error)))}"
        for name, v in found.items()
        if v.decoupling_error is not None
    ]
    kind = "mean decoupling error" if first.batch else "decoupling error"
    caveats = {} if in_report else found.caveats
    return [
        *not_shown(len(first.players), words.nouns),
        *([HALF_INTERVAL] if any(v.stderr is not None for v in found.values()) else []),
        *([f"mean of {words.games(rows)}"] if in_report and rows > 1 else []),
        *([] if in_report else [first.game]),
        *([f"unit of the values: {words.unit}"] if words.unit else []),
        ", ".join(facts),
        *([f"{kind}: {', '.join(errors)}"] if errors else []),
        *(f"{label(name)}: {sentence}" for name, sentence in caveats.items()),
        *([found.calls] if found.calls and not in_report else []),
        *([words.note] if words.note else []),
    ]
