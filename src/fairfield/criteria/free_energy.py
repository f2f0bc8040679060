"""The value that reverse KL, min KL(p ‖ q), assigns: no iteration, always unique."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from fairfield.criteria.setting import Setting
from fairfield.display import joined
from fairfield.energy.partition import Partition
from fairfield.energy.temperature import OWN_SCALE, Temperature
from fairfield.evaluation.how import How, Keywords
from fairfield.evaluation.memory import table_refused
from fairfield.game import Players
from fairfield.given_games import as_game
from fairfield.valuation import Valuation


def free_energy_value(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **how: Unpack[Keywords],
) -> Valuation:
    """T·logit p_i = T [log Σ_{S∋i} exp(F/T) - log Σ_{S∌i} exp(F/T)], p_i the true marginal.

    The difference of two free energies; tends to Banzhaf's value as T grows and to
    max_{S∋i} F - max_{S∌i} F as T falls. Its sums have no closed form: it needs the table,
    and two exponentials per worth. A game with a closed form and too many players for a
    table is sampled as by :class:`~fairfield.Boltzmann`, and values have standard errors.

    ``how``: the keywords of :class:`fairfield.How`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.free_energy_value([0, 0, 0, 1], temperature=1).values.round(4)
    array([0.6201, 0.6201])
    """
    if not isinstance(game, Setting):
        game, players = as_game(game, players), None
    setting = Setting.of(game, players, temperature, how, as_table=not _sampled(game, how))
    heat, law = setting.needs_heat(), setting.law()
    if isinstance(law, Partition):
        return setting.valuation("free_energy_value", np.asarray(heat)[..., None] * law.log_odds())
    odds, errors = law.log_odds()
    return setting.valuation(
        "free_energy_value",
        heat * odds,
        stderr=heat * errors,
        method=f"{setting.extension.method}, its law sampled",
        stops=np.array(joined([f"{law.samples:,} samples of the law", *law.warnings])),
    )


def _sampled(game: Any, how: Keywords) -> bool:
    """Whether the law must be sampled: a closed form, and no table within reach."""
    played, wishes = (game.game, game.how) if isinstance(game, Setting) else (game, How())
    return played.extension() is not None and table_refused(played, wishes.changed(how))
