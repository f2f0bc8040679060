"""How much worths differ by size, beyond what a linear game says: where more coalitions tell most (Neyman, 1934)."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# What is thought of a size before any of it is drawn counts as so many draws.
EXPECTED = 4.0
# Fits, each weighted by what the one before found: a wild worth must not make all sizes look wild.
FITS = 3
# A fit takes time in the draws times the square of the players: some tenths of a second at most.
MOST = 3e8
# Residuals count as this at least, in units of the largest worth, and no draw is thought to fix its own fit.
SMALLEST, LEVERAGE = 1e-14, 0.9
# Surrogates explain much of what a linear game leaves, so that its root counts, but nothing of sizes that differ
# more than so many times as much as most do (measured).
WILD = 3.0
# Digits, so that games which differ in scale alone are asked for the same coalitions, and no size is left out.
DIGITS = 6


def spread_by_size(coalitions: BoolArray, worths: FloatArray, sizes: IntArray) -> FloatArray:
    """How much there is to learn of sizes 0 … n, by what linear games leave of worths (games, m): (n + 1,).

    All alike where there are too many coalitions (m, n) for that. ``sizes`` (m,) are those that coalitions
    are drawn by.
    """
    count, players = coalitions.shape
    if count * players**2 > MOST:
        return np.ones(players + 1)
    largest = np.abs(worths).max(axis=1, keepdims=True)
    y = (worths / np.where(largest > 0, largest, 1.0)).T
    columns = np.insert(np.where(coalitions, 0.5, -0.5), 0, 1.0, axis=1)
    drawn = np.bincount(sizes, minlength=players + 1)
    squares, found = np.ones(count), np.ones(players + 1)
    for _ in range(FITS):
        weighted = columns / found[sizes, None]
        gram = weighted.T @ columns
        inverse = np.linalg.pinv(gram, hermitian=True)
        own = np.minimum(np.sum((weighted @ inverse) * columns, axis=1), LEVERAGE)
        left = y - columns @ (inverse @ (weighted.T @ y))
        squares = np.mean(left**2, axis=1) / (1 - own) + SMALLEST**2
        typical = float(np.median(squares))
        found = np.bincount(sizes, squares, players + 1) + EXPECTED * typical
        found /= drawn + EXPECTED
    ratio = np.sqrt(found / typical)
    spread = np.maximum(np.sqrt(ratio), ratio / WILD)
    return np.asarray(np.maximum(np.round(spread / spread.max(), DIGITS), 0.1**DIGITS))
