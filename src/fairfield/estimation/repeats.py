"""Which coalitions of a noisy service to ask again, rather than new ones.

Of a semivalue with weights p(k), all coalitions of a size s being known, an answer for S adds

    w(s) v_S / r_S   to Σ_i Var φ_i,   w(s) = s p(s-1)² + (n-s) p(s)²,

with v_S the variance of one answer and r_S how many there are; one more takes
w(s) v_S/(r_S (r_S+1)) away (Neyman's allocation, one answer at a time). Of a size that is known in
part, a new coalition always takes away more than a repeated one, since it brings as much news of the
noise and more of the game. So repeats are for sizes known whole, ∅ and N first, and begin where they
take away more than a new coalition does: what is not the noise of those sizes falls like 1/m with the
m coalitions of the others.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from math import comb

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# So many answers are repeated before anything is known of the noise.
PILOT = 8


def worth_repeating(
    coalitions: BoolArray,
    counts: IntArray,
    variances: FloatArray,
    shares: FloatArray | None,
    total: float,
    most: int,
    complete: bool = False,
) -> IntArray:
    """How many more answers each coalition (m, n) is worth, at most so many in all.

    ``counts`` are the answers there are, 0 where none can be asked for; ``variances`` those of one
    answer, ``total`` is Σ_i Var φ_i; ``shares`` are the weights of all coalitions of each size
    0 … n-1 joined, None where all coalitions are taken to weigh alike. With ``complete`` no others
    are wanted.
    """
    players = coalitions.shape[1]
    sizes = coalitions.sum(axis=1)
    weights = _weights(players, shares)[sizes]
    asked = counts > 0
    # Whole numbers, which have no largest one.
    known = np.full(len(sizes), complete)
    for size, held in zip(*np.unique(sizes, return_counts=True), strict=True):
        known[sizes == size] |= held >= comb(players, int(size))
    times = np.zeros(len(counts), dtype=np.int64)
    if counts.max(initial=0) < 2:
        first = np.argsort(np.where(asked, -weights, np.inf), kind="stable")[: min(most, PILOT)]
        times[first] = asked[first]
        return times
    noise = weights * variances
    again = np.flatnonzero(known & asked)
    rest = max(0.0, total - float(np.sum(noise[again] / counts[again])))
    least = rest / np.sum(~known) if not known.all() else 0.0
    falls = [(-noise[at] / (counts[at] * (counts[at] + 1)), int(at)) for at in again]
    heapify(falls)
    for _ in range(most if falls else 0):
        fall, at = falls[0]
        if -fall <= least:
            break
        times[at] += 1
        held = counts[at] + times[at]
        heapreplace(falls, (-noise[at] / (held * (held + 1)), at))
    return times


def _weights(players: int, shares: FloatArray | None) -> FloatArray:
    """w(s) of each size 0 … n."""
    if shares is None:
        return np.ones(players + 1)
    # Of whole numbers, which have no largest one, the quotient is 0 where it is too small.
    single = np.array([share * (1 / comb(players - 1, k)) for k, share in enumerate(shares)])
    sizes = np.arange(players + 1)
    joined, left = np.append(0.0, single), np.append(single, 0.0)
    return np.asarray(sizes * joined**2 + (players - sizes) * left**2)
