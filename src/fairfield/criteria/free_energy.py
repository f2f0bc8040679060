"""The value that reverse KL, min KL(p ‖ q), assigns: no iteration, always unique."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from fairfield.boltzmann.exact import Partition
from fairfield.boltzmann.temperature import OWN_SCALE, Temperature
from fairfield.core.game import Players
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.multilinear.choose import table_refused
from fairfield.problem import Problem
from fairfield.results.display import joined
from fairfield.results.valuation import Valuation


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
    if not isinstance(game, Problem):
        game, players = as_game(game, players), None
    problem = Problem.of(game, players, temperature, options, as_table=not _sampled(game, options))
    T, law = problem.needs_temperature(), problem.law()
    if isinstance(law, Partition):
        return problem.valuation("free_energy_value", np.asarray(T)[..., None] * law.log_odds())
    odds, errors = law.log_odds()
    return problem.valuation(
        "free_energy_value",
        T * odds,
        stderr=T * errors,
        method=f"{problem.extension.method}, its law sampled",
        stops=np.array(joined([f"{law.samples:,} samples of the law", *law.warnings])),
    )


def _sampled(game: Any, options: Keywords) -> bool:
    """Whether the law must be sampled: a closed form, and no table within reach."""
    played, chosen = (game.game, game.options) if isinstance(game, Problem) else (game, Options())
    return played.extension() is not None and table_refused(played, chosen.changed(options))
