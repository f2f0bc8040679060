"""What a coalition is together in the law p(S) ∝ exp(F(S)/T), beyond its players apart.

The log-odds interaction asks the law itself; the variational index's reads ∂_A f at the product
law x* nearest to it; the block gain asks what that product law loses by taking the coalition apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.marginal import marginalised
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.core.arrays import FloatArray, on_host
from fairfield.core.coalitions import enumerate_coalitions, sizes
from fairfield.core.combined import CombinedExtension
from fairfield.core.extension import Extension
from fairfield.core.special import log_sum_exp
from fairfield.criteria.interactions.criterion import (
    InteractionCriterion,
    Place,
    Read,
    no_errors,
    register,
)
from fairfield.criteria.variational_index import VariationalIndex
from fairfield.games.given.conditioned import ConditionedExtension
from fairfield.mcmc.jackknife import Jackknifed
from fairfield.mean_field import solvers as mean_field
from fairfield.mean_field.anderson import anderson
from fairfield.mean_field.elbo import entropy, log_odds
from fairfield.multilinear.table import TableExtension
from fairfield.problem import Problem

# Rounds of the block's law and the others' in turn, and the gain at which they end.
ROUNDS, SETTLED = 200, 1e-12


@register
class LogOdds(InteractionCriterion):
    """T Σ_{L⊆A} (-1)^(|A|-|L|) log p(S∩A = L), with a standard error where p is sampled.

    For a pair T·log(p₁₁p₀₀ / p₁₀p₀₁): 0 exactly where the players are independent. It is
    the derivative of the free energy F_M of A, in which the other players are summed over.
    One pass over the table for each coalition; pairs of sampled laws cost no more than
    the law.
    """

    name = "log_odds"
    meaning = "How much likelier the players join together than apart, in units of the worths."
    thermal = True

    def exact(self, problem: Problem, sets: Sequence[Place], order: int) -> Read:
        problem = problem.with_exact_law()
        if problem.source.tableless and any(len(each) != 2 for each in sets):
            raise ValueError(
                "log-odds interactions of more than two players need a table of all worths; "
                "of a sampled law ask for order=2"
            )
        law = problem.law()
        if isinstance(law, SampledLaw):
            return _sampled_pairs(law, sets)
        names, found = problem.game.players, []
        for each in sets:
            gone = ~np.isin(np.arange(len(names)), each)
            smaller = (
                marginalised(problem.played(), law, gone)[0] if gone.any() else problem.played()
            )
            signs = np.where((len(each) - sizes(len(each))) % 2, -1.0, 1.0)
            found.append(on_host(smaller.table()) @ signs)
        values = np.stack(found, axis=-1)
        return Read(values, no_errors(problem.extension))


def _sampled_pairs(law: SampledLaw, sets: Sequence[Place]) -> Read:
    first, second = np.array(sets).T
    groups = np.stack(
        [
            (both[first, first], both[second, second], both[first, second])
            for both in law.estimates.pairs()
        ]
    )

    def odds(shares: FloatArray) -> FloatArray:
        one, other, both = np.moveaxis(shares, -2, 0)
        # One sample more in each of the four cases keeps those never seen finite.
        least = 1 / law.samples
        cells = [both, 1 - one - other + both, one - both, other - both]
        both_in, none, only_one, only_other = (np.log(np.maximum(c, 0) + least) for c in cells)
        return np.asarray(float(law.temperature) * (both_in + none - only_one - only_other))

    found = Jackknifed.mean(groups).through(odds)
    errors = law.run.trusted.inflation * found.stderr
    return Read(np.asarray(found.estimate), errors, "the law was sampled")


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


@register
class BlockGain(InteractionCriterion):
    """By how much the decoupling error falls when the players of A are kept together.

    KL(q ‖ p) of the product law that the index found from ``start``, less KL(q' ‖ p) of
    q'(S) = q_A(S∩A) Π_{i∉A} q_i(S), with any joint law q_A of the block, improved from q on:
    first q_A ∝ exp(E_q[F | A]/T), then the others by mean-field inference, in turn, each of
    which raises the ELBO. In nats, never
    negative, 0 for a null player beside any other. Costs 2^|A| solutions of the
    index for each coalition.
    """

    name = "block_gain"
    meaning = "By how many nats the decoupling error falls when the players are kept together."
    thermal = True

    def exact(self, problem: Problem, sets: Sequence[Place], order: int) -> Read:
        extension, temperature = problem.extension, problem.needs_temperature()
        count = int(np.prod(extension.batch, dtype=int))
        games = [_one(extension, g) for g in range(count)] if extension.batch else [extension]
        points = index_of(problem, self.start).reshape(count, -1)
        gains = [
            [_gain(game, each, x, T) for each in sets]
            for game, x, T in zip(games, points, temperature.reshape(count), strict=True)
        ]
        values = np.array(gains).reshape(*extension.batch, len(sets))
        return Read(values, no_errors(extension))


def _gain(extension: Extension, block: Place, x: FloatArray, temperature: float) -> float:
    inside = np.zeros(extension.players, dtype=bool)
    inside[list(block)] = True
    held = np.zeros((2 ** len(block), extension.players), dtype=bool)
    held[:, inside] = enumerate_coalitions(len(block))
    faces = [ConditionedExtension(extension, joined, inside) for joined in held]
    value, _ = extension.centred(x)
    start = float(value / temperature + entropy(log_odds(x)))
    others, best = x[~inside], -np.inf
    for _ in range(ROUNDS):
        values = np.array([float(face.centred(others)[0] / temperature) for face in faces])
        height = float(log_sum_exp(values))
        if len(others):
            height += float(entropy(log_odds(others)))
        if height <= best + SETTLED or not len(others):
            best = max(best, height)
            break
        best = height
        weights = np.exp(values - values.max())
        joint = weights / weights.sum()
        mean = CombinedExtension(list(zip(joint.tolist(), faces, strict=True)))
        others = mean_field.solve(anderson, mean, others, np.asarray(temperature), None).x[0]
    return max(0.0, float(best - start))


def index_of(problem: Problem, start: ArrayLike | None) -> FloatArray:
    """The marginals of the variational index."""
    found = VariationalIndex(start).exact(problem.changed({"decoupling": False}))
    return np.asarray(found.marginals)


def _one(extension: Extension, game: int) -> Extension:
    """One game of a batch, without its batch axis."""
    row = extension.rows(slice(game, game + 1))
    if not isinstance(row, TableExtension):
        raise ValueError("block gains of a batch need tables; pass one game of the batch")
    return replace(row, batch=())
