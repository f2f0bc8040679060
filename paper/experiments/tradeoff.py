"""The paper's tradeoff: decoupling error and spread of values over steps K and temperature T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import fairfield as ff
from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import enumerate_coalitions
from paper.claims import DIFFERS, REPRODUCED, WRONG, Claim, Finding, Table, share
from paper.experiments.flid import flid_game
from paper.registry import experiment
from paper.run import Run
from paper.splits import PROBLEMS
from paper.valued import all_splits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPERATURES, STEPS = (0.1, 0.2, 0.5, 1.0), 10
GAMES = ("breast_cancer", "digits2")
WHERE = "Sec. 4.2 and 4.4"


@dataclass(frozen=True)
class Grid:
    """A game over K = 1 … 10 (columns) and the temperatures (rows).

    ``errors`` are decoupling errors, ``values`` and ``marginals`` standard deviations over the
    players, ``apart`` the largest distance of a K-step value from the index; ``best`` holds
    the index's own error and spreads (T, 3).
    """

    title: str
    errors: FloatArray
    values: FloatArray
    marginals: FloatArray
    apart: FloatArray
    best: FloatArray
    banzhaf: float


def grid(game: ff.TableGame, title: str) -> Grid:
    """All K and T of one game."""
    columns: list[list[tuple[float, float, float, float]]] = []
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
            line.append((far, float(found.values.std()), float(found.marginals.std()), away))
        columns.append(line)
    held = np.array(columns)
    spread = float(ff.banzhaf(game).values.std())
    errors, values, marginals, apart = np.moveaxis(held, -1, 0)
    return Grid(title, errors, values, marginals, apart, np.array(best), spread)


@experiment(
    "tradeoff",
    "Decoupling error and spread of values over steps and temperatures.",
    place=6,
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
        [_flatter(grids), _closer(grids), _tradeoff(grids)],
        {"tradeoff": _table(grids)},
        {"tradeoff": draw(grids)},
        {
            "tradeoff": "Decoupling error (above) and standard deviation of the values (below) over "
            "the steps of Alg. 1, one line for each temperature; dotted: the variational index."
        },
    )


def _flatter(grids: list[Grid]) -> Claim:
    falls = np.concatenate([np.diff(each.best[:, 2]) <= 1e-12 for each in grids])
    spreads = "; ".join(
        f"{each.title}: marginals "
        + ", ".join(f"{s:.3g}" for s in each.best[:, 2])
        + ", values "
        + ", ".join(f"{s:.3g}" for s in each.best[:, 1])
        + f" (Banzhaf's {each.banzhaf:.3g})"
        for each in grids
    )
    return Claim(
        WHERE,
        "a higher T leads to flatter assignments, a lower one to more concentrated ones",
        "in words",
        f"standard deviations of the index at T = .1, .2, .5, 1: {spreads}",
        REPRODUCED if falls.all() else DIFFERS,
        "it holds of the marginals x*"
        + ("" if falls.all() else f", in {share(falls)} steps of T")
        + "; the values T·logit x* do not flatten, they tend to Banzhaf's",
    )


def _closer(grids: list[Grid]) -> Claim:
    far = [(each.title, temperature, line) for each in grids
           for temperature, line in zip(TEMPERATURES, each.apart, strict=True)]  # fmt: skip
    falls = [bool((np.diff(line) <= 1e-12).all()) for _, _, line in far]
    stuck = [
        f"{title} at T = {temperature:g}: {line[-1]:.2g} away after {STEPS} steps"
        for (title, temperature, line), fell in zip(far, falls, strict=True)
        if not fell
    ]
    return Claim(
        "Sec. 4.2",
        "with more steps the K-step values come closer to the variational index",
        "always",
        f"the largest distance falls at every step in {share(falls)} cases of game and T"
        + ("; not for " + "; ".join(stuck) if stuck else ""),
        WRONG if stuck else REPRODUCED,
        "where the steps overshoot, Alg. 1 alternates instead of closing in" if stuck else "",
    )


def _tradeoff(grids: list[Grid]) -> Claim:
    lower = [line[-1] <= line[0] + 1e-12 for each in grids for line in each.errors]
    wider = [line[-1] >= line[0] - 1e-12 for each in grids for line in each.values]
    falling = [bool((np.diff(each.best[:, 0]) <= 0).all()) for each in grids]
    return Claim(
        WHERE,
        "K and T tune a tradeoff between decoupling and fairness",
        "in words",
        f"the decoupling error is lower after {STEPS} steps than after one in {share(lower)} cases of "
        f"game and T, the spread of the values wider in {share(wider)}; with rising T the error "
        f"falls throughout in {share(falling)} games, and so does the spread of the marginals",
        # A tradeoff has two sides: what decouples better must be less equal.
        REPRODUCED if all(lower) and all(wider) else DIFFERS,
        "more steps decouple better where Alg. 1 converges, but need not make values less equal; and "
        "where the error falls with T there is no tradeoff in T: a higher one decouples better and "
        "is flatter",
    )


def _table(grids: list[Grid]) -> Table:
    head = ("game", "T", "K", "decoupling error", "sd of values", "sd of marginals",
            "largest distance from the index")  # fmt: skip
    rows: list[tuple[object, ...]] = []
    for each in grids:
        for t, temperature in enumerate(TEMPERATURES):
            for k in range(STEPS):
                cells = (each.errors, each.values, each.marginals, each.apart)
                rows.append((each.title, temperature, k + 1, *(c[t, k] for c in cells)))
            rows.append((each.title, temperature, "index", *each.best[t], 0.0))
    return Table(head, rows)


def draw(grids: list[Grid]) -> Figure:
    """Error and spread over K, a line for each T."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import MARKERS, SERIES

    figure = Figure(figsize=(4.6 * len(grids), 7), layout="constrained")
    axes = figure.subplots(2, len(grids))
    steps = np.arange(1, STEPS + 1)
    for column, each in enumerate(grids):
        for row, (lines, what) in enumerate(((each.errors, 0), (each.values, 1))):
            ax = axes[row, column]
            for t, temperature in enumerate(TEMPERATURES):
                ax.plot(steps, lines[t], color=SERIES[t], marker=MARKERS[t], markersize=4,
                        label=f"T = {temperature:g}")  # fmt: skip
                ax.axhline(each.best[t, what], color=SERIES[t], linestyle=":", linewidth=1)
            ax.set(xlabel="K", ylabel=("decoupling error", "sd of values")[row])
            ax.spines[["top", "right"]].set_visible(False)
        axes[0, column].set_yscale("log")
        axes[0, column].set_title(each.title, fontsize=10)
        axes[0, column].legend(frameon=False, fontsize=8)
    return figure
