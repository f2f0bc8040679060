"""The variational index: the fixed point of mean-field inference, x* = σ(∇f(x*)/T)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.criteria.variational_values import start_of
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.evaluation.options import Keywords
from fairfield.mean_field import solvers
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import prior_logits
from fairfield.mean_field.solvers import REACHED, MeanField, start_points
from fairfield.mean_field.stability import FLAT, index_covariance, saddle_eigenvalue
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation, as_number

SOLVERS = {
    "anderson": anderson,
    "coordinate": solvers.coordinate,
    "synchronous": solvers.synchronous,
}
SADDLE = (
    "converged to a saddle of the ELBO, which keeps equal players equal; "
    "more starts= (8, say) look for a better decoupling error"
)


@register
@dataclass(frozen=True)
class VariationalIndex(Criterion):
    """∇f(x*) at a fixed point x* = σ(λ + ∇f(x*)/T), λ the log-odds of the prior."""

    start: ArrayLike | None = None
    prior: ArrayLike | None = None
    solver: str = "anderson"
    starts: int = 1
    name = "variational_index"
    meaning = (
        "What a player adds when the others join with the probabilities that fit the game best at "
        "this temperature."
    )
    temperature = OWN_SCALE
    settles = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", whole("starts", self.starts))
        if self.solver not in SOLVERS:
            known = ", ".join(SOLVERS)
            raise ValueError(f"there is no solver {self.solver!r}; choose from {known}")

    def prepare(self, problem: Problem) -> Problem:
        """The problem with the prior, every argument checked."""
        start_of(self.start, problem.game)
        if problem.estimated and (self.starts > 1 or self.solver != "anderson"):
            raise ValueError(
                f"solver={self.solver!r} and starts={self.starts} were given; they are for exact "
                "worths, an estimate has one start and its own solver; leave them out, or raise the "
                "budget"
            )
        limit = problem.game.traits.index_limit
        if problem.estimated and limit is not None and len(problem.game.players) > limit:
            raise ValueError(
                f"{problem.game!r}: an index of more than {limit} {problem.game.info.noun}s cannot be "
                f"estimated, since draws do not reach it; {problem.game.info.advice}, whose index "
                "is exact, or ask for banzhaf or shapley"
            )
        logits = prior_logits(self.prior, len(problem.game.players))
        return super().prepare(problem if logits is None else replace(problem, prior=logits))

    def exact(self, problem: Problem) -> Valuation:
        """About 10 gradients per start."""
        extension, T, prior = problem.extension, problem.needs_temperature(), problem.prior
        first, solver = start_of(self.start, problem.game), SOLVERS[self.solver]
        found = solvers.solve(solver, extension, first, T, prior)
        if self.starts > 1:
            points = start_points(self.starts, extension.players, problem.options.seed)
            for other in points[1:]:
                found = found.better_of(solvers.solve(solver, extension, other, T, prior))
            found = found.better_of(solvers.solve(solvers.coordinate, extension, first, T, prior))
        shape = extension.batch
        x = found.x.reshape((*shape, -1))
        stops = _stops(found, saddle_eigenvalue(extension, x, T).reshape(-1), self.starts)
        return assemble(
            problem,
            self.name,
            found.gradient.reshape((*shape, -1)),
            solved=found,
            steps=found.steps.reshape(shape) if shape else int(found.steps[0]),
            residual=as_number(found.residual.reshape(shape)),
            stops=stops.reshape(shape),
            covariance=index_covariance(extension, x, T),
        )

    def estimator(self, problem: Problem) -> Estimator:
        """Least squares over draws that follow the index, or one of the paper's samplers."""
        start = start_of(self.start, problem.game)
        return estimator_of(problem, self.name, self.name, start=start, steps=None)


def variational_index(
    game: Any,
    *,
    start: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    solver: str = "anderson",
    starts: int = 1,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Valuation:
    """s* = ∇f(x*) = T·logit x*, at a fixed point x* = σ(∇f(x*)/T) of the ELBO.

    ``solver``: "anderson" keeps equal players equal; "coordinate" is the paper's naive
    mean field; "synchronous" is its Alg. 1 run until it settles or cycles. ``starts=k``
    tries k starting points (``start``, .01, .99, then random ones) and one coordinate
    run, and keeps the best ELBO, hence the smallest decoupling error. With a ``prior`` π
    the fixed point is x = σ(logit π + ∇f/T). ``start`` is ½ by default, the frequencies of
    players in a learned game. Cost: about 10 gradients per start.

    Under a budget the index of a surrogate is found exactly, with errors through the fixed point: from
    few coalitions that of a prior over games, of a polynomial or of boosted trees; from more of them
    corrected by least squares on draws that follow the index, or those alone
    (``sampler="least-squares"``). A relative temperature, the default, is estimated from
    the first draws, and ``stop`` says with what error: pass a number to compare runs. The paper's own
    samplers go by the names "one-shot" and "monte-carlo".

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> v = ff.variational_index(lambda S: S @ [2, 1, 1] >= 3, players=3, temperature=1)
    >>> v.values.round(4)
    array([0.8181, 0.2959, 0.2959])
    >>> v.stop
    'converged'
    """
    criterion = VariationalIndex(start, prior, solver, starts)
    return value(criterion, game, players, temperature, options)


def _stops(
    found: MeanField, eigenvalue: FloatArray, starts: int
) -> np.ndarray[Any, np.dtype[np.str_]]:
    saddle = (found.stops == REACHED) & (eigenvalue > FLAT)
    stops = np.where(saddle, SADDLE, found.stops)
    if starts == 1:
        return stops
    return np.array([f"{s}; the best of {starts} starts and a coordinate run" for s in stops])
