"""The Möbius transform of a game: Harsanyi's dividends."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from fairfield.core.arrays import FloatArray, on_host
from fairfield.core.game import Players
from fairfield.evaluation.options import Keywords, Options
from fairfield.games.given.convert import as_game
from fairfield.multilinear.choose import table_of


def moebius(
    game: Any, *, players: Players | None = None, **options: Unpack[Keywords]
) -> FloatArray:
    """a(S) = Σ_{R⊆S} (-1)^(|S|-|R|) F(R), in table order: F(S) = Σ_{R⊆S} a(R).

    O(n 2^n), on a copy of the table.

    ``options``: the keywords of :class:`fairfield.Options`, as budget, store and n_jobs.

    >>> import fairfield as ff
    >>> ff.moebius([0, 1, 1, 5])
    array([0., 1., 1., 3.])
    """
    table = table_of(as_game(game, players), Options().changed(options))[0]
    dividends = np.array(on_host(table.worth_table), dtype=float)
    for i in range(len(table.players)):
        halves = dividends.reshape(-1, 2, 2**i)
        halves[:, 1] -= halves[:, 0]
    return dividends
