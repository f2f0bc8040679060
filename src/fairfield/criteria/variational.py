"""The paper's criteria: K-step variational values and the variational index.

Both iterate x ← σ(∇f(x)/T), which climbs the ELBO f(x)/T + H(x); a value is the
gradient g(x), never T·logit of a saturated x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.criteria.boosting import trees_are_installed
from fairfield.criteria.estimates import Estimator
from fairfield.criteria.setting import Setting
from fairfield.criteria.steps_sampled import StepsEstimator
from fairfield.criteria.streamed import streamed
from fairfield.criteria.variational_paper import MonteCarlo, OneShot
from fairfield.criteria.variational_sampled import IndexEstimator
from fairfield.energy import mean_field
from fairfield.energy.anderson import anderson
from fairfield.energy.mean_field import REACHED, MeanField, start_points
from fairfield.energy.product import prior_logits, sigmoid
from fairfield.energy.stability import index_covariance, saddle_eigenvalue
from fairfield.energy.temperature import OWN_SCALE, Temperature
from fairfield.evaluation.how import Keywords
from fairfield.game import Players
from fairfield.multilinear import FloatArray
from fairfield.valuation import Valuation, as_number

SOLVERS = {
    "anderson": anderson,
    "coordinate": mean_field.coordinate,
    "synchronous": mean_field.synchronous,
}
# A positive eigenvalue up to this is rounding, not a direction to climb.
FLAT = 1e-7
SADDLE = (
    "converged to a saddle of the ELBO, which keeps equal players equal; "
    "more starts= (8, say) look for a better decoupling error"
)


@streamed
def variational_values(
    game: Any,
    steps: int,
    *,
    start: ArrayLike = 0.5,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **how: Unpack[Keywords],
) -> Iterator[Valuation]:
    """T·logit x^K after K steps of Alg. 1, x^k = σ(∇f(x^(k-1))/T) from x^0 = ``start``.

    One step from ½ is Banzhaf's value. The trajectory holds x^0 … x^K. Cost: K gradients.
    Under a budget all K gradients come from the same draws, made along the way, and errors are
    carried from step to step; ``sampler="monte-carlo"`` draws as the paper does, anew for every
    player and step, ``"one-shot"`` once and uniformly.

    ``how``: the keywords of :class:`fairfield.How`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.variational_values(lambda S: S @ [2, 1, 1] >= 3, 1, players=3, temperature=1).values
    array([0.75, 0.25, 0.25])
    """
    steps = at_least_one("steps", steps)
    setting = Setting.of(game, players, temperature, how)
    x = _start(start, setting)
    if setting.sampled:
        yield from _estimates(setting, f"variational_values({steps})", x, steps)
        return
    heat = setting.needs_heat()
    trajectory = [x]
    for _ in range(steps):
        values = setting.extension.gradient(x)
        x = sigmoid(values / heat[..., None])
        trajectory.append(x)
    again = setting.extension.gradient(x)
    residual = np.max(np.abs(sigmoid(again / heat[..., None]) - x), axis=-1)
    yield setting.valuation(
        f"variational_values({steps})",
        values,
        trajectory=np.stack(trajectory),
        steps=np.full(setting.extension.batch, steps) if setting.extension.batch else steps,
        residual=as_number(residual),
        stops=np.full(setting.extension.batch, "took the steps asked for"),
    )


@streamed
def variational_index(
    game: Any,
    *,
    start: ArrayLike = 0.5,
    prior: ArrayLike | None = None,
    solver: str = "anderson",
    starts: int = 1,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **how: Unpack[Keywords],
) -> Iterator[Valuation]:
    """s* = ∇f(x*) = T·logit x*, at a fixed point x* = σ(∇f(x*)/T) of the ELBO.

    ``solver``: "anderson" keeps equal players equal; "coordinate" is the paper's naive
    mean field; "synchronous" is its Alg. 1 run until it settles or cycles. ``starts=k``
    tries k starting points (``start``, .01, .99, then random ones) and one coordinate
    run, and keeps the best ELBO, hence the smallest decoupling error. With a ``prior`` π
    the fixed point is x = σ(logit π + ∇f/T). Cost: about 10 gradients per start.

    Under a budget, least squares on draws that follow the index estimates it, with errors
    through the fixed point; a relative temperature is fixed by the first of them.
    ``sampler="surrogate"`` lets boosted trees explain what they can, if draws they have not seen
    bear them out: it helps where the worths are those of a tree model. The paper's own samplers
    go by the names "one-shot" and "monte-carlo".

    ``how``: the keywords of :class:`fairfield.How`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> v = ff.variational_index(lambda S: S @ [2, 1, 1] >= 3, players=3, temperature=1)
    >>> v.values.round(4)
    array([0.8181, 0.2959, 0.2959])
    >>> v.stop
    'converged'
    """
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; choose from {', '.join(SOLVERS)}")
    starts = at_least_one("starts", starts)
    setting = Setting.of(game, players, temperature, how)
    tilt = prior_logits(prior, len(setting.game.players))
    if tilt is not None:
        setting = replace(setting, prior=tilt)
    first = _start(start, setting)
    if setting.sampled:
        if starts > 1 or solver != "anderson":
            raise ValueError(
                f"solver={solver!r} and starts={starts} were given; they are for exact worths, an "
                "estimate has one start and its own solver; leave them out, or raise the budget"
            )
        yield from _estimates(setting, "variational_index", first, None)
        return
    extension, heat = setting.extension, setting.needs_heat()
    found = mean_field.solve(SOLVERS[solver], extension, first, heat, tilt)
    if starts > 1:
        for other in start_points(starts, extension.players, setting.how.seed)[1:]:
            found = found.better_of(mean_field.solve(SOLVERS[solver], extension, other, heat, tilt))
        found = found.better_of(
            mean_field.solve(mean_field.coordinate, extension, first, heat, tilt)
        )
    shape = extension.batch
    x = found.x.reshape((*shape, -1))
    stops = _stops(found, saddle_eigenvalue(extension, x, heat).reshape(-1), starts)
    yield setting.valuation(
        "variational_index",
        found.gradient.reshape((*shape, -1)),
        logits=found.logits.reshape((*shape, -1)),
        steps=found.steps.reshape(shape) if shape else int(found.steps[0]),
        residual=as_number(found.residual.reshape(shape)),
        stops=stops.reshape(shape),
        covariance=index_covariance(extension, x, heat),
    )


def _estimates(
    setting: Setting, criterion: str, start: FloatArray, steps: int | None
) -> Iterator[Valuation]:
    """The criterion by the sampler that was asked for; no number of steps: the index."""

    def adaptive() -> Estimator:
        if steps is None:
            return IndexEstimator(setting, start)
        return StepsEstimator(setting, start, steps)

    samplers: dict[str, Callable[[], Estimator]] = {
        "auto": adaptive,
        "least-squares": adaptive,
        "one-shot": lambda: OneShot(setting, start, steps),
        "monte-carlo": lambda: MonteCarlo(setting, start, steps),
    }
    if steps is None:
        samplers["surrogate"] = lambda: _with_trees(setting, start)
    if setting.how.sampler not in samplers:
        raise ValueError(
            f"there is no sampler {setting.how.sampler!r} for {criterion}; choose from "
            f"{', '.join(samplers)}"
        )
    return setting.estimates(criterion, samplers[setting.how.sampler]())


def _with_trees(setting: Setting, start: FloatArray) -> Estimator:
    """The index with boosted trees as control variate, where they help."""
    if not trees_are_installed():
        raise ImportError(
            "sampler='surrogate' fits boosted trees, for which scikit-learn and numba are needed: "
            "pip install 'fairfield[ml,trees]', or leave sampler= out"
        )
    return IndexEstimator(setting, start, surrogate=True)


def _stops(
    found: MeanField, eigenvalue: FloatArray, starts: int
) -> np.ndarray[Any, np.dtype[np.str_]]:
    saddle = (found.stops == REACHED) & (eigenvalue > FLAT)
    stops = np.where(saddle, SADDLE, found.stops)
    if starts == 1:
        return stops
    return np.array([f"{s}; the best of {starts} starts and a coordinate run" for s in stops])


def at_least_one(name: str, given: int) -> int:
    """A whole number of at least 1."""
    if not isinstance(given, Integral) or given < 1:
        raise ValueError(f"{name}={given!r} was given; it must be a whole number, at least one")
    return int(given)


def _start(start: ArrayLike, setting: Setting) -> FloatArray:
    """The starting point of every game, checked."""
    given = np.asarray(start, dtype=float)
    shape = (*setting.game.batch, len(setting.game.players))
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"start={start!r} was given; it must hold probabilities in [0, 1]")
    try:
        return np.broadcast_to(given, shape).copy()
    except ValueError:
        raise ValueError(
            f"a start of shape {given.shape} does not fit {shape[-1]} players; give one "
            "probability, or one per player"
        ) from None
