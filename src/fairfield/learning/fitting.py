"""Minimising a loss of observed coalitions, with a strength of shrinkage that data choose.

    min_θ  Σ_observations loss(θ) + strength/2 · Σ interactions² - ½ Σ_i log σ(a_i) σ(-a_i)

The penalty is a Gaussian prior of variance 1/strength on each interaction, and Jeffreys'
prior on σ(a_i) for the linear terms a: independent players get (k_i + ½)/(N + 1), so nobody
is impossible. L-BFGS-B (Byrd, Lu, Nocedal, Zhu 1995) takes the analytic slopes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.learning.models import Model
from fairfield.learning.objectives import Loss, logistic_loss

# From strong to weak; the search ends where held-out data say that it has gone too far.
STRENGTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
# Weaker strengths without a better held-out loss before the search ends.
WORSE = 2
# The strength at which starting points are tried before the search.
MIDDLE = 1.0
# A step that lowers the loss by a smaller share is the last.
TOLERANCE = 1e-9
REACHED = "converged"
SPENT = "took all steps allowed; steps= allows more"
ROUGH = "stopped where no step lowers the loss, short of a flat slope"


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters, and how they were found.

    ``losses`` are the penalised mean losses after each step; ``held_out`` has the held-out
    losses of the strengths that were tried, and nothing where the strength was given.
    """

    theta: FloatArray
    strength: float
    losses: tuple[float, ...]
    stop: str
    held_out: dict[float, float] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return len(self.losses)


@dataclass(frozen=True, eq=False)
class Penalised:
    """The mean loss with the penalty of one strength, and its slope."""

    loss: Loss
    model: Model
    strength: float

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        value, slope = self.loss(theta)
        n, end = self.model.players, self.model.players + self.model.interactions
        linear, interactions = theta[:n], theta[n:end]
        both = [logistic_loss(linear), logistic_loss(-linear)]
        prior = 0.5 * sum(float(losses.sum()) for losses, _ in both)
        prior += self.strength / 2 * float(interactions @ interactions)
        slope[:n] += 0.5 * (both[0][1] - both[1][1]) / self.loss.total
        slope[n:end] += self.strength * interactions / self.loss.total
        return value + prior / self.loss.total, slope

    def lowest(self, count: int) -> FloatArray:
        """The bounds below of all parameters."""
        bounds = np.full(count, -np.inf)
        if self.model.nonnegative:
            bounds[self.model.players : self.model.players + self.model.interactions] = 0.0
        return bounds


def minimise(
    penalised: Penalised,
    start: FloatArray,
    steps: int,
    tick: Callable[[], object] = lambda: None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """The penalised minimum found from ``start``."""
    from scipy.optimize import Bounds, minimize

    losses: list[float] = []

    def after_step(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        tick()

    found = minimize(
        penalised,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(penalised.lowest(len(start)), np.inf),
        callback=after_step,
        options={
            "maxiter": steps,
            "maxfun": 20 * steps,
            "maxcor": 20,
            "ftol": tolerance,
            "gtol": 1e3 * tolerance,
        },
    )
    stop = REACHED if found.success else SPENT if len(losses) >= steps else ROUGH
    return Fit(found.x, penalised.strength, tuple(losses) or (float(found.fun),), stop)


def redraw(
    penalised: Penalised,
    fit: Fit,
    count: int,
    rng: np.random.Generator,
    steps: int,
    tick: Callable[[], object] = lambda: None,
) -> Fit:
    """The best fit found from ``fit`` by drawing one column of its interactions afresh, in turns.

    Local minima of FLID and FLDC differ by columns that serve two purposes, or none; one
    that is drawn afresh among good ones finds its place more often than all at once.
    """
    model = penalised.model
    columns = model.columns
    for _ in range(count if columns else 0):
        theta = fit.theta.copy()
        interactions = theta[model.players : model.players + model.interactions]
        drawn = columns[rng.integers(len(columns))]
        positive = interactions[interactions > 0]
        size = float(positive.mean()) if len(positive) else 0.5
        interactions[drawn] = 2 * size * rng.random(len(drawn))
        fit = min(fit, minimise(penalised, theta, steps, tick), key=lambda each: each.losses[-1])
    return fit


def search(
    model: Model,
    train: Loss,
    held_out: Loss,
    start: FloatArray,
    steps: int,
    tick: Callable[[], object],
    sound: Callable[[FloatArray], bool] = lambda theta: True,
) -> Fit:
    """The fit whose strength serves held-out data best, from strong to weak.

    It stops early, where weaker ones only fit the held-out data worse, or where a law is no
    longer ``sound``. All begin at one ``start``, so that they can be compared where a loss
    has many minima.
    """
    fits: dict[float, Fit] = {}
    losses: dict[float, float] = {}
    best = STRENGTHS[0]
    for strength in STRENGTHS:
        fit = minimise(Penalised(train, model, strength), start, steps, tick)
        if fits and not sound(fit.theta):
            break
        fits[strength] = fit
        losses[strength] = held_out(fits[strength].theta)[0]
        best = min(losses, key=losses.__getitem__)
        if list(losses).index(best) + WORSE < len(losses):
            break
    return replace(fits[best], held_out=losses)
