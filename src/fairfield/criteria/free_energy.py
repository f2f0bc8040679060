"""The value that reverse KL, min KL(p ‖ q), assigns: no iteration, always unique."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from fairfield.criteria.setting import Setting
from fairfield.energy.partition import Partition
from fairfield.energy.temperature import OWN_SCALE, Temperature
from fairfield.evaluation.how import Keywords
from fairfield.extension.table import TableExtension
from fairfield.game import Players
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
    and two exponentials per worth.

    ``how``: the keywords of :class:`fairfield.How`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.free_energy_value([0, 0, 0, 1], temperature=1).values.round(4)
    array([0.6201, 0.6201])
    """
    setting = Setting.of(game, players, temperature, how, as_table=True)
    heat, table = setting.needs_heat(), setting.extension
    assert isinstance(table, TableExtension)  # what as_table promises
    odds = Partition(table, heat).log_odds()
    return setting.valuation("free_energy_value", np.asarray(heat)[..., None] * odds)
