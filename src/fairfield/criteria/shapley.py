"""Shapley's value, which shares out F(N) - F(∅)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


@register
@dataclass(frozen=True)
class Shapley(Criterion):
    """∫₀¹ ∇f(t, …, t) dt."""

    name = "shapley"
    meaning = (
        "What a player adds on average over all orders of joining; the values sum to F(N) − F(∅)."
    )

    def exact(self, problem: Problem) -> Valuation:
        """One pass over a table; Gauss–Legendre along the diagonal of a closed form."""
        extension = problem.extension
        return assemble(
            problem, self.name, extension.shapley(), covariance=extension.shapley_covariance()
        )

    def estimator(self, problem: Problem) -> Estimator:
        """A prior over games, or regression on pairs after a surrogate, by default."""
        count, name = len(problem.game.players), self.name
        shares = np.full(count, 1 / count)
        return estimator_of(problem, name, name, criterion=name, shares=shares)


def shapley(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """Sh_i = ∫₀¹ ∂_i f(t, …, t) dt: the mean marginal contribution over random orders.

    Weights 1/(n C(n-1, |S|)). One pass over a table, O(2^n).

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.shapley(lambda S: S.sum(axis=1) >= 2, players=["ann", "bob", "eve"]).values.round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    return value(Shapley(), game, players, temperature, options)
