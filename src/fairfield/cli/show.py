"""Values as a table in the terminal, and as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.messages import say
from fairfield.cli.options import ValuationOptions
from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.criteria.annealing import annealing
from fairfield.criteria.compare import compared
from fairfield.criteria.criterion import call_of
from fairfield.criteria.interactions.interactions import interactions
from fairfield.curves import Curve, removal_curve
from fairfield.learning import ScoreTable
from fairfield.multilinear.choose import table_refused
from fairfield.problem import Problem, resolve
from fairfield.reports import report
from fairfield.reports.plain import first_players, half_widths
from fairfield.reports.summarise import summarise
from fairfield.results.comparison import Comparison
from fairfield.results.display import number
from fairfield.results.interactions import Interactions

# A path of comparisons and a matrix of pairs are worth their time up to so many players.
MOST_PATHS, MOST_PAIRS = 2000, 60


def value(
    game: Game,
    options: ValuationOptions,
    *,
    curves: bool = False,
    start: FloatArray | None = None,
    pairs: Interactions | None = None,
    scores: ScoreTable | None = None,
) -> Comparison:
    """The values by the criteria of the options, shown as a table and written to files.

    The worths are evaluated once, for the table and for everything in the report. ``start``
    is where the index begins; ``pairs`` and ``scores`` are written down with the values.
    """
    known: dict[str, Any] = {"interactions": pairs, "scores": scores}
    begun: dict[str, Any] = {} if start is None else {"start": start}
    calls = [
        call_of(name, **(begun if name == "variational_index" else {}))
        for name in options.criteria()
    ]
    with options.workers():
        problem = _problem(game, options)
        found = compared(calls, problem)
        if not options.quiet:
            print_table(found)
        for path in (options.csv, options.json):
            if path is not None:
                _say_written(report(found, path, **known), options)
        if options.report is not None:
            parts = _extras(problem, found, curves)
            given = {name: each for name, each in known.items() if each is not None}
            _say_written(report(found, options.report, **{**parts, **given}), options)
    return found


def _problem(game: Game, options: ValuationOptions) -> Problem:
    """The problem that is shared by the table and the report, so that worths are evaluated once."""
    problem = resolve(game, None, options.parsed_temperature(), options.keywords())  # type: ignore[arg-type]  # checked by Options
    alone = options.criteria() == ["leave_one_out"] and options.temperature is None
    if alone and not problem.source.evaluated and table_refused(game, problem.options):
        return problem.at(None)  # only a temperature would need more than n + 2 worths
    return problem


def _extras(problem: Problem, found: Comparison, curves: bool) -> dict[str, Any]:
    """What a page shows besides values: the path of temperatures, pairs, curves."""
    count = len(problem.game.players)
    exact = problem.source.evaluated and all(v.stderr is None for v in found.values())
    parts: dict[str, Any] = {}
    if exact and count <= MOST_PATHS:
        parts["annealing"] = annealing(problem.played(), criteria=list(found))
    if exact and 2 <= count <= MOST_PAIRS:
        parts["interactions"] = interactions(problem.played(), "shapley")
    if curves:
        parts["curves"] = _curves(problem, found)
    return parts


def _curves(problem: Problem, found: Comparison) -> list[Curve]:
    """The removal curve of each criterion, from the table of worths where there is one."""
    evaluated, options = problem.source.evaluated, problem.options
    game = problem.played() if evaluated else problem.game
    # A table or a closed form has all worths; the store is for those still to be evaluated.
    store = None if evaluated else options.store
    return [removal_curve(game, v, n_jobs=options.n_jobs, store=store) for v in found.values()]


def _say_written(path: Path, options: ValuationOptions) -> None:
    if not options.quiet:
        say(f"wrote {path}")


def print_table(found: Comparison) -> None:
    """The first players by the first criterion, the others beside it, and how they were found."""
    summary = summarise(found)
    criteria = summary["criteria"]
    halves = [half_widths(each, summary) for each in criteria]
    decimals = [_decimals(each["values"][0]) for each in criteria]
    table = Table(box=None, pad_edge=False)
    table.add_column(summary["words"]["player"], overflow="fold")
    for each, half in zip(criteria, halves, strict=True):
        table.add_column(each["label"], justify="right", no_wrap=True)
        if half is not None:
            table.add_column("±", justify="right", no_wrap=True)
    for i in first_players(summary):
        cells = [Text(summary["players"][i])]
        for each, half, digits in zip(criteria, halves, decimals, strict=True):
            held = each["values"][0][i]
            cells.append(Text(f"{held:.{digits}f}", style="red" if held < 0 else ""))
            if half is not None:
                cells.append(Text(number(half[i], 2), style="dim"))
        table.add_row(*cells)
    console = Console(highlight=False)
    console.print(Text(summary["title"], style="bold"))
    console.print(table)
    for line in summary["notes"]:
        console.print(Text(line, style="dim"))
    for each in criteria:
        if each["caveat"] is not None:
            console.print(Text(f"{each['label']}: {each['caveat']}"))
    for warning in summary["warnings"]:
        console.print(Text(f"warning: {warning}", style="yellow"))
    console.print()


def print_plain(table: str) -> None:
    """A table that is text already, as it is, and an empty line."""
    Console(highlight=False, markup=False, soft_wrap=True).print(f"{table}\n")


def _decimals(column: list[float]) -> int:
    """Decimals that show four digits of the largest number."""
    top = max(map(abs, column))
    return int(np.clip(3 - np.floor(np.log10(top)), 0, 12)) if top > 0 else 0
