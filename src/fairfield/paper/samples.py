"""The paper's figure on the number of samples: ‖x^k - x^(k-1)‖²/n for m = n, 5n, 10n.

Plain Monte Carlo, m new coalitions for every player and step. No code was released; the game
here is the paper's synthetic data valuation with 20 single points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.game import Game
from fairfield.criteria.variational import variational_values
from fairfield.evaluation.options import Keywords
from fairfield.games.given.table import FunctionGame
from fairfield.games.set_functions.facility_location import FLIDGame
from fairfield.paper.large import TEMPERATURE, synthetic_game

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
    game: Game | None = None,
    *,
    times: Sequence[int] = TIMES,
    steps: int = STEPS,
    temperature: float = TEMPERATURE,
    quick: bool = False,
    **options: Unpack[Keywords],
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
        keywords: Keywords = {
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
        found = variational_values(played, steps, temperature=temperature, **keywords)
        differences[each] = found.step_differences()
        evaluations[each] = found.evaluations
    return Samples(differences, evaluations)


def _flid() -> Game:
    weights = 2 * np.random.default_rng(0).random((QUICK_PLAYERS, 4))
    gain = (weights.sum() - weights.max(axis=0).sum()) / QUICK_PLAYERS
    worths: Any = FLIDGame(np.full(QUICK_PLAYERS, gain), weights).worths
    return FunctionGame(worths, QUICK_PLAYERS, name="FLID")


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
