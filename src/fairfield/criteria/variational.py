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

from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.game import Players
from fairfield.criteria.streamed import streamed
from fairfield.estimation.contributions import MonteCarlo, OneShot
from fairfield.estimation.index import IndexEstimator
from fairfield.estimation.loop import Estimator, estimated
from fairfield.estimation.steps import StepsEstimator
from fairfield.estimation.surrogates.trees import trees_are_installed
from fairfield.evaluation.options import Keywords
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import prior_logits, sigmoid
from fairfield.mean_field.solvers import REACHED, MeanField, start_points
from fairfield.mean_field.stability import index_covariance, saddle_eigenvalue
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation, as_number

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
    **options: Unpack[Keywords],
) -> Iterator[Valuation]:
    """T·logit x^K after K steps of Alg. 1, x^k = σ(∇f(x^(k-1))/T) from x^0 = ``start``.

    One step from ½ is Banzhaf's value. The trajectory holds x^0 … x^K. Cost: K gradients.
    Under a budget all K gradients come from the same draws, made along the way, and errors are
    carried from step to step; ``sampler="monte-carlo"`` draws as the paper does, anew for every
    player and step, ``"one-shot"`` once and uniformly.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.variational_values(lambda S: S @ [2, 1, 1] >= 3, 1, players=3, temperature=1).values
    array([0.75, 0.25, 0.25])
    """
    steps = at_least_one("steps", steps)
    problem = Problem.of(game, players, temperature, options)
    x = _start(start, problem)
    if problem.sampled:
        yield from _estimates(problem, f"variational_values({steps})", x, steps)
        return
    T = problem.needs_temperature()
    trajectory = [x]
    for _ in range(steps):
        values = problem.extension.gradient(x)
        x = sigmoid(values / T[..., None])
        trajectory.append(x)
    again = problem.extension.gradient(x)
    residual = np.max(np.abs(sigmoid(again / T[..., None]) - x), axis=-1)
    yield problem.valuation(
        f"variational_values({steps})",
        values,
        trajectory=np.stack(trajectory),
        steps=np.full(problem.extension.batch, steps) if problem.extension.batch else steps,
        residual=as_number(residual),
        stops=np.full(problem.extension.batch, "took the steps asked for"),
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
    **options: Unpack[Keywords],
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

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

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
    problem = Problem.of(game, players, temperature, options)
    tilt = prior_logits(prior, len(problem.game.players))
    if tilt is not None:
        problem = replace(problem, prior=tilt)
    first = _start(start, problem)
    if problem.sampled:
        if starts > 1 or solver != "anderson":
            raise ValueError(
                f"solver={solver!r} and starts={starts} were given; they are for exact worths, an "
                "estimate has one start and its own solver; leave them out, or raise the budget"
            )
        yield from _estimates(problem, "variational_index", first, None)
        return
    extension, T = problem.extension, problem.needs_temperature()
    found = mean_field.solve(SOLVERS[solver], extension, first, T, tilt)
    if starts > 1:
        for other in start_points(starts, extension.players, problem.options.seed)[1:]:
            found = found.better_of(mean_field.solve(SOLVERS[solver], extension, other, T, tilt))
        found = found.better_of(mean_field.solve(mean_field.coordinate, extension, first, T, tilt))
    shape = extension.batch
    x = found.x.reshape((*shape, -1))
    stops = _stops(found, saddle_eigenvalue(extension, x, T).reshape(-1), starts)
    yield problem.valuation(
        "variational_index",
        found.gradient.reshape((*shape, -1)),
        logits=found.logits.reshape((*shape, -1)),
        steps=found.steps.reshape(shape) if shape else int(found.steps[0]),
        residual=as_number(found.residual.reshape(shape)),
        stops=stops.reshape(shape),
        covariance=index_covariance(extension, x, T),
    )


def _estimates(
    problem: Problem, criterion: str, start: FloatArray, steps: int | None
) -> Iterator[Valuation]:
    """The criterion by the sampler that was asked for; no number of steps: the index."""

    def adaptive() -> Estimator:
        if steps is None:
            return IndexEstimator(problem, start)
        return StepsEstimator(problem, start, steps)

    samplers: dict[str, Callable[[], Estimator]] = {
        "auto": adaptive,
        "least-squares": adaptive,
        "one-shot": lambda: OneShot(problem, start, steps),
        "monte-carlo": lambda: MonteCarlo(problem, start, steps),
    }
    if steps is None:
        samplers["surrogate"] = lambda: _with_trees(problem, start)
    if problem.options.sampler not in samplers:
        raise ValueError(
            f"there is no sampler {problem.options.sampler!r} for {criterion}; choose from "
            f"{', '.join(samplers)}"
        )
    return estimated(problem, criterion, samplers[problem.options.sampler]())


def _with_trees(problem: Problem, start: FloatArray) -> Estimator:
    """The index with boosted trees as control variate, where they help."""
    if not trees_are_installed():
        raise ImportError(
            "sampler='surrogate' fits boosted trees, for which scikit-learn and numba are needed: "
            "pip install 'fairfield[ml,trees]', or leave sampler= out"
        )
    return IndexEstimator(problem, start, surrogate=True)


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


def _start(start: ArrayLike, problem: Problem) -> FloatArray:
    """The starting point of every game, checked."""
    given = np.asarray(start, dtype=float)
    shape = (*problem.game.batch, len(problem.game.players))
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"start={start!r} was given; it must hold probabilities in [0, 1]")
    try:
        return np.broadcast_to(given, shape).copy()
    except ValueError:
        raise ValueError(
            f"a start of shape {given.shape} does not fit {shape[-1]} players; give one "
            "probability, or one per player"
        ) from None
