"""The paper's experiment with more players: 80 training points of a synthetic problem.

No code and no temperature were published for it, so the settings are those of the paper's other
synthetic experiment. Verdicts on the numbers found here are in ``paper/verdicts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fairfield as ff
from fairfield.core.arrays import FloatArray
from paper.claims import Finding, Table
from paper.kept import kept
from paper.registry import experiment
from paper.run import CRITERIA, Run
from paper.splits import PROBLEMS, own_split
from paper.synthetic import TEMPERATURE
from paper.verdicts import large as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYERS, SHOWN = 80, 15
# At 4000 worths two estimates of one criterion differ as much as two criteria do.
BUDGET, QUICK_BUDGET, SETS, QUICK_SETS = 16_000, 500, 10, 2


def values(seed: int, budget: int, run: Run) -> FloatArray:
    """All players of a data set by three criteria, each by two seeds: (2, 3, n)."""
    problem = PROBLEMS["synthetic_points"]
    game = own_split(problem, PLAYERS, seed).fast_game()

    def estimated() -> dict[str, Any]:
        options = {**run.options(), "budget": budget, "decoupling": False}
        return {
            "values": [
                [getattr(ff, name)(game, temperature=TEMPERATURE, **{**options, "seed": each}).values for name in CRITERIA]
                for each in (0, 1)
            ]
        }  # fmt: skip

    return kept(run, f"large-{budget}-{seed}", str(game.describe()), estimated)["values"]


def distance(one: FloatArray, other: FloatArray) -> float:
    """The mean distance between the ranks of all players."""
    places = [np.argsort(np.argsort(-each)) for each in (one, other)]
    return float(np.abs(places[0] - places[1]).mean())


@experiment("large", "80 players, estimated by three criteria.", place=8)
def find(run: Run) -> Finding:
    """80 training points by three criteria, estimated; 7 minutes of one core."""
    budget, count = (QUICK_BUDGET, QUICK_SETS) if run.quick else (BUDGET, SETS)
    found = np.stack([values(seed, budget, run) for seed in range(run.seed, run.seed + count)])
    index, shapley, banzhaf = (found[:, :, CRITERIA.index(name)] for name in ("variational_index", "shapley", "banzhaf"))  # fmt: skip
    # Two seeds for each pair, so that all three distances carry the same noise.
    near, far, floor = (
        np.array([distance(a[0], b[1]) for a, b in zip(index, other, strict=True)])
        for other in (banzhaf, shapley, index)
    )
    best = {name: np.argsort(-found[0, 0, k])[:SHOWN] for k, name in enumerate(CRITERIA)}
    rows = [
        (rank + 1, *(int(best[name][rank]) for name in CRITERIA), *(judge.PRINTED[name][rank] for name in CRITERIA))
        for rank in range(SHOWN)
    ]  # fmt: skip
    head = ("rank", *(f"{name}, ours" for name in CRITERIA), *(f"{name}, printed" for name in CRITERIA))  # fmt: skip
    return Finding(
        "large",
        "80 players",
        f"{count} data sets (seeds from {run.seed}) of 80 single synthetic points, T = {TEMPERATURE}, {budget:,} "
        "worths per criterion and two seeds of the estimates; neither data nor temperature were published",
        [judge.more_similar(near, far, floor), judge.fifteen(judge.PRINTED)],
        {"large": Table(head, rows, "Table 2: the 15 best of 80 players, our first data set beside the printed one")},
        {"large": draw(near, far, floor)},
        {
            "large": "Mean distance of ranks of the index to Banzhaf and to Shapley, and to itself by another "
            "seed, for each data set."
        },
    )  # fmt: skip


def draw(near: FloatArray, far: FloatArray, floor: FloatArray) -> Figure:
    """The distances, a group of bars for each data set."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import PALE, SERIES

    figure = Figure(figsize=(7, 2.8), layout="constrained")
    ax, at = figure.subplots(), np.arange(len(near))
    for k, (label, each, colour) in enumerate(
        (
            ("index to Banzhaf", near, SERIES[0]),
            ("to Shapley", far, SERIES[1]),
            ("to itself", floor, PALE),
        )
    ):
        ax.bar(at + 0.27 * (k - 1), each, 0.25, color=colour, label=label)
    ax.set(xlabel="data set", ylabel="mean distance of ranks", xticks=at)
    ax.legend(frameon=False, fontsize=8, ncols=3)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
