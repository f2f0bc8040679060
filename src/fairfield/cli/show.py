"""What was found: a table in the terminal, and files."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.options import Asked
from fairfield.cli.sentences import say
from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.criteria.annealing import annealing
from fairfield.criteria.compare import compared
from fairfield.criteria.criterion import call_of
from fairfield.criteria.interactions.interactions import interactions
from fairfield.curves import removal_curve
from fairfield.learning import ScoreTable
from fairfield.problem import Problem, resolve
from fairfield.report import report
from fairfield.report.summarise import label_of, summarise
from fairfield.results.comparison import Comparison, Interactions
from fairfield.results.display import HALF_INTERVAL, evaluated, not_shown, number, rows_to_show
from fairfield.results.valuation import NORMAL

# A path of comparisons and a matrix of pairs are worth their time up to so many players.
MOST_PATHS, MOST_PAIRS = 2000, 60


def value(
    game: Game,
    options: Asked,
    *,
    curves: bool = False,
    start: FloatArray | None = None,
    pairs: Interactions | None = None,
    scores: ScoreTable | None = None,
) -> Comparison:
    """Value the players as wished, show the table and write the files.

    The worths are evaluated once, for the table and for everything in the report. ``start``
    is where the index begins; ``pairs`` and ``scores`` are written down with the values.
    """
    known: dict[str, Any] = {"interactions": pairs, "scores": scores}
    with options.workers():
        started = time.perf_counter()
        problem = resolve(game, None, options.temperature_of_game(), options.keywords())  # type: ignore[arg-type]  # checked by Options
        begun: dict[str, Any] = {} if start is None else {"start": start}
        calls = [
            call_of(name, **(begun if name == "variational_index" else {}))
            for name in options.criteria()
        ]
        if not problem.estimated:
            problem.source.check()
            problem.played()
        spent = time.perf_counter() - started
        found = compared(calls, problem)
        # The worths were evaluated for all criteria; none was found without them.
        found = replace(
            found,
            valuations={k: replace(v, seconds=v.seconds + spent) for k, v in found.items()},
        )
        if not options.quiet:
            print_table(found)
        for path in (options.csv, options.json):
            if path is not None:
                _told(report(found, path, **known), options)
        if options.report is not None:
            parts = _extras(problem, found, curves)
            given = {name: each for name, each in known.items() if each is not None}
            _told(report(found, options.report, **{**parts, **given}), options)
    return found


def _extras(problem: Problem, found: Comparison, curves: bool) -> dict[str, Any]:
    """What a page shows besides values: the path of temperatures, pairs, curves."""
    count = len(problem.game.players)
    exact = all(v.stderr is None for v in found.values())
    parts: dict[str, Any] = {}
    if exact and count <= MOST_PATHS:
        parts["annealing"] = annealing(problem.played(), criteria=list(found))
    if exact and 2 <= count <= MOST_PAIRS:
        parts["interactions"] = interactions(problem.played(), "shapley")
    if curves:
        # A table or a closed form has all worths; the store is for those still to be evaluated.
        store = problem.options.store if problem.estimated else None
        parts["curves"] = [
            removal_curve(problem.played(), v, n_jobs=problem.options.n_jobs, store=store)
            for v in found.values()
        ]
    return parts


def _told(path: Path, options: Asked) -> None:
    if not options.quiet:
        say(f"wrote {path}")


def print_table(found: Comparison) -> None:
    """The first players by the first criterion, the others beside it, and how it was found."""
    summary = summarise(found)
    criteria = summary["criteria"]
    table = Table(box=None, pad_edge=False)
    table.add_column("player", overflow="fold")
    for each in criteria:
        table.add_column(each["label"], justify="right", no_wrap=True)
        if each["stderr"]:
            table.add_column("±", justify="right", no_wrap=True)
    digits = {each["name"]: _decimals(each["values"][0]) for each in criteria}
    for i in rows_to_show(np.asarray(criteria[0]["values"][0])):
        cells = [Text(summary["players"][i])]
        for each in criteria:
            held = each["values"][0][i]
            cells.append(Text(f"{held:.{digits[each['name']]}f}", style="red" if held < 0 else ""))
            if each["stderr"]:
                cells.append(Text(number(NORMAL * each["stderr"][0][i], 2), style="dim"))
        table.add_row(*cells)
    console = Console(highlight=False)
    console.print(Text(summary["title"], style="bold"))
    console.print(table)
    for line in _notes(summary):
        console.print(Text(line, style="dim"))
    for caveat in _caveats(found, summary["warnings"]):
        console.print(Text(caveat))
    for warning in summary["warnings"]:
        console.print(Text(f"warning: {warning}", style="yellow"))
    console.print()


def _caveats(found: Comparison, warnings: list[str]) -> list[str]:
    """Why the criteria stopped that are not simply exact, unless a warning says so already."""
    return [
        f"{label_of(name)}: {sentence}"
        for name, sentence in found.caveats.items()
        if not any(sentence in warning for warning in warnings)
    ]


def print_plain(table: str) -> None:
    """A table that is text already, as it is, and an empty line."""
    Console(highlight=False, markup=False, soft_wrap=True).print(f"{table}\n")


def _decimals(column: list[float]) -> int:
    """Decimals that show four digits of the largest number."""
    top = max(map(abs, column))
    return int(np.clip(3 - np.floor(np.log10(top)), 0, 12)) if top > 0 else 0


def _notes(summary: dict[str, Any]) -> list[str]:
    about = summary["about"]
    facts = [
        *about["methods"],
        evaluated(about["evaluations"]),
        f"{number(about['seconds'], 3)} s",
    ]
    if about["temperature"]:
        facts.append(
            "temperature "
            + " to ".join(number(temperature) for temperature in about["temperature"])
        )
    errors = [
        f"{each['label']} {number(each['decoupling_error'][0])}"
        for each in summary["criteria"]
        if each["decoupling_error"]
    ]
    return [
        *not_shown(len(summary["players"])),
        *([HALF_INTERVAL] if any(each["stderr"] for each in summary["criteria"]) else []),
        *([f"mean of {about['games']:,} rows"] if about["games"] > 1 else []),
        ", ".join(facts),
        *([f"decoupling error: {', '.join(errors)}"] if errors else []),
    ]
