"""The value that reverse KL, min KL(p ‖ q), assigns: no iteration, always unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from fairfield.assemble import assemble
from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Players
from fairfield.criteria.criterion import Criterion, register, value
from fairfield.evaluation.options import Keywords
from fairfield.problem import Problem
from fairfield.results.display import joined
from fairfield.results.valuation import Valuation


@register
@dataclass(frozen=True)
class FreeEnergyValue(Criterion):
    """T·logit p_i, with p_i the true marginal of p(S) ∝ exp(F(S)/T)."""

    name = "free_energy_value"
    meaning = (
        "How far the law of coalitions favours those with the player over those without, in the "
        "units of the worths."
    )
    temperature = OWN_SCALE
    errors = False

    def prepare(self, problem: Problem) -> Problem:
        """The table is needed, unless a closed form is too large for one and its law is sampled."""
        return super().prepare(problem.with_exact_law())

    def exact(self, problem: Problem) -> Valuation:
        """Sums of a table in the log domain, or estimates from samples of the law."""
        temperature, law = problem.needs_temperature(), problem.law()
        values = temperature[..., None] * law.log_odds
        if not law.samples:
            return assemble(problem, self.name, values)
        return assemble(
            problem,
            self.name,
            values,
            stderr=temperature * law.stderr("log_odds"),
            method=f"{problem.extension.method}, its law sampled",
            stops=np.array(joined([f"{law.samples:,} samples of the law", *law.warnings])),
        )


def free_energy_value(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **options: Unpack[Keywords],
) -> Valuation:
    """T·logit p_i = T [log Σ_{S∋i} exp(F/T) - log Σ_{S∌i} exp(F/T)], p_i the true marginal.

    The difference of two free energies; tends to Banzhaf's value as T grows and to
    max_{S∋i} F - max_{S∌i} F as T falls. Its sums have no closed form: it needs the table,
    and two exponentials per worth. A game with a closed form and too many players for a
    table is sampled as by :class:`~fairfield.Boltzmann`, and values have standard errors.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.free_energy_value([0, 0, 0, 1], temperature=1).values.round(4)
    array([0.6201, 0.6201])
    """
    return value(FreeEnergyValue(), game, players, temperature, options)
