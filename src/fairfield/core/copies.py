"""Copies for functions of the user, which may write into their arguments."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray
from fairfield.core.game import Game, Measured


def lent(table: Any) -> Any:
    """A copy of rows or labels, of any library; the thing itself where it has no copies.

    >>> import numpy as np
    >>> ours = np.array([3, 1, 2])
    >>> lent(ours).sort()
    >>> ours.tolist()
    [3, 1, 2]
    """
    if isinstance(table, list | tuple):
        return deepcopy(table)  # their own copies share the rows
    for name in ("clone", "copy"):  # PyTorch's and Polars' word for it, and everyone else's
        if hasattr(table, name):
            return getattr(table, name)()
    return table


def measured(game: Game, coalitions: BoolArray) -> Measured:
    """What the game measures, whatever it does to its argument or its answer later."""
    found = game.measure(coalitions.copy())
    variances = None if found.variances is None else np.array(found.variances, dtype=float)
    by_row = None if found.by_row is None else np.array(found.by_row, dtype=float)
    return Measured(np.array(found.worths, dtype=float), variances, found.failures, by_row)
