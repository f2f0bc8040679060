"""The two recursions of :mod:`fairfield.games.textbook.weighted_sums` as one loop of machine code.

Sums that the players before i cannot reach, and sums from which those from i on cannot
change the worth, are left out: half of them in a vote. Needs numba.
"""

from __future__ import annotations

import numba
import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray


# Dot products may be added up in any order, else they are not vectorised.
@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def value_and_slopes(
    x: FloatArray,  # (points, n)
    weights: IntArray,  # (games, n)
    absent: BoolArray,  # (games, n)
    worths: FloatArray,  # (games, sums)
) -> tuple[FloatArray, FloatArray]:
    """Σ_g E φ_g(Σ w_gi y_gi) at each point, and its gradient."""
    games, width = worths.shape
    points, n = x.shape
    value, gradient = np.zeros(points), np.zeros((points, n))
    chance = np.empty(n)
    low, top = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    # Row i is the distribution of the sum of the players before i, cut at the last sum.
    before = np.empty((n, width))
    now, new = np.empty(width), np.empty(width)
    for g in range(games):
        first = 0  # the last sum below which the worth is that of 0
        while first < width - 1 and worths[g, first + 1] == worths[g, 0]:
            first += 1
        top[0], rest = 0, 0
        for i in range(n):
            rest += weights[g, i]
            top[i + 1] = min(width - 1, rest)
        for i in range(n):
            low[i] = min(max(0, first + 1 - rest), width - 1)
            rest -= weights[g, i]
        low[n] = 0
        for p in range(points):
            for i in range(n):
                chance[i] = 1 - x[p, i] if absent[g, i] else x[p, i]
            before[0, 0] = 1.0
            for i in range(n - 1):
                step, c = min(weights[g, i], width - 1), chance[i]
                old, after = before[i], before[i + 1]
                reach = top[i]
                after[: top[i + 1] + 1] = 0.0
                for k in range(low[i], reach + 1):
                    after[k] = (1 - c) * old[k]
                inside = min(reach + 1, width - step)
                for k in range(low[i], inside):
                    after[k + step] += c * old[k]
                for k in range(max(low[i], inside), reach + 1):
                    after[width - 1] += c * old[k]
            now[:] = worths[g]
            new[:] = worths[g]
            final = worths[g, width - 1]
            for i in range(n - 1, -1, -1):
                step, c = min(weights[g, i], width - 1), chance[i]
                held = before[i]
                slope = 0.0
                inside = min(top[i] + 1, width - step)
                for k in range(low[i], inside):
                    gain = now[k + step] - now[k]
                    slope += held[k] * gain
                    new[k] = now[k] + c * gain
                for k in range(max(low[i], inside), top[i] + 1):
                    gain = final - now[k]
                    slope += held[k] * gain
                    new[k] = now[k] + c * gain
                gradient[p, i] += -slope if absent[g, i] else slope
                now, new = new, now
            value[p] += now[0]
    return value, gradient
