"""Banzhaf's value, the gradient of the extension at ½."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble_gradient
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.criteria.semivalue import size_shares
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import estimator_of
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation


@register
@dataclass(frozen=True)
class Banzhaf(Criterion):
    """∇f(½)."""

    name = "banzhaf"
    meaning = "What a player adds on average over all coalitions of the others."
    settles = True

    def exact(self, problem: Problem) -> Valuation:
        """One gradient."""
        return assemble_gradient(problem, self.name, 0.5)

    def estimator(self, problem: Problem) -> Estimator:
        """A prior over games, or regression on pairs after a surrogate, by default."""
        count, name = len(problem.game.players), self.name
        shares = size_shares(np.full(count, 0.5 ** (count - 1)), count)
        return estimator_of(problem, name, name, criterion=name, shares=shares)


def banzhaf(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """Ba_i = ∂_i f(½): the mean marginal contribution over all coalitions alike.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.banzhaf(lambda S: S @ [2, 1, 1] >= 3, players=3).values
    array([0.75, 0.25, 0.25])
    """
    return value(Banzhaf(), game, players, temperature, options)
