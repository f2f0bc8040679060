"""Leave-one-out, the gradient of the extension at 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble_gradient, marginals, write
from fairfield.boltzmann.temperature import Temperature
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.estimation.pace import check_time
from fairfield.estimation.samplers.registry import check_sampler
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

    def prepare(self, problem: Problem) -> Problem:
        """Refuse a budget below n + 2, or a table out of reach where one is needed."""
        needed = self.worths_read(problem)
        if self.needs_all(problem):
            return super().prepare(problem)
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

    def worths_read(self, problem: Problem) -> int:
        """All, or n + 2."""
        count = len(problem.game.players)
        return super().worths_read(problem) if self.needs_all(problem) else count + 2

    def exact(self, problem: Problem) -> Valuation:
        """One gradient, where the extension is read anyway; else n + 2 worths."""
        if self.needs_all(problem):
            return assemble_gradient(problem, self.name, 1.0)
        return self._near_grand(problem)

    def _near_grand(self, problem: Problem) -> Valuation:
        """From F(∅), F(N) and every F(N - i)."""
        count = len(problem.game.players)
        nobody = np.zeros((1, count), dtype=bool)
        coalitions = np.vstack([nobody, ~nobody, ~np.eye(count, dtype=bool)])
        before = 0 if problem.evaluator is None else problem.evaluator.evaluations
        with problem.evaluating() as evaluator:
            check_time(evaluator, coalitions, len(coalitions))
            found = evaluator.measure(coalitions)
        if found.worths.shape[-1] < len(coalitions):
            raise evaluator.stopped(f"leaving each player out needs {len(coalitions)} worths")
        worths, variances = found.worths, found.variances
        values, covariance = worths[..., 1:2] - worths[..., 2:], None
        if variances is not None:
            # Every value has F(N) in it, and its own F(N - i).
            covariance = variances[..., 2:, None] * np.eye(count) + variances[..., 1, None, None]
        by_row = evaluator.by_row
        if by_row is not None and by_row.covers(pack(coalitions)):
            # All other coalitions have no weight in ∇f(1).
            over_rows = by_row.covariance(gradient_coefficients(np.ones(count)), count)
            over_rows = over_rows.reshape((*problem.game.batch, count, count))
            covariance = over_rows if covariance is None else covariance + over_rows
        stop = "; ".join(["exact", *found.failures.sentences()])
        return write(
            problem,
            self.name,
            values,
            covariance,
            method="n + 2 worths",
            empty=as_number(worths[..., 0]),
            grand=as_number(worths[..., 1]),
            stops=np.full(problem.game.batch, stop),
            evaluations=evaluator.evaluations - before,
            usage=found.failures.usage.facts(),
            **marginals(problem, values),
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
