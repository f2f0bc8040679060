"""Values as a table in the terminal, and as files."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairfield.cli.messages import INTERRUPTED as EXIT_INTERRUPTED
from fairfield.cli.messages import say
from fairfield.cli.options import ValuationOptions
from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.core.writing.terminal import shown
from fairfield.criteria.annealing import annealing
from fairfield.criteria.calls.compare import compare_with_worths
from fairfield.criteria.interactions.interactions import interactions
from fairfield.criteria.variational_index import variational_index
from fairfield.curves import removal_curve
from fairfield.evaluation.outcomes import INTERRUPTED, WorthError
from fairfield.learning import ScoreTable
from fairfield.reports import report
from fairfield.reports.plain import outputs_left_out, table_of_values
from fairfield.reports.summarise import summarise
from fairfield.results.comparison import Comparison
from fairfield.results.interactions import Interactions

# A path of comparisons and a matrix of pairs are worth their time up to so many players.
MOST_PATHS, MOST_PAIRS = 2000, 60
# Letters of a name that a narrow terminal keeps on one line.
NAME = 16


def value(
    game: Game,
    options: ValuationOptions,
    *,
    curves: bool = False,
    start: FloatArray | None = None,
    pairs: Interactions | None = None,
    scores: ScoreTable | None = None,
) -> None:
    """Show the values by the criteria of the options as a table, and write them to files.

    The worths are evaluated once, for the table and for everything in the report. ``start``
    is where the index begins; ``pairs`` and ``scores`` are written down with the values.
    """
    given = {"interactions": pairs, "scores": scores}
    known = {name: each for name, each in given.items() if each is not None}
    index = "variational_index" if start is None else partial(variational_index, start=start)
    criteria = [index if name == "variational_index" else name for name in options.criteria()]
    with options.workers():
        try:
            found, evaluated = compare_with_worths(
                game,
                criteria=criteria,
                temperature=options.parsed_temperature(),
                **options.keywords(),
            )
        except (WorthError, KeyboardInterrupt) as error:
            partly = getattr(error, "partial", None)
            if partly is not None and not options.quiet:
                print_table(partly)
            raise
        for path in filter(None, (options.csv, options.json, options.report)):
            extras = (
                _extras(game, evaluated, found, options, curves) if path is options.report else {}
            )
            report(found, path, **(extras | known))
            if not options.quiet:
                say(f"wrote {path}")
    # Last, since whoever reads the table may have gone.
    if not options.quiet:
        if scores is not None:
            print_text(f"{scores!r}\n")
        print_table(found)
        sys.stdout.flush()
    if any(np.strings.startswith(each.stops, INTERRUPTED).any() for each in found.values()):
        say("interrupted; these values rest on the worths that were found until then")
        raise typer.Exit(EXIT_INTERRUPTED)


def _extras(
    game: Game,
    evaluated: Game | None,
    found: Comparison,
    options: ValuationOptions,
    curves: bool,
) -> dict[str, Any]:
    """What a page shows besides values: the path of temperatures, pairs, curves."""
    count = len(game.players)
    exact = evaluated is not None and not evaluated.traits.noisy
    parts: dict[str, Any] = {}
    if exact and count <= MOST_PATHS:
        parts["annealing"] = annealing(evaluated, criteria=list(found))
    if exact and 2 <= count <= MOST_PAIRS:
        parts["interactions"] = interactions(evaluated, "shapley")
    if curves:
        given = {k: v for k, v in options.keywords().items() if k in ("n_jobs", "store")}
        if evaluated is not None:  # the store is for worths that are still to be evaluated
            game, given["store"] = evaluated, None
        parts["curves"] = [removal_curve(game, v, **given) for v in found.values()]
    return parts


def print_table(found: Comparison) -> None:
    """The first players by the first criterion, the others beside it, and how they were found."""
    summary = summarise(found)
    (name, players), *columns = table_of_values(summary).items()
    table = Table(box=None, pad_edge=False)
    table.add_column(_text(name), overflow="fold", min_width=min(NAME, max(map(len, players))))
    for label, cells in columns:
        width = max(map(len, cells))
        table.add_column(_text(label), justify="right", overflow="fold", min_width=width)
    for player, *cells in zip(players, *(cells for _, cells in columns), strict=True):
        signed = (_text(cell, "red" if cell.startswith("-") else "") for cell in cells)
        table.add_row(_text(player), *signed)
    console = Console(highlight=False)
    console.print(_text(summary["title"], "bold"))
    # A terminal too narrow for the columns wraps their lines, where rich would leave some empty.
    needed = sum(each.min_width or 0 for each in table.columns) + len(table.columns)
    console.print(table, width=max(console.width, needed), no_wrap=True, crop=False)
    for line in [*outputs_left_out(summary), *summary["notes"]]:
        console.print(_text(line, "dim"))
    for each in summary["criteria"]:
        if each["caveat"] is not None:
            console.print(_text(f"{each['label']}: {each['caveat']}"))
    for warning in summary["warnings"]:
        console.print(_text(f"warning: {warning}", "yellow"))
    console.print()


def _text(text: str, style: str = "") -> Text:
    """Text that is neither markup nor a command to the terminal."""
    return Text(shown(text), style=style)


def print_text(text: str, style: str = "") -> None:
    """Print lines as they are, neither wrapped nor read as markup."""
    for line in text.split("\n"):
        Console(highlight=False, soft_wrap=True).print(_text(line, style))
