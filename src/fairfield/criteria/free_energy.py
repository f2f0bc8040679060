"""The value that reverse KL, min KL(p ‖ q), assigns: no iteration, always unique."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.criteria.setting import Setting
from fairfield.energy.partition import Partition
from fairfield.energy.temperature import OWN_SCALE, Temperature
from fairfield.evaluation.how import How
from fairfield.extension.choose import table_of
from fairfield.extension.table import TableExtension
from fairfield.game import Players, as_game
from fairfield.valuation import Valuation


def free_energy_value(
    game: Any,
    *,
    players: Players | None = None,
    temperature: Temperature = OWN_SCALE,
    **how: Any,
) -> Valuation:
    """T·logit p_i = T [log Σ_{S∋i} exp(F/T) - log Σ_{S∌i} exp(F/T)], p_i the true marginal.

    The difference of two free energies; tends to Banzhaf's value as T grows and to
    max_{S∋i} F - max_{S∌i} F as T falls. Needs the table: two exponentials per worth.

    >>> import fairfield as ff
    >>> ff.free_energy_value([0, 0, 0, 1], temperature=1).values.round(4)
    array([0.6201, 0.6201])
    """
    if not isinstance(game, Setting):
        # The sums over all coalitions have no closed form: always go through the table.
        game, players = table_of(as_game(game, players), How.of(how))[0], None
    setting = Setting.of(game, players, temperature, how)
    heat = setting.needs_heat()
    extension = setting.extension
    if not isinstance(extension, TableExtension):
        extension = TableExtension.of(table_of(setting.game, setting.how)[0])
    odds = Partition(extension, heat).log_odds()
    return setting.valuation("free_energy_value", np.asarray(heat)[..., None] * odds)
