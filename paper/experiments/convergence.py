"""The paper's table of convergence: what its numbers are, and how fast Alg. 1 settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import Finding, Table
from paper.readings import HEADER, NORM, READINGS, factor, read
from paper.registry import experiment
from paper.run import Run
from paper.splits import PROBLEMS
from paper.valued import Valued, all_splits
from paper.verdicts import convergence as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "convergence",
    "The table of convergence, and how fast Alg. 1 settles.",
    place=6,
    long=True,
    problems=tuple(judge.PRINTED),
)
def find(run: Run) -> Finding:
    """Both readings of the table's lines for data; those for features are with the features."""
    found = {name: all_splits(PROBLEMS[name], run) for name in run.chosen(judge.PRINTED)}
    lines = {name: _line(name, each) for name, each in found.items()}
    every = [v for each in found.values() for v in each]
    whole = [v for v in every if len(v.chance) == v.problem.players + 1]
    return Finding(
        "convergence",
        "Convergence of Alg. 1",
        "the worths of the data valuation: "
        + "; ".join(f"{PROBLEMS[name].title}, {len(each)} splits" for name, each in found.items()),
        [
            *(judge.line(PROBLEMS[name].title, name, *each) for name, each in lines.items()),
            judge.header({name: each[1:3] for name, each in lines.items()}, _any_theirs(every)),
            judge.steps([_settled(v) for v in whole or every], whole=bool(whole)),
            judge.cost([_settled(v) for v in whole or every], [len(v.chance) - 1 for v in whole or every], whole=bool(whole)),
        ],
        {"convergence": _table(found)},
        {"convergence": draw(found)},
        {
            "convergence": "Table 1: ‖x^k − x^(k−1)‖/n over the iterations, counted from 0: our splits in "
            "grey, the authors' in blue where it is at hand, the paper's printed numbers as crosses."
        },
    )  # fmt: skip


def _line(name: str, found: tuple[Valued, ...]) -> tuple[FloatArray, float, float, bool]:
    """The line as ‖Δx‖/n, its factors from the printed one by header and by norm, and whose it is."""
    theirs = [v for v in found if v.is_papers]
    shown = theirs or list(found)
    header, norm = (
        np.array(
            [factor(read(v.moved, len(v.chance) - 1, way), judge.PRINTED[name]) for v in shown]
        )
        for way in (HEADER, NORM)
    )
    nearest = shown[int(norm.argmin())]
    line = read(nearest.moved, len(nearest.chance) - 1, NORM)
    return line, float(header.min()), float(norm.min()), bool(theirs)


def _any_theirs(found: list[Valued]) -> bool:
    return any(v.is_papers for v in found)


def _settled(v: Valued) -> int:
    """How many steps until Alg. 1 settles."""
    below = v.moved < judge.SETTLED
    return int(np.argmax(below)) + 1 if below.any() else len(v.moved) + 1


def _table(found: dict[str, tuple[Valued, ...]]) -> Table:
    head = ("problem", "split", "reading", "1", "2", "3", "5", "9", "10")
    rows: list[tuple[object, ...]] = [
        (name, "printed in the paper", "", *line)
        for name, line in judge.PRINTED.items()
        if name in found
    ]
    rows += [
        (name, v.split, reading, *read(v.moved, len(v.chance) - 1, reading))
        for name, each in found.items()
        for v in each
        for reading in READINGS
    ]
    return Table(head, rows)


def draw(found: dict[str, tuple[Valued, ...]]) -> Figure:
    """Steps of every split, and the printed numbers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    axes = figure.subplots(1, len(found), squeeze=False)[0]
    for ax, (name, each) in zip(axes, found.items(), strict=True):
        for v in each:
            moved = np.sqrt(v.moved / (len(v.chance) - 1))
            colour, width = ("#0072B2", 2.0) if v.is_papers else ("#9a9a9a", 0.9)
            ax.semilogy(np.maximum(moved, 1e-18), color=colour, linewidth=width,
                        zorder=2 if v.is_papers else 1)  # fmt: skip
        printed = np.maximum(judge.PRINTED[name], 1e-18)
        ax.semilogy(READINGS[NORM][0], printed, "x", color="#D55E00", markersize=9, zorder=3,
                    label="printed")  # fmt: skip
        ax.set_title(f"{PROBLEMS[name].title}, T = {PROBLEMS[name].temperature}", fontsize=10)
        ax.set(xlabel="iteration, from 0", ylabel="‖Δx‖/n")
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
