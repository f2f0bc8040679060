"""Owen's value: Shapley's, of players who join in nested unions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble, assemble_few
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Measured, Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.loop import Estimator
from fairfield.estimation.samplers.registry import check_sampler, estimator_of
from fairfield.estimation.whole import worths_of
from fairfield.evaluation.options import Keywords
from fairfield.multilinear.choose import too_many
from fairfield.multilinear.unions import (
    Family,
    Unions,
    UnionTree,
    all_worths_read,
    points_read,
    read_unions,
)
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation

# Without a budget at most so many worths, or gradients of a closed form, are read.
MOST_WORTHS, MOST_POINTS = 2**24, 2**16


@register
@dataclass(frozen=True)
class Owen(Criterion):
    """∫ ∂_i f, unions joining as a whole, over the times at which i and the unions of i join."""

    unions: Unions | UnionTree
    name = "owen"
    meaning = (
        "What a player adds on average over all orders of joining that keep the players of a union "
        "together; the values sum to F(N) − F(∅), and those of a union to what Shapley gives it."
    )

    def prepare(self, problem: Problem) -> Problem:
        """Refuse unions of unknown players, and more worths than are within reach."""
        check_sampler(problem.options.sampler, self.name, self.label)
        families = self._families(problem)
        most = MOST_POINTS if problem.source.tableless else MOST_WORTHS
        if not self.is_estimated(problem) and _needed(problem, families) > most:
            what = "gradients of the closed form" if problem.source.tableless else "worths"
            raise MemoryError(
                f"{problem.game!r}: exact values in these unions need {_needed(problem, families):,} "
                f"{what}; divide large unions, or give a budget= of worths to estimate from"
            )
        return problem

    def is_estimated(self, problem: Problem) -> bool:
        """Where coalitions of whole unions, and of players of one, are more than the limits allow."""
        options, source = problem.options, problem.source
        needed = _needed(problem, self._families(problem))
        if source.evaluated or source.tableless or not options.estimates:
            return options.estimates and needed > MOST_POINTS
        return too_many(needed, problem.game, options)

    def needs_all(self, problem: Problem) -> bool:
        """Only where a table is read; under a budget that may be as small as anyone's."""
        return problem.estimated or self.coalitions_read(problem) is None

    def coalitions_read(self, problem: Problem) -> BoolArray | None:
        """Those that orders come through, unless a table is read."""
        if problem.source.tableless:
            return None
        coalitions: BoolArray = all_worths_read(self._families(problem), len(problem.game.players))[
            0
        ]
        return None if _reads_table(problem, len(coalitions)) else coalitions

    def exact(self, problem: Problem) -> Valuation:
        """Gradients of a closed form, or the worths of the coalitions that orders come through."""
        families, source = self._families(problem), problem.source
        if source.tableless:
            return assemble(problem, self.name, _from_points(problem.extension, families))
        coalitions, weights = all_worths_read(families, len(problem.game.players))
        if _reads_table(problem, len(coalitions)):
            values, covariance = _summed(source.played().measure(coalitions), weights)
            return assemble(problem, self.name, values, covariance=covariance)
        found, spent = worths_of(problem, coalitions, "exact values in these unions")
        values, covariance = _summed(found, weights)
        # From ∅ to N, in which order coalitions are.
        method = f"{len(coalitions):,} worths"
        return assemble_few(problem, self.name, values, covariance, found.worths, spent, method)

    def estimator(self, problem: Problem) -> Estimator:
        """Surrogates, or random orders alone, by the sampler."""
        root = read_unions(self.unions, problem.game.players)
        return estimator_of(problem, self.name, self.label, root=root)

    def _families(self, problem: Problem) -> list[Family]:
        return list(read_unions(self.unions, problem.game.players).families())


def owen(
    game: Any,
    unions: Unions,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """The mean marginal contribution over random orders that keep every union together.

    ``unions`` are {union: players}, where the place of the players may be taken by unions in turn
    (Winter's value), or lists of players, or the union of each player, or a linkage of SciPy; whoever is
    in none joins alone. With unions M,
    a player of union k of u players has the value

        Σ_{B ⊆ M-k} Σ_{S ⊆ k-i} b! (m-1-b)!/m! s! (u-1-s)!/u! [F(∪B ∪ S ∪ i) - F(∪B ∪ S)].

    Exact from the worths of these coalitions, at most Σ_k 2^(m-1) 2^(u_k) where all have 2^n; a closed
    form needs Σ_k 2^(m-1) u_k/2 gradients, and so unions of any size. Under a smaller budget, 2n
    at least, it is estimated: by a surrogate, read along such orders and corrected by what it leaves along some.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> majority = ff.VotingGame([1, 1, 1], quota=2, players=["ann", "bob", "eve"])
    >>> ff.owen(majority, {"allies": ["ann", "bob"]}).values
    array([0.5, 0.5, 0. ])
    """
    return value(Owen(unions), game, players, temperature, options)


def _reads_table(problem: Problem, few: int) -> bool:
    """Whether there is a table, one is read for its own sake, or it has no more than so few worths."""
    source = problem.source
    whole = problem.given is not None or 2 ** len(problem.game.players) <= few
    return source.evaluated or (whole and not (problem.estimated or source.out_of_reach()))


def _needed(problem: Problem, families: list[Family]) -> int:
    """How many gradients, or worths, exact values are read from."""
    if problem.source.tableless:
        degree = problem.source.extension.degree if problem.source.closed else 10**9
        return sum(family.points(degree) for family in families)
    return sum(family.worths for family in families)


def _from_points(extension: Extension, families: list[Family]) -> FloatArray:
    """The values as sums of gradients."""
    values = np.zeros((*extension.batch, extension.players))
    for family in families:
        own = list(family.union.alone)
        for at, weight in points_read(family, extension.players, extension.degree):
            values[..., own] += weight * extension.gradient(at)[..., own]
    return values


def _summed(found: Measured, weights: Any) -> tuple[FloatArray, FloatArray | None]:
    """Σ_S c_i(S) F(S), and its covariance Σ_S V(S) c_i(S) c_j(S) where worths are noisy."""
    batch, count = found.worths.shape[:-1], weights.shape[1]
    values = (weights.T @ found.worths.reshape(-1, weights.shape[0]).T).T.reshape(*batch, count)
    if found.variances is None:
        return values, None
    each = found.variances.reshape(-1, weights.shape[0])
    joint = [(weights.T @ weights.multiply(noise[:, None])).toarray() for noise in each]
    return values, np.reshape(joint, (*batch, count, count))
