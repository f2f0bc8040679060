"""The paper's figure on the number of samples: ‖x^k - x^(k-1)‖²/n for m = n, 5n, 10n.

Plain Monte Carlo, m new coalitions for every player and step. No code was released; the game
here is the paper's synthetic data valuation with 20 single points. Verdicts on the numbers found
here are in ``paper/verdicts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import fairfield as ff
from fairfield.core.arrays import FloatArray
from paper.claims import Finding, Table
from paper.kept import kept
from paper.registry import experiment
from paper.run import Run
from paper.splits import PROBLEMS, own_split
from paper.synthetic import TEMPERATURE
from paper.verdicts import samples as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMES, PLAYERS, STEPS, LAST = (1, 5, 10), 20, 10, 4
SEEDS, QUICK_SEEDS = 20, 3


def differences(seed: int, run: Run) -> FloatArray:
    """The figure's three curves (3, steps) on one data set, 2 n m worths a step."""
    problem = PROBLEMS["synthetic_points"]
    game = own_split(problem, PLAYERS, seed).fast_game()

    def walked() -> dict[str, Any]:
        curves = []
        for each in (times * PLAYERS for times in TIMES):
            options = {
                **run.options(),
                "budget": 2 * PLAYERS * each * STEPS,
                "sampler": "monte-carlo",
            }
            found = ff.variational_values(
                game, STEPS, temperature=TEMPERATURE, decoupling=False, **options
            )
            curves.append(found.step_differences())
        return {"differences": curves}

    return kept(run, f"samples-{seed}", str(game.describe()), walked)["differences"]


def epochs(curves: FloatArray, tolerance: float | FloatArray) -> FloatArray:
    """The first step that is at most the tolerance; one after the last where none is."""
    below = curves <= tolerance
    return np.where(below.any(axis=-1), below.argmax(axis=-1) + 1.0, curves.shape[-1] + 1.0)


@experiment("samples", "How the number of samples moves the steps of Alg. 1.", place=9)
def find(run: Run) -> Finding:
    """Steps of Alg. 1 by Monte Carlo with m = n, 5n, 10n samples."""
    count = QUICK_SEEDS if run.quick else SEEDS
    curves = np.stack([differences(seed, run) for seed in range(run.seed, run.seed + count)])
    floors = curves[..., -LAST:].mean(axis=-1)
    by_size = {times * PLAYERS: k for k, times in enumerate(TIMES)}

    def sized(found: FloatArray) -> dict[int, FloatArray]:
        return {m: found[:, k] for m, k in by_size.items()}

    rows = [(m, step + 1, float(curves[:, k, step].mean())) for m, k in by_size.items() for step in range(STEPS)]  # fmt: skip
    return Finding(
        "samples",
        "Number of samples",
        f"20 single synthetic points, T = {TEMPERATURE}, {STEPS} steps, {count} data sets (seeds from {run.seed}); "
        "the game was not published",
        [
            judge.fewer_epochs(
                {each: sized(epochs(curves, each)) for each in judge.TOLERANCES},
                sized(epochs(curves, judge.COARSE)),
                sized(epochs(curves, judge.FACTOR * floors[..., None])),
                sized(floors),
            )
        ],
        {"samples": Table(("m", "step", "mean difference"), rows)},
        {"samples": draw(curves)},
        {"samples": "Fig. 11: ‖x^k − x^(k−1)‖²/n over the steps by the number of samples: mean over data sets, "
         "each of them thin."},
    )  # fmt: skip


def draw(curves: FloatArray) -> Figure:
    """The paper's picture."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import SERIES

    figure = Figure(figsize=(6, 3.2), layout="constrained")
    ax, steps = figure.subplots(), np.arange(1, STEPS + 1)
    for k, times in enumerate(TIMES):
        ax.semilogy(steps, curves[:, k].T, color=SERIES[k], linewidth=0.3, alpha=0.5)
        ax.semilogy(
            steps,
            curves[:, k].mean(axis=0),
            color=SERIES[k],
            marker="o",
            label=f"m = {times * PLAYERS}",
        )
    ax.set(xlabel="step", ylabel="‖x^k − x^(k−1)‖² / n")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
