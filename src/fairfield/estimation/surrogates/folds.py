"""Folds of coalitions, each of which is left out once while a surrogate is fitted to the others."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import IntArray

FOLDS = 5
# A surrogate that leaves so many times what another does is not fitted to the end.
HOPELESS = 2.0


def folds(groups: IntArray, seed: int) -> IntArray:
    """The number of each one's fold, (m,); those of one of the ``groups`` (m,), from 0 on, share it."""
    return np.asarray(
        (np.random.default_rng(seed).permutation(int(groups.max()) + 1) % FOLDS)[groups]
    )
