"""Values of pairs of players in one line, and as matrices."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import compiled


@compiled
def pair_place(i: int, j: int) -> int:
    """The place of the pair i > j among all pairs."""
    return i * (i - 1) // 2 + j


def square(pairs: FloatArray, players: int) -> FloatArray:
    """Values of pairs, (…, pairs), as symmetric matrices: (…, players, players)."""
    matrix = np.zeros((*pairs.shape[:-1], players, players))
    second, first = np.tril_indices(players, -1)
    matrix[..., first, second] = matrix[..., second, first] = pairs
    return matrix
