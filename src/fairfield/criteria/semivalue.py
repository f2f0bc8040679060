"""Criteria that average marginal contributions with fixed weights by size.

    φ_i = Σ_{S ∌ i} w(|S|) [F(S+i) - F(S)],   Σ_s C(n-1, s) w(s) = 1.

Each is a reading of ∇f on the diagonal: Banzhaf at ½, leave-one-out at 1, Beta values
(Shapley among them) integrated against a Beta distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, inf
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.checks import number
from fairfield.core.game import Players
from fairfield.core.special import beta_nodes, log_beta
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.evaluation.options import Keywords
from fairfield.multilinear import size_weights
from fairfield.multilinear.parts import PartsExtension
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


@dataclass(frozen=True)
class Beta:
    """Size weights w(s) = B(s+b, n-1-s+a) / B(a, b); large a favours small coalitions."""

    a: float
    b: float

    def by_size(self, players: int) -> FloatArray:
        """The weight of one coalition of each size 0 … n-1."""
        size = np.arange(players)
        top, bottom = log_beta(size + self.b, players - 1 - size + self.a), log_beta(self.a, self.b)
        return np.asarray(np.exp(top - bottom))

    @property
    def as_criterion(self) -> Semivalue:
        """The semivalue with these weights, where a criterion is asked for."""
        return Semivalue(self)

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        """Points on the diagonal and weights: exact for polynomials of degree 2·count - 1."""
        return beta_nodes(count, self.b, self.a)  # the diagonal variable follows Beta(b, a)


Weights: TypeAlias = Beta | ArrayLike


def beta(a: float, b: float) -> Beta:
    """The weights of the Beta(a, b) value; beta(1, 1) is Shapley's.

    >>> beta(1, 1).by_size(3).round(4).tolist()
    [0.3333, 0.1667, 0.3333]
    """
    first, second = number(a, "a of beta(a, b)"), number(b, "b of beta(a, b)")
    if not (first > 0 and second > 0 and first + second < inf):
        raise ValueError(f"beta({a}, {b}): both numbers, and their sum, must be above 0 and finite")
    return Beta(first, second)


@register
@dataclass(frozen=True)
class Semivalue(Criterion):
    """Σ_{S ∌ i} w(|S|) [F(S+i) - F(S)]."""

    weights: Weights
    name = "semivalue"
    meaning = "What a player adds on average, coalitions weighted by their size."

    @property
    def label(self) -> str:
        """beta(a, b), or semivalue."""
        given = self.weights
        return f"beta({given.a:g}, {given.b:g})" if isinstance(given, Beta) else self.name

    def by_size(self, players: int) -> FloatArray:
        """The weight of one coalition of each size 0 … n-1, checked."""
        if isinstance(self.weights, Beta):
            return self.weights.by_size(players)
        return _checked(self.weights, players)

    def prepare(self, problem: Problem) -> Problem:
        """Refuse weights that are not those of a semivalue of these players."""
        self.by_size(len(problem.game.players))
        if problem.source.closed is not None and not isinstance(self.weights, Beta):
            raise ValueError(
                f"{problem.game!r} has a closed form, which is read with beta(a, b) weights but no "
                "others; use those, or a table of the game"
            )
        return super().prepare(problem)

    def exact(self, problem: Problem) -> Valuation:
        """One pass over a table, or small ones; Gauss–Jacobi along the diagonal of a closed form."""
        extension = problem.extension
        if isinstance(extension, PartsExtension):
            values = extension.semivalue(self.by_size(extension.players))
            return assemble(problem, self.label, values)
        if isinstance(extension, TableExtension):
            weights = self.by_size(extension.players)
            return assemble(
                problem,
                self.label,
                size_weights.semivalue(extension, weights),
                covariance=size_weights.semivalue_covariance(extension, weights),
            )
        assert isinstance(self.weights, Beta)  # others were refused
        at, shares = self.weights.nodes(-(-extension.degree // 2))
        return assemble(problem, self.label, extension.along_diagonal(at, shares))

    def estimator(self, problem: Problem) -> Estimator:
        """A prior over games, corrected size by size, by default."""
        count = len(problem.game.players)
        shares = size_shares(self.by_size(count), count)
        return estimator_of(problem, self.name, self.label, criterion=self.name, shares=shares)


def semivalue(
    game: Any,
    weights: Weights,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """Σ_{S ∌ i} w(|S|) [F(S+i) - F(S)] for weights by size, or for ``beta(a, b)``.

    ``weights[s]`` is the weight of one coalition of size s = 0 … n-1; a semivalue has
    Σ_s C(n-1, s) weights[s] = 1, and that is checked.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.semivalue(lambda S: S.any(axis=1), [0.25, 0.25, 0.25], players=3).values
    array([0.25, 0.25, 0.25])
    """
    return value(Semivalue(weights), game, players, temperature, options)


def size_shares(weights: ArrayLike, players: int) -> FloatArray:
    """C(n-1, s) w(s), the weight of all coalitions of each size together."""
    size = np.arange(players)
    log_counts = -log_beta(size + 1, players - size) - np.log(players)
    with np.errstate(divide="ignore"):  # a weight of 0 has a share of 0
        return np.asarray(np.exp(log_counts + np.log(weights)))


def _checked(weights: ArrayLike, players: int) -> FloatArray:
    try:
        given = np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"weights={weights!r} was given; pass beta(a, b), or {players} weights, for coalitions of "
            f"size 0 to {players - 1}"
        ) from None
    if given.shape != (players,) or not np.isfinite(given).all():
        raise ValueError(
            f"weights of shape {given.shape} were given; {players} players need {players} finite "
            f"weights, for coalitions of size 0 to {players - 1}"
        )
    total = float(given @ [comb(players - 1, size) for size in range(players)])
    if (given < 0).any() or not np.isclose(total, 1.0, rtol=1e-6):
        raise ValueError(
            f"the weights must be at least 0 and Σ_s C(n-1, s)·weights[s] must be 1, it is {total:g}; "
            "divide them by that"
        )
    return given
