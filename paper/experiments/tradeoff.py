"""The paper's tradeoff: decoupling error and spread of values over steps K and temperature T."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import fairfield as ff
from fairfield.core.coalitions import enumerate_coalitions
from paper.claims import Finding, Table
from paper.experiments.flid import flid_game
from paper.registry import experiment
from paper.run import Run
from paper.splits import PROBLEMS
from paper.valued import all_splits
from paper.verdicts import tradeoff as judge
from paper.verdicts.tradeoff import STEPS, TEMPERATURES, Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAMES = ("breast_cancer", "digits2")


def grid(game: ff.TableGame, title: str) -> Grid:
    """All K and T of one game."""
    columns: list[list[tuple[float, ...]]] = []
    best = []
    for temperature in TEMPERATURES:
        law = ff.Boltzmann(game, temperature)
        index = ff.variational_index(game, temperature=temperature)
        assert index.marginals is not None
        error = float(np.asarray(index.decoupling_error))
        best.append((error, index.values.std(), index.marginals.std()))
        line = []
        for steps in range(1, STEPS + 1):
            found = ff.variational_values(game, steps, temperature=temperature, decoupling=False)
            assert found.marginals is not None
            away = float(np.abs(found.values - index.values).max())
            far = float(np.asarray(law.decoupling_error(found)))
            criterion = partial(
                ff.variational_values, steps=steps, temperature=temperature, decoupling=False
            )
            lost = float(ff.axioms.additivity(criterion, game).violation)
            spreads = float(found.values.std()), float(found.marginals.std())
            line.append((far, *spreads, away, lost))
        columns.append(line)
    held = np.array(columns)
    spread = float(ff.banzhaf(game).values.std())
    return Grid(title, *np.moveaxis(held, -1, 0), best=np.array(best), banzhaf=spread)


@experiment(
    "tradeoff",
    "Decoupling error and spread of values over steps and temperatures.",
    place=7,
    long=True,
    problems=GAMES,
)
def find(run: Run) -> Finding:
    """The tradeoff on the paper's games: breast cancer, digits, and one FLID game."""
    grids = []
    for name in GAMES:
        if name not in run.chosen(PROBLEMS):
            continue
        first = all_splits(PROBLEMS[name], run)[0]
        whose = "authors' split" if first.is_papers else "our first split"
        grids.append(grid(ff.TableGame(first.table), f"{first.problem.title} ({whose})"))
    flid = flid_game(8, 8, run.seed).worths(enumerate_coalitions(8))
    grids.append(grid(ff.TableGame(flid), "FLID, n = 8, D = 8"))
    return Finding(
        "tradeoff",
        "Decoupling and fairness",
        f"K = 1 to {STEPS}, T = {', '.join(map(str, TEMPERATURES))}: "
        + "; ".join(each.title for each in grids),
        [judge.flatter(grids), judge.closer(grids), judge.two_sided(grids)],
        {"tradeoff": _table(grids)},
        {"tradeoff": draw(grids)},
        {
            "tradeoff": "Decoupling error (above) and standard deviation of the values (below) over "
            "the steps of Alg. 1, one line for each temperature; dotted: the variational index."
        },
    )


def _table(grids: list[Grid]) -> Table:
    head = ("game", "T", "K", "decoupling error", "sd of values", "sd of marginals",
            "largest distance from the index", "violation of additivity")  # fmt: skip
    rows: list[tuple[object, ...]] = []
    for each in grids:
        for t, temperature in enumerate(TEMPERATURES):
            for k in range(STEPS):
                cells = (each.errors, each.values, each.marginals, each.apart, each.additivity)
                rows.append((each.title, temperature, k + 1, *(c[t, k] for c in cells)))
            rows.append((each.title, temperature, "index", *each.best[t], 0.0, ""))
    return Table(head, rows)


def draw(grids: list[Grid]) -> Figure:
    """Error and spread over K, a line for each T."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import MARKERS, SERIES

    figure = Figure(figsize=(3.8 * len(grids), 5.4), layout="constrained")
    axes = figure.subplots(2, len(grids))
    steps = np.arange(1, STEPS + 1)
    for column, each in enumerate(grids):
        for row, (found, what) in enumerate(((each.errors, 0), (each.values, 1))):
            ax = axes[row, column]
            for t, temperature in enumerate(TEMPERATURES):
                ax.plot(steps, found[t], color=SERIES[t], marker=MARKERS[t], markersize=4,
                        label=f"T = {temperature:g}")  # fmt: skip
                ax.axhline(each.best[t, what], color=SERIES[t], linestyle=":", linewidth=1)
            ax.set(xlabel="K", ylabel=("decoupling error", "sd of values")[row])
            ax.spines[["top", "right"]].set_visible(False)
        axes[0, column].set_yscale("log")
        axes[0, column].set_title(each.title, fontsize=10)
    lines, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(lines, labels, frameon=False, ncols=len(labels), loc="outside lower center")
    return figure
