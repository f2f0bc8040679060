"""K-step variational values: the paper's Alg. 1, literally.

The iteration x ← σ(∇f(x)/T) climbs the ELBO f(x)/T + H(x); a value is the gradient g(x),
never T·logit of a saturated x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.game import Game, Players
from fairfield.core.special import expit
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation, as_number


@register
@dataclass(frozen=True)
class VariationalValues(Criterion):
    """g(x^(K-1)) after K steps of x ← σ(∇f(x)/T)."""

    steps: int
    start: ArrayLike = 0.5
    name = "variational_values"
    meaning = (
        "What a player adds after K steps towards the variational index; one step is Banzhaf's."
    )
    temperature = OWN_SCALE
    errors = False
    settles = True

    @property
    def label(self) -> str:
        """The name with the number of steps."""
        return f"{self.name}({self.steps})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", whole("steps", self.steps))

    def prepare(self, problem: Problem) -> Problem:
        """Refuse a start that is no point of the cube."""
        start_of(self.start, problem.game)
        return super().prepare(problem)

    def exact(self, problem: Problem) -> Valuation:
        """K gradients, and one more for the residual."""
        extension, temperature = problem.extension, problem.needs_temperature()[..., None]
        x = start_of(self.start, problem.game)
        trajectory = [x]
        for _ in range(self.steps):
            values = extension.gradient(x)
            x = expit(values / temperature)
            trajectory.append(x)
        residual = np.max(np.abs(expit(extension.gradient(x) / temperature) - x), axis=-1)
        return assemble(
            problem,
            self.label,
            values,
            trajectory=np.stack(trajectory),
            steps=np.full(extension.batch, self.steps) if extension.batch else self.steps,
            residual=as_number(residual),
            stops=np.full(extension.batch, "took the steps asked for"),
        )

    def estimator(self, problem: Problem) -> Estimator:
        """Least squares over draws along the way, or one of the paper's samplers."""
        start = start_of(self.start, problem.game)
        return estimator_of(problem, self.name, self.label, start=start, steps=self.steps)


def variational_values(
    game: Any,
    steps: int,
    *,
    start: ArrayLike = 0.5,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Valuation:
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
    return value(VariationalValues(steps, start), game, players, temperature, options)


def start_of(start: ArrayLike | None, game: Game) -> FloatArray:
    """The starting point of every game, checked; without one that of the game, or ½."""
    if start is None:
        start = 0.5 if game.traits.start is None else game.traits.start
    given = np.asarray(start, dtype=float)
    shape = (*game.batch, len(game.players))
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"start={start!r} was given; it must hold probabilities in [0, 1]")
    try:
        return np.broadcast_to(given, shape).copy()
    except ValueError:
        raise ValueError(
            f"a start of shape {given.shape} does not fit {shape[-1]} players; give one "
            "probability, or one per player"
        ) from None
