"""Leave-one-out, the gradient of the extension at 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble, assemble_few, assemble_gradient
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.arrays import BoolArray, slabs
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.samplers.registry import check_sampler
from fairfield.estimation.whole import worths_of
from fairfield.evaluation.kept import pack
from fairfield.evaluation.options import Keywords
from fairfield.multilinear.row_errors import gradient_coefficients
from fairfield.problem import Problem
from fairfield.results.valuation import Valuation, as_number


@register
@dataclass(frozen=True)
class LeaveOneOut(Criterion):
    """∇f(1) = F(N) - F(N - i)."""

    name = "leave_one_out"
    meaning = "What is lost when this player alone leaves the grand coalition."

    def worths_read(self, problem: Problem) -> int:
        """n + 2, which are not listed for that: of 20 000 players it takes seconds."""
        count = len(problem.game.players)
        return 2**count if self.needs_all(problem) else count + 2

    def prepare(self, problem: Problem) -> Problem:
        """Refuse a budget below n + 2, or a table out of reach where one is needed."""
        if self.needs_all(problem):
            return super().prepare(problem)
        needed = self.worths_read(problem)
        if problem.options.budget is not None and problem.options.budget < needed:
            raise ValueError(
                f"{problem.game!r}: leaving each player out needs {needed:,} worths, the budget "
                f"allows {problem.options.budget:,}; raise it"
            )
        check_sampler(problem.options.sampler)
        return problem

    def is_estimated(self, problem: Problem) -> bool:
        """Never: n + 2 worths are enough."""
        return False

    def needs_all(self, problem: Problem) -> bool:
        """Where they are known anyway, or a temperature asks for a decoupling error."""
        return problem.source.evaluated or not (problem.estimated or problem.given is None)

    def coalitions_read(self, problem: Problem) -> BoolArray | None:
        """∅, every N - i, and N."""
        count = len(problem.game.players)
        nobody = np.zeros((1, count), dtype=bool)
        few = np.vstack([nobody, ~np.eye(count, dtype=bool), ~nobody])
        return None if self.needs_all(problem) else few

    def exact(self, problem: Problem) -> Valuation:
        """One gradient, where the extension is read anyway and the game was not rounded for it; else n + 2 worths."""
        few = self.coalitions_read(problem)
        if few is None:
            return (
                _of_rounded(problem)
                if problem.extension.coarseness
                else assemble_gradient(problem, self.name, 1.0)
            )
        count = len(problem.game.players)
        found, spent = worths_of(problem, few, "values by leaving each player out")
        worths, variances = found.worths, found.variances
        values, covariance = worths[..., -1:] - worths[..., 1:-1], None
        if variances is not None:
            # Every value has F(N) in it, and its own F(N - i).
            covariance = variances[..., 1:-1, None] * np.eye(count) + variances[..., -1, None, None]
        if spent.by_row is not None and spent.by_row.covers(pack(few)):
            # All other coalitions have no weight in ∇f(1).
            over_rows = spent.by_row.covariance(gradient_coefficients(np.ones(count)), count)
            over_rows = over_rows.reshape((*problem.game.batch, count, count))
            covariance = over_rows if covariance is None else covariance + over_rows
        return assemble_few(problem, self.name, values, covariance, worths, spent, "n + 2 worths")


def _of_rounded(problem: Problem) -> Valuation:
    """The values by worths of the game itself, where the closed form is of a rounded one.

    Of one coalition, rounding may turn many rows of an ensemble.
    """
    game, count = problem.game, len(problem.game.players)
    ends = game.worths(np.array([[False], [True]]).repeat(count, axis=1))
    without = [
        game.worths(np.arange(count)[some, None] != np.arange(count))
        for some in slabs(count, count)
    ]
    empty, grand = ends[..., 0], ends[..., 1]
    values = grand[..., None] - np.concatenate(without, axis=-1)
    return assemble(
        problem,
        LeaveOneOut.name,
        values,
        method="n + 2 worths",
        empty=as_number(empty),
        grand=as_number(grand),
    )


def leave_one_out(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature | None = None,
    **options: Unpack[Keywords],
) -> Valuation:
    """∂_i f(1) = F(N) - F(N - i): what is lost when one player leaves.

    Without a temperature n + 2 worths are enough, for any number of players.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.leave_one_out(lambda S: S.any(axis=1), players=2).values
    array([0., 0.])
    """
    return value(LeaveOneOut(), game, players, temperature, options)
