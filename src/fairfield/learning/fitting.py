"""Minimising a loss of observed coalitions, with a penalty whose strength held-out data choose.

    min_θ  Σ_observations loss(θ) + strength/2 · Σ interactions² - ½ Σ_i log σ(a_i) σ(-a_i)

The penalty is a Gaussian prior of variance 1/strength on each interaction, and Jeffreys'
prior on σ(a_i) for the linear terms a: independent players get (k_i + ½)/(N + 1), so no
probability is 0 or 1. L-BFGS-B (Byrd, Lu, Nocedal, Zhu 1995) takes the analytic gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.learning.objectives import Loss, logistic_loss

# The search goes from strong to weak, until weaker ones serve held-out data no better.
STRENGTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
# Weaker strengths without a better held-out loss before the search ends.
WORSE = 2
# The strength at which starting points are tried before the search.
MIDDLE = 1.0
# A step that lowers the loss by a smaller share is the last.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Fit:
    """Parameters, and how they were found.

    ``losses`` are the penalised mean losses after each step; ``held_out`` are the held-out
    losses of the strengths that were tried, none where the strength was given.
    """

    theta: FloatArray
    strength: float
    losses: tuple[float, ...]
    stop: str
    held_out: dict[float, float] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.losses)


@dataclass(frozen=True, eq=False)
class Penalised:
    """The mean loss with the penalty of one strength, and its gradient."""

    loss: Loss
    strength: float

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.loss(theta)
        model, total = self.loss.model, self.loss.total
        n, interactions = model.players, theta[model.interacting]
        linear = theta[:n]
        (inside, d_inside), (outside, d_outside) = logistic_loss(linear), logistic_loss(-linear)
        prior = 0.5 * float(inside.sum() + outside.sum())
        prior += self.strength / 2 * float(interactions @ interactions)
        gradient[:n] += 0.5 * (d_inside - d_outside) / total
        gradient[model.interacting] += self.strength * interactions / total
        return value + prior / total, gradient


def minimise(
    penalised: Penalised,
    start: FloatArray,
    steps: int,
    tick: Callable[[], object] = lambda: None,
    tolerance: float = TOLERANCE,
) -> Fit:
    """The minimum of the penalised loss found from ``start``."""
    from scipy.optimize import Bounds, minimize

    losses: list[float] = []

    def after_step(intermediate_result: Any) -> None:
        losses.append(float(intermediate_result.fun))
        tick()

    lowest = np.full(len(start), -np.inf)
    if penalised.loss.model.nonnegative:
        lowest[penalised.loss.model.interacting] = 0.0
    found = minimize(
        penalised,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(lowest, np.inf),
        callback=after_step,
        options={
            "maxiter": steps,
            "maxfun": 20 * steps,
            "maxcor": 20,
            "ftol": tolerance,
            "gtol": 1e3 * tolerance,
        },
    )
    stop = "stopped where no step lowers the loss, before the gradient vanished"
    if found.success:
        stop = "converged"
    elif len(losses) >= steps:
        stop = "took all steps allowed; steps= allows more"
    return Fit(found.x, penalised.strength, tuple(losses) or (float(found.fun),), stop)


def redraw(
    penalised: Penalised,
    fit: Fit,
    count: int,
    rng: np.random.Generator,
    steps: int,
    tick: Callable[[], object] = lambda: None,
) -> Fit:
    """The best fit found from ``fit`` by redrawing one column of its interactions, ``count`` times.

    Local minima of FLID and FLDC differ by columns that serve two purposes, or none; one
    that is redrawn among good ones finds its place more often than all at once.
    """
    model = penalised.loss.model
    columns = model.columns
    for _ in range(count if columns else 0):
        theta = fit.theta.copy()
        interactions = theta[model.interacting]
        drawn = columns[rng.integers(len(columns))]
        positive = interactions[interactions > 0]
        size = float(positive.mean()) if len(positive) else 0.5
        interactions[drawn] = 2 * size * rng.random(len(drawn))
        fit = min(fit, minimise(penalised, theta, steps, tick), key=lambda each: each.losses[-1])
    return fit


def search(
    train: Loss,
    held_out: Loss,
    start: FloatArray,
    steps: int,
    tick: Callable[[], object],
    sound: Callable[[FloatArray], bool] = lambda theta: True,
) -> Fit:
    """The fit of the strength with the lowest held-out loss.

    The search stops where weaker strengths only raise that loss, or where a law is no longer
    ``sound``. All fits begin at one ``start``, so that they can be compared where a loss has
    many minima.
    """
    fits: dict[float, Fit] = {}
    losses: dict[float, float] = {}
    for strength in STRENGTHS:
        fit = minimise(Penalised(train, strength), start, steps, tick)
        if fits and not sound(fit.theta):
            break
        fits[strength] = fit
        losses[strength] = held_out(fit.theta)[0]
        best = min(losses, key=losses.__getitem__)
        if list(losses).index(best) + WORSE < len(losses):
            break
    return replace(fits[best], held_out=losses)
