"""``fairfield game``: any game, from a table of the worths of its coalitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from fairfield.cli.messages import InputError
from fairfield.cli.options import EvaluationOptions
from fairfield.cli.registry import command
from fairfield.cli.show import value
from fairfield.cli.tables import Delimiter, column, place, read_table
from fairfield.games.given.table import TableGame

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES = """
**Examples**

`fairfield game worths.csv --criterion shapley`

with worths.csv naming all 2^n coalitions, the empty one by an empty cell:

`coalition,worth` / `,0` / `ann,1` / `bob,2` / `ann+bob,5`
"""
SEPARATORS = ("+", ";", "|", "&", ",", " ")
WORTHS = "A table with the columns coalition and worth."
SEPARATOR = (
    "What separates the players of a coalition.  [default: the first found of + ; | & , and blank]"
)


@command(EXAMPLES)
def game(
    worths: Annotated[Path, Argument(help=WORTHS, metavar="WORTHS.csv")],
    options: EvaluationOptions,
    separator: Annotated[str | None, Option(help=SEPARATOR)] = None,
    delimiter: Delimiter = None,
) -> None:
    """The players of a game whose coalitions and their worths are listed."""
    table = read_table(worths, delimiter=delimiter, as_text=True)
    value(_table_game(table, worths, separator, delimiter), options)


def _table_game(
    table: pd.DataFrame, path: Path, separator: str | None, delimiter: str | None
) -> TableGame:
    coalitions = ["" if cell is None else str(cell) for cell in column(table, "coalition", path)]
    numbers: list[float] = []
    for row, cell in enumerate(column(table, "worth", path)):
        try:
            numbers.append(float(cell))
        except (TypeError, ValueError):
            raise InputError(
                f"the worth in {place(path, row, delimiter)} is {cell!r}; a number is needed"
            ) from None
    mark = separator or next((s for s in SEPARATORS if any(s in c for c in coalitions)), "+")
    named: dict[tuple[str, ...], float] = {}
    for row, (text, worth) in enumerate(zip(coalitions, numbers, strict=True)):
        members = tuple(sorted(name.strip() for name in text.split(mark) if name.strip()))
        if members in named:
            raise InputError(
                f"{place(path, row, delimiter)} names the coalition {text!r} a second time"
            )
        named[members] = worth
    return TableGame.from_mapping(named)
