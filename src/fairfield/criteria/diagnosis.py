"""How far a variational index can be trusted: saddles, other answers, uniqueness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import whole
from fairfield.core.extension import Extension
from fairfield.core.game import Players
from fairfield.core.special import expit
from fairfield.evaluation.options import Keywords
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import elbo, log_odds, prior_logits
from fairfield.mean_field.solvers import start_points
from fairfield.mean_field.stability import FLAT, response
from fairfield.multilinear.table import TableExtension
from fairfield.problem import resolve
from fairfield.results.valuation import CONVERGED, Valuation

BRACKET_STEPS = 1000


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What is known about the fixed points of one game at one temperature.

    ``residual`` is max|σ(λ + ∇f/T) - x|: large where the marginals are no fixed point at all.
    ``saddle_eigenvalue`` is λ_max(D^½HD^½/T - I): positive at a saddle of the ELBO.
    ``cycle_eigenvalue`` is λ_min(D^½HD^½)/T: below -1 Alg. 1 two-cycles there.
    Above ``uniqueness_temperature`` = ¼ max_i Σ_j max|Δ_ij F| the answer is unique.
    ``bracket`` holds every fixed point of a sub- or supermodular game. ``spread`` is
    the largest distance between the fixed points found from several starts, ``better`` by
    how much the best of them lowers the decoupling error of the valuation.
    """

    temperature: float
    residual: float
    saddle_eigenvalue: float
    cycle_eigenvalue: float
    uniqueness_temperature: float | None
    modularity: str | None
    bracket: tuple[FloatArray, FloatArray] | None
    spread: float
    better: float

    @property
    def unique(self) -> bool | None:
        """Whether the fixed point is certainly the only one; None where nothing proves it."""
        above = self.uniqueness_temperature
        if above is not None and self.temperature > above:
            return True
        if self.bracket is not None and np.max(self.bracket[1] - self.bracket[0]) <= 1e-9:
            return True
        return False if self.spread > 1e-6 else None

    @property
    def fixed(self) -> bool:
        """Whether the marginals are a fixed point."""
        return self.residual <= 1e-6

    def __repr__(self) -> str:
        lines = [self._kind()]
        if self.uniqueness_temperature is not None:
            lines.append(
                f"the fixed point is unique above T = {self.uniqueness_temperature:.4g}; "
                f"T is {self.temperature:.4g}"
            )
        if self.modularity is not None:
            lines.append(f"the game is {self.modularity}")
        if self.fixed:
            cycles = "two-cycles" if self.cycle_eigenvalue < -1 else "is stable against cycles"
            lines.append(f"Alg. 1 {cycles} here")
        if self.spread > 1e-6:
            lines.append(f"fixed points from several starts lie up to {self.spread:.3g} apart")
        if self.better > 1e-9:
            lines.append(f"the best of them lowers the decoupling error by {self.better:.3g}")
        return "\n".join(lines)

    def _kind(self) -> str:
        if not self.fixed:
            return f"not a fixed point (residual {self.residual:.3g})"
        kind = "a saddle" if self.saddle_eigenvalue > FLAT else "a maximum"
        unique = {
            True: "the only fixed point",
            False: "not the only fixed point",
            None: "uniqueness not proven",
        }[self.unique]
        return f"{kind} of the ELBO (eigenvalue {self.saddle_eigenvalue:.3g}), {unique}"


def diagnose(
    game: Any,
    valuation: Valuation,
    *,
    starts: int = 8,
    players: Players | None = None,
    **options: Unpack[Keywords],
) -> Diagnosis:
    """Where the marginals of a valuation stand among the fixed points of their game.

    Costs one Hessian, the solutions from ``starts`` starts, and for tables one pass per
    pair of players.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> v = ff.variational_index([0, 1, 1, 0], temperature=0.2)
    >>> ff.diagnose([0, 1, 1, 0], v).unique
    False
    """
    if valuation.temperature is None or valuation.marginals is None:
        raise ValueError(
            f"{valuation.criterion} was found without a temperature, which fixed points depend on; value the "
            "game with temperature=; v.stop and v.stderr say how far these values can be trusted"
        )
    if valuation.batch:
        raise ValueError("a batch is diagnosed game by game; pass one game and v[i]")
    temperature = float(valuation.temperature)
    problem = resolve(game, players, temperature, options)
    if problem.game.players != valuation.players or problem.game.batch:
        raise ValueError("the valuation is of other players, or of another number of games")
    starts = whole("starts", starts)
    problem.check_exact()
    extension, x = problem.extension, valuation.marginals
    prior = prior_logits(valuation.prior, extension.players)
    shift = 0.0 if prior is None else prior
    pull = extension.gradient(x) / temperature + shift
    eigenvalues = np.linalg.eigvalsh(response(extension, x)) / temperature
    points = start_points(starts, extension.players, problem.options.seed)
    found = [
        mean_field.solve(anderson, extension, start, np.asarray(temperature), prior)
        for start in points
    ]
    fixed = [each.x[0] for each in found if each.residual[0] <= CONVERGED]
    own = float(elbo(extension.centred(x)[0], log_odds(x), temperature, prior))
    uniqueness, modularity = _curvature(extension)
    return Diagnosis(
        temperature=temperature,
        residual=float(np.max(np.abs(expit(pull) - x))),
        saddle_eigenvalue=float(eigenvalues[-1] - 1),
        cycle_eigenvalue=float(eigenvalues[0]),
        uniqueness_temperature=uniqueness,
        modularity=modularity,
        bracket=None if modularity is None else _bracket(extension, temperature, modularity, shift),
        spread=max((float(np.max(np.abs(one - fixed[0]))) for one in fixed), default=0.0),
        better=max(0.0, *(float(each.elbo[0]) - own for each in found)),
    )


def _curvature(extension: Extension) -> tuple[float | None, str | None]:
    """The uniqueness temperature, and whether the game is sub- or supermodular."""
    if not isinstance(extension, TableExtension):
        return None, None
    least, largest = extension.second_differences()
    bound = float(np.maximum(-least, largest).sum(axis=-1).max() / 4)
    submodular = largest.max() <= extension.rounding
    supermodular = least.min() >= -extension.rounding
    if submodular and supermodular:
        return bound, "modular"
    return bound, "submodular" if submodular else "supermodular" if supermodular else None


def _bracket(
    extension: Extension, temperature: float, modularity: str, shift: float | FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds on every fixed point: ∇f falls in x when submodular, rises when supermodular."""
    low, high = np.zeros(extension.players), np.ones(extension.players)
    for _ in range(BRACKET_STEPS):
        pulls = extension.gradient(np.stack([low, high])) / temperature
        at_low, at_high = expit(pulls + shift)
        moved = (at_high, at_low) if modularity == "submodular" else (at_low, at_high)
        change = max(np.max(np.abs(moved[0] - low)), np.max(np.abs(moved[1] - high)))
        low, high = moved
        if change <= 1e-13:
            break
    return low, high
