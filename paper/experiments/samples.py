"""The paper's figure on the number of samples: ‖x^k - x^(k-1)‖²/n for m = n, 5n, 10n.

Plain Monte Carlo, m new coalitions for every player and step. No code was released; the game
here is the paper's synthetic data valuation with 20 single points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import fairfield as ff
from fairfield.core.arrays import FloatArray
from paper.claims import DIFFERS, REPRODUCED, Claim, Finding, Table
from paper.registry import experiment
from paper.run import Run
from paper.splits import PROBLEMS, own_split
from paper.synthetic import TEMPERATURE, synthetic_game

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMES = (1, 5, 10)
PLAYERS, STEPS = 20, 10
QUICK_PLAYERS, QUICK_STEPS = 14, 3


@dataclass(frozen=True)
class Samples:
    """The step differences (steps,) by the number m of samples per player and step."""

    differences: dict[int, FloatArray]
    evaluations: dict[int, int]


def samples(
    game: ff.Game | None = None,
    *,
    times: Sequence[int] = TIMES,
    steps: int = STEPS,
    temperature: float = TEMPERATURE,
    quick: bool = False,
    **options: Any,
) -> Samples:
    """The figure's three curves.

    Cost: 2 n m worths per step, each evaluated once (20 points: about 10⁵ fits in all;
    ``quick`` plays a small FLID game instead).
    """
    if quick:
        game, steps = _flid(), QUICK_STEPS
    played = synthetic_game(PLAYERS) if game is None else game
    count = len(played.players)
    differences, evaluations = {}, {}
    for each in (factor * count for factor in times):
        keywords: dict[str, Any] = {
            **options,
            "budget": 2 * count * each * steps,
            "sampler": "monte-carlo",
            "decoupling": False,
        }
        if 2**count <= 2 * count * each * steps:
            raise ValueError(
                f"{count} players have fewer coalitions than {each} samples per player and step "
                "ask for; take more players or fewer samples"
            )
        found = ff.variational_values(played, steps, temperature=temperature, **keywords)
        differences[each] = found.step_differences()
        evaluations[each] = found.evaluations
    return Samples(differences, evaluations)


def _flid() -> ff.Game:
    weights = 2 * np.random.default_rng(0).random((QUICK_PLAYERS, 4))
    gain = (weights.sum() - weights.max(axis=0).sum()) / QUICK_PLAYERS
    worths: Any = ff.FLIDGame(np.full(QUICK_PLAYERS, gain), weights).worths
    return ff.FunctionGame(worths, QUICK_PLAYERS, name="FLID")


def draw(found: Samples) -> Figure:
    """The paper's picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    for each, curve in found.differences.items():
        ax.semilogy(np.arange(1, len(curve) + 1), curve, marker="o", label=f"m = {each}")
    ax.set(xlabel="step", ylabel="‖x^k - x^(k-1)‖² / n")
    ax.legend()
    return figure


@experiment("samples", "How the number of samples moves the steps of Alg. 1.", place=8)
def find(run: Run) -> Finding:
    """Steps of Alg. 1 by Monte Carlo with m = n, 5n, 10n samples."""
    points = PROBLEMS["synthetic_points"]
    game = own_split(points, PLAYERS, run.seed).fast_game(points)
    found = samples(None if run.quick else game, quick=run.quick, **run.options())
    settled = 1 if run.quick else 3
    last = {m: float(np.mean(curve[-settled:])) for m, curve in found.differences.items()}
    first = {m: float(curve[0]) for m, curve in found.differences.items()}
    falls = _falling(list(last.values()))
    few, *_, many = found.differences
    rows = [
        (m, step, value)
        for m, curve in found.differences.items()
        for step, value in enumerate(curve, 1)
    ]
    return Finding(
        "samples",
        "Number of samples",
        "a small FLID game and 3 steps (quick)"
        if run.quick
        else f"20 single synthetic points, T = {TEMPERATURE}, 10 steps; the game was not published",
        [
            Claim(
                "Fig. 11, number of samples",
                "with more samples Alg. 1 converges faster, in fewer epochs",
                "m = n, 5n, 10n: curves drawn",
                f"‖Δx‖²/n of the first step and of the last (mean of {settled}): "
                + "; ".join(f"m = {m}: {first[m]:.2g} and {last[m]:.2g}" for m in last),
                REPRODUCED if falls else DIFFERS,
                "with samples drawn anew the differences do not go to 0: they level off at the noise of "
                f"the gradient, {last[few] / last[many]:.2g} times lower with {many // few} times the "
                "samples; so more samples lower the floor rather than speed up the descent",
            )
        ],
        {"samples": Table(("m", "step", "difference"), rows)},
        {"samples": draw(found)},
        {"samples": "‖x^k − x^(k−1)‖²/n over the steps, by the number of samples."},
    )


def _falling(values: ArrayLike) -> bool:
    return bool((np.diff(np.asarray(values)) < 0).all())
