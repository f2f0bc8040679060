"""Owen's value: Shapley's, of players who join in nested unions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble, marginals, write
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension
from fairfield.core.game import Measured, Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.loop import Estimator
from fairfield.estimation.pace import check_time
from fairfield.estimation.samplers.registry import check_sampler, estimator_of
from fairfield.evaluation.kept import pack
from fairfield.evaluation.options import Keywords
from fairfield.multilinear.choose import too_many
from fairfield.multilinear.unions import (
    Family,
    Unions,
    UnionTree,
    points_read,
    read_unions,
    worths_read,
)
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation, as_number

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

    def worths_read(self, problem: Problem) -> int:
        """Those of the coalitions that orders come through, or all for a temperature."""
        every, families = super().worths_read(problem), self._families(problem)
        if problem.given is not None and not problem.source.out_of_reach():
            return every
        return min(every, len(_distinct(families, len(problem.game.players))[0]))

    def exact(self, problem: Problem) -> Valuation:
        """Gradients of a closed form, or the worths of the coalitions that orders come through."""
        families, source = self._families(problem), problem.source
        if source.tableless:
            return assemble(problem, self.name, _from_points(problem.extension, families))
        coalitions, weights = _distinct(families, len(problem.game.players))
        evaluations = None
        # A table that is read for its own sake, or that has no more worths, has all of these.
        whole = problem.given is not None or 2 ** len(problem.game.players) <= len(coalitions)
        if source.evaluated or (whole and not problem.estimated and not source.out_of_reach()):
            found = source.played().measure(coalitions)
        else:
            found, evaluations = _evaluated(problem, coalitions)
        values, covariance = _summed(found, weights)
        if evaluations is None:
            return assemble(problem, self.name, values, covariance=covariance)
        ends = [np.flatnonzero((coalitions == joined).all(axis=1))[0] for joined in (False, True)]
        empty, grand = (as_number(found.worths[..., at]) for at in ends)
        stop = "; ".join(["exact", *found.failures.sentences()])
        return write(
            problem,
            self.name,
            values,
            covariance,
            method=f"{len(coalitions):,} worths",
            empty=empty,
            grand=grand,
            stops=np.full(problem.game.batch, stop),
            evaluations=evaluations,
            usage=found.failures.usage.facts(),
            **marginals(problem, values),
        )

    def estimator(self, problem: Problem) -> Estimator:
        """Random orders that keep every union together."""
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
    (Winter's value), or the union of each player, or a linkage of SciPy; whoever is in none joins
    alone. With unions M,
    a player of union k of u players has the value

        Σ_{B ⊆ M-k} Σ_{S ⊆ k-i} b! (m-1-b)!/m! s! (u-1-s)!/u! [F(∪B ∪ S ∪ i) - F(∪B ∪ S)].

    Exact from the worths of these coalitions, at most Σ_k 2^(m-1) 2^(u_k) where all have 2^n; a closed
    form needs Σ_k 2^(m-1) u_k/2 gradients, and so unions of any size. Under a smaller budget it is
    estimated from such orders.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> majority = ff.VotingGame([1, 1, 1], quota=2, players=["ann", "bob", "eve"])
    >>> ff.owen(majority, {"allies": ["ann", "bob"]}).values
    array([0.5, 0.5, 0. ])
    """
    return value(Owen(unions), game, players, temperature, options)


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


def _distinct(families: list[Family], count: int) -> tuple[Any, Any]:
    """All coalitions of the families, each once, and their weights as a sparse matrix (m, n)."""
    from scipy import sparse

    rows, columns, weights, coalitions = [], [], [], []
    before = 0
    for family in families:
        own, shares = worths_read(family, count)
        coalitions.append(own)
        rows.append(np.repeat(before + np.arange(len(own)), shares.shape[1]))
        columns.append(np.tile(family.union.alone, len(own)))
        weights.append(shares.ravel())
        before += len(own)
    every = np.concatenate(coalitions)
    _, first, which = np.unique(pack(every), return_index=True, return_inverse=True)
    where = which.ravel()[np.concatenate(rows)], np.concatenate(columns)
    # Entries of one place are summed.
    shares = sparse.coo_array((np.concatenate(weights), where), shape=(len(first), count)).tocsr()
    return every[first], shares


def _evaluated(problem: Problem, coalitions: Any) -> tuple[Measured, int]:
    """The worths of these coalitions, and how many of them had to be evaluated."""
    before = 0 if problem.evaluator is None else problem.evaluator.evaluations
    with problem.evaluating() as evaluator:
        check_time(evaluator, coalitions, len(coalitions))
        found = evaluator.measure(coalitions)
    if found.worths.shape[-1] < len(coalitions):
        raise evaluator.stopped(f"exact values in these unions need {len(coalitions):,} worths")
    return found, evaluator.evaluations - before


def _summed(found: Measured, weights: Any) -> tuple[FloatArray, FloatArray | None]:
    """Σ_S c_i(S) F(S), and its covariance Σ_S V(S) c_i(S) c_j(S) where worths are noisy."""
    batch, count = found.worths.shape[:-1], weights.shape[1]
    values = (weights.T @ found.worths.reshape(-1, weights.shape[0]).T).T.reshape(*batch, count)
    if found.variances is None:
        return values, None
    each = found.variances.reshape(-1, weights.shape[0])
    joint = [(weights.T @ weights.multiply(noise[:, None])).toarray() for noise in each]
    return values, np.reshape(joint, (*batch, count, count))
