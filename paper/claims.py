"""What an experiment finds: claims of the paper beside our numbers, tables and figures."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Verdicts: what is said holds here; it does not hold here; it cannot hold, or is not what was done,
# with the evidence beside it; this run was too small to tell, or was not made.
REPRODUCED, DIFFERS, WRONG, OPEN = "reproduced", "differs", "wrong", "open"
VERDICTS = (REPRODUCED, DIFFERS, WRONG, OPEN)
# Who says it: the text, or what the authors' program does without the text saying so.
PAPER, CODE = "the paper", "its released code"


def holds(evidence: bool | None, otherwise: str = DIFFERS) -> str:
    """The verdict on what the evidence confirms, refutes, or (None) leaves open.

    >>> holds(True), holds(False), holds(False, WRONG), holds(None)
    ('reproduced', 'differs', 'wrong', 'open')
    """
    return OPEN if evidence is None else REPRODUCED if evidence else otherwise


@dataclass(frozen=True)
class Claim:
    """One statement: where it stands, its number, ours in a few words, the verdict, the details.

    ``verdict`` is computed from the evidence (:func:`holds`), never written down.
    """

    where: str
    says: str
    paper: str
    ours: str
    verdict: str
    why: str = ""
    of: str = PAPER

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"there is no verdict {self.verdict!r}; choose from {VERDICTS}")


@dataclass(frozen=True)
class Table:
    """Rows of numbers for a CSV file; with a title they are on the page as well."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    title: str = ""


@dataclass(frozen=True)
class Finding:
    """An experiment's answer: the sizes it was run at, its claims, tables and figures.

    ``figures`` map a caption's key to the figure; ``captions`` hold what is said below it.
    """

    name: str
    title: str
    sizes: str
    claims: Sequence[Claim]
    tables: Mapping[str, Table] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)


def keep(finding: Finding, folder: Path, made: str = "") -> list[Path]:
    """Write CSV files, figures and, for the page, the claims: their paths.

    ``made`` says how: versions, sizes, seeds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in finding.tables.items():
        paths.append(folder / f"{name}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(table.head)
            lines.writerows(table.rows)
    for name, figure in finding.figures.items():
        paths.append(folder / f"{name}.svg")
        save_figure(figure, paths[-1])
    text = json.dumps({**_plain(finding), "made": made}, indent=1, ensure_ascii=False)
    paths.append(folder / f"{finding.name}.json")
    paths[-1].write_text(text, encoding="utf-8")
    return paths


def save_figure(figure: Figure, path: Path) -> None:
    """A picture that is the same file whenever it is drawn again, its words as text."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "paper"}), StringIO() as drawn:
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        # A hundredth of a point is less than can be seen, and a third of the file.
        short = re.sub(
            r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), drawn.getvalue()
        )
        path.write_text(short, encoding="utf-8")


def _plain(finding: Finding) -> dict[str, Any]:
    """What the page needs: figures by their names, tables by theirs or, with a title, whole."""
    held = asdict(replace(finding, tables={}, figures={}))
    shown = [
        {
            "title": each.title,
            "head": each.head,
            "rows": [[_text(c) for c in row] for row in each.rows],
        }
        for each in finding.tables.values()
        if each.title
    ]
    return {
        **held, "tables": list(finding.tables), "shown": shown, "figures": list(finding.figures)
    }  # fmt: skip


def _text(cell: Any) -> str:
    """A cell as it is read: few digits."""
    return f"{cell:.4g}" if isinstance(cell, float | np.floating) else str(cell)


def spread(values: ArrayLike, digits: int = 3) -> str:
    """The mean of some numbers and their range.

    >>> spread([1.0, 2.0, 6.0])
    '3 (1 to 6)'
    """
    given = np.asarray(values, dtype=float)
    low, high = (f"{each:.{digits}g}" for each in (given.min(), given.max()))
    if low == high:
        return low
    return f"{given.mean():.{digits}g} ({low} to {high})"


def share(won: ArrayLike) -> str:
    """In how many of the cases something holds.

    >>> share([True, True, False])
    '2 of 3'
    """
    held = np.asarray(won, dtype=bool)
    return f"{int(held.sum())} of {held.size}"
