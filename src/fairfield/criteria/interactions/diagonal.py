"""Interactions that read ∂_A f at points of the diagonal: all that treat players alike.

With g(t) = ∂_A f(t, …, t), Shapley's interaction is ∫ g, Banzhaf's g(½), Harsanyi's dividend g(0).
Any index that is linear in the game and symmetric is a weighted sum of g at enough points, and
weights that depend on |A| are all that distinguishes one from another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, TypeAlias

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension, legendre
from fairfield.criteria.interactions.criterion import InteractionCriterion, Place, Read, register
from fairfield.multilinear import size_weights
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem

# Points of the diagonal and the weights of ∂_A f there.
Rule: TypeAlias = tuple[FloatArray, FloatArray]

# Lists of coalitions longer than this are refused unless they are named.
MOST_COALITIONS = 100_000


class Diagonal(InteractionCriterion):
    """Interactions by a rule for each size: where ∂_A f is read, and with which weights."""

    searchable = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        """Points and weights for coalitions of this size, exact where g has this degree."""
        raise NotImplementedError

    def exact(self, problem: Problem, sets: Sequence[Place], order: int) -> Read:
        extension, sizes = problem.extension, {len(each) for each in sets}
        if len(sizes) == 1:
            (size,) = sizes
            return _read(extension, sets, self.rule(size, order, max(0, extension.degree - size)))
        values = np.zeros((*extension.batch, len(sets)))
        stderr = np.zeros_like(values)
        for size in sizes:
            which = [k for k, each in enumerate(sets) if len(each) == size]
            values[..., which], stderr[..., which], _ = self.exact(
                problem, [sets[k] for k in which], order
            )
        return Read(values, stderr)

    def points(self, problem: Problem, order: int) -> tuple[FloatArray, FloatArray]:
        extension = problem.extension
        at, shares = self.rule(2, order, max(0, extension.degree - 2))
        return np.outer(at, np.ones(extension.players)), shares


def _read(extension: Extension, sets: Sequence[Place], rule: Rule) -> Read:
    """Σ_k w_k ∂_A f(t_k, …, t_k) of coalitions of one size, all of that size at once where it pays."""
    players, size = extension.players, len(sets[0])
    if _all_at_once(extension, len(sets), size):
        found = extension.derivatives_along_diagonal(*rule, size)
        every = list(combinations(range(players), size))
        some: Any = slice(None)
        if sets != every:
            place = {each: k for k, each in enumerate(every)}
            some = [place[tuple(sorted(each))] for each in sets]
        if not isinstance(extension, TableExtension) or extension.noise is None:
            return Read(found[..., some])
        weights = size_weights.diagonal_weights(players, *rule, size)
        variances = size_weights.interaction_variances(extension.noise, weights, size)
        return Read(found[..., some], np.sqrt(np.maximum(variances[..., some], 0.0)))
    steps = [(np.full(players, t), w) for t, w in zip(*rule, strict=True)]
    values = [sum(w * extension.derivative(each, x) for x, w in steps) for each in sets]
    return Read(np.stack(values, axis=-1))


def _all_at_once(extension: Extension, count: int, size: int) -> bool:
    """Whether all coalitions of this size cost less than so many one by one."""
    players = extension.players
    if size == 1:
        return True
    if isinstance(extension, TableExtension):
        # One by one a pass for each point, else about one for each 16 columns.
        passed_on = extension.noise is not None
        return passed_on or comb(extension.low, size - 1) <= 16 * count
    # One by one 2^size values, else C(n, size-2) times 2^(size-2) Hessians of 2n gradients.
    fewer = 2 * count > players * comb(players, size - 2)
    return fewer and comb(players, size) <= MOST_COALITIONS


@register
class Shapley(Diagonal):
    """∫ g(t) dt."""

    name = "shapley"
    meaning = "What the players add together beyond their parts, all sizes of coalitions alike."

    def rule(self, size: int, order: int, degree: int) -> Rule:
        return legendre(degree)


@register
class Banzhaf(Diagonal):
    """g(½)."""

    name = "banzhaf"
    meaning = "What the players add together beyond their parts, all coalitions alike."

    def rule(self, size: int, order: int, degree: int) -> Rule:
        return np.array([0.5]), np.ones(1)
