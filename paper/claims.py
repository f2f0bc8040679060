"""What an experiment finds: claims of the paper beside our numbers, tables and figures."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Verdicts: what the paper says holds here; it does not hold here; it cannot hold, or is not what
# was done, with the evidence beside it; this run was too small to tell, or was not made.
REPRODUCED, DIFFERS, WRONG, OPEN = "reproduced", "differs", "wrong", "open"
VERDICTS = (REPRODUCED, DIFFERS, WRONG, OPEN)


@dataclass(frozen=True)
class Claim:
    """One statement of the paper: where it stands, its number, ours, the verdict and why."""

    where: str
    says: str
    paper: str
    ours: str
    verdict: str
    why: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"there is no verdict {self.verdict!r}; choose from {VERDICTS}")


@dataclass(frozen=True)
class Table:
    """Rows of numbers for a CSV file."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


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


def keep(finding: Finding, folder: Path) -> list[Path]:
    """Write CSV files, figures and, for the page, the claims: their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in finding.tables.items():
        paths.append(folder / f"{name}.csv")
        with paths[-1].open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(table.head)
            lines.writerows(table.rows)
    for name, figure in finding.figures.items():
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=100)
    text = json.dumps(_plain(finding), indent=1, ensure_ascii=False)
    paths.append(folder / f"{finding.name}.json")
    paths[-1].write_text(text, encoding="utf-8")
    return paths


def _plain(finding: Finding) -> dict[str, Any]:
    """What the page needs: figures and tables by their names."""
    held = asdict(replace(finding, tables={}, figures={}))
    return {**held, "tables": list(finding.tables), "figures": list(finding.figures)}


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
