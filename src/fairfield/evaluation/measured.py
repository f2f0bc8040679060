"""What is evaluated and kept of a coalition: its worth and, of a noisy game, a variance."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.game import Game


def measured_axes(game: Game) -> tuple[int, ...]:
    """The leading axes of what is kept: the batch, twice over where variances are kept too."""
    return (2, *game.batch) if game.noisy else game.batch


def measure(game: Game, coalitions: BoolArray) -> FloatArray:
    """The worths (*batch, m); of a noisy game worths and variances (2, *batch, m)."""
    if game.noisy:
        return np.stack(game.worths_and_variances(coalitions.copy())).astype(float)
    return worths_of(game, coalitions)


def worths_of(game: Game, coalitions: BoolArray) -> FloatArray:
    """The worths (*batch, m), whatever the game does to its argument and its answer later.

    It gets a copy, which it may write into, and so do we, as it may answer in one buffer
    again and again.
    """
    return np.array(game.worths(coalitions.copy()), dtype=float)
