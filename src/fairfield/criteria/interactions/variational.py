"""Interactions at the fixed point of the variational index."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.criteria.interactions.criterion import (
    InteractionCriterion,
    Place,
    Read,
    no_errors,
    register,
)
from fairfield.criteria.variational_index import VariationalIndex
from fairfield.problem import Problem


def index_of(problem: Problem, start: ArrayLike) -> FloatArray:
    """The marginals of the variational index."""
    found = VariationalIndex(start).exact(problem.changed({"decoupling": False}))
    return np.asarray(found.marginals)


@register
class Variational(InteractionCriterion):
    """∂_A f at x*."""

    name = "variational_index"
    meaning = "What the players add together beyond their parts, in coalitions that do well."
    thermal = True
    searchable = True

    def points(self, problem: Problem, order: int) -> tuple[FloatArray, FloatArray]:
        return index_of(problem, self.start)[None], np.ones(1)

    def exact(self, problem: Problem, sets: Sequence[Place], order: int) -> Read:
        extension, x = problem.extension, index_of(problem, self.start)
        if order == 2 and len(sets) == comb(extension.players, 2):
            first, second = np.array(sets).T
            values = extension.hessian(x)[..., first, second]
        else:
            values = np.stack([extension.derivative(each, x) for each in sets], axis=-1)
        return Read(values, no_errors(extension))
