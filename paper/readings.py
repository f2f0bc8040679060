"""The paper's table of convergence, whose header does not say what it holds: how it may be read."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray

WHERE = "Table 1, convergence"
# What the table may hold: iterations counted from 0, and whether ‖Δx‖ is squared.
READINGS = {
    "‖Δx‖²/n, steps counted from 1, as its header says": ((0, 1, 2, 4, 8, 9), True),
    "‖Δx‖²/n, iterations 0, 2, 3, 5, 9, 10": ((0, 2, 3, 5, 9, 10), True),
    "‖Δx‖/n, iterations 0, 2, 3, 5, 9, 10": ((0, 2, 3, 5, 9, 10), False),
}
HEADER, _, NORM = READINGS
# Below this the printed numbers are rounding.
ROUNDING = 1e-12


def read(moved: FloatArray, players: int, reading: str) -> FloatArray:
    """The six columns of the table, from ‖x^k - x^(k-1)‖²/n of every step (steps, …)."""
    iterations, squared = READINGS[reading]
    shown = moved[list(iterations)]
    return shown if squared else np.sqrt(shown / players)


def factor(ours: ArrayLike, theirs: ArrayLike, above: float = ROUNDING) -> FloatArray:
    """By what factor a line (6, …) is off at most, where the printed numbers are above some."""
    printed = np.asarray(theirs, dtype=float)
    kept = printed > above
    own = np.maximum(np.asarray(ours, dtype=float)[kept], np.finfo(float).tiny)
    target = printed[kept].reshape(-1, *[1] * (own.ndim - 1))
    return np.asarray(np.exp(np.abs(np.log(own / target)).max(axis=0)))
