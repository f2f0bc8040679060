"""Tables of what groups of leaves pay to their players: compiled loops.

On the path of k players to a leaf, let r be the set of those whose splits the explained row
satisfies, and c(b) the share of the background whose rows satisfy exactly the set b. At the point
(t, …, t) the leaf's part of the extension is v · φ(r), where φ is c after one step for each player,

    φ(r without i) ← (1 - t) c(b with i),     φ(r with i) ← t c(b without i) + c(b with i),

and its derivative by x_i follows from φ alone: -φ(r) / (1 - t) for i ∉ r, and
(φ(r) - φ(r without i) / (1 - t)) / t for i ∈ r. So k·2^k steps give the derivatives for all r, and
the same step twice gives those of pairs. In the path-dependent game c is the product of the
shares of the cover. Criteria that read ∇f along the diagonal sum this over t.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.pairs import pair_place
from fairfield.games.trees.tables.groups import MOST_BITS, Groups


def fill(
    groups: Groups,
    low: int,
    high: int,
    start: Int64s,
    counts: FloatArray,
    at: FloatArray,
    weights: FloatArray,
    order: int,
    entry: Int64s,
    table: FloatArray,
) -> None:
    """Add up the tables of the groups low … high - 1, those of group g from ``entry[g]`` on.

    A group has a row of codes for each player (order 1) or pair of players (order 2), or one of
    worths (order 0, of no points), and ``table`` (values, entries) one for each value of a leaf. ``at``
    are points of the diagonal, and no ``counts`` mean the path-dependent game.
    """
    met = np.empty(1 << MOST_BITS, np.int64)
    if order == 0:
        _fill_worths(groups, low, high, entry, table, met)
        return
    k = int(np.diff(groups.path).max(initial=0))
    lines = k if order == 1 else k * (k - 1) // 2
    room = np.empty((lines + 3, 1 << k))
    _fill(groups, low, high, start, counts, at, weights, order, entry, table, room, met)


@compiled
def _fill(
    groups: Groups,
    low: int,
    high: int,
    start: Int64s,
    counts: FloatArray,
    at: FloatArray,
    weights: FloatArray,
    order: int,
    entry: Int64s,
    table: FloatArray,
    room: FloatArray,
    met: Int64s,
) -> None:
    share, phi, slope, total = room[0], room[1], room[2], room[3:]
    for g in range(low, high):
        codes = 1 << (groups.bit[g + 1] - groups.bit[g])
        for leaf in range(groups.leaf[g], groups.leaf[g + 1]):
            first, k = groups.path[leaf], groups.path[leaf + 1] - groups.path[leaf]
            sets = 1 << k
            satisfied(groups.ones, groups.zeros, first, k, met, codes)
            if len(counts):
                for b in range(sets):
                    share[b] = 0.0
                for code in range(codes):
                    share[met[code]] += counts[start[g] + code]
            else:
                _multiply(groups.share, first, k, share)
            for line in range(k if order == 1 else k * (k - 1) // 2):
                for b in range(sets):
                    total[line, b] = 0.0
            for node in range(len(at)):
                for b in range(sets):
                    phi[b] = share[b]
                for q in range(k):
                    _mix(phi, sets, 1 << q, at[node])
                for p in range(k):
                    if order == 1:
                        _differentiate(phi, sets, 1 << p, at[node], weights[node], total[p])
                        continue
                    for b in range(sets):
                        slope[b] = 0.0
                    _differentiate(phi, sets, 1 << p, at[node], weights[node], slope)
                    for q in range(p):
                        _differentiate(slope, sets, 1 << q, at[node], 1.0, total[pair_place(p, q)])
            for p in range(k):
                for q in range(p if order == 2 else 1):
                    i, j = groups.place[first + p], groups.place[first + q]
                    line, own = (pair_place(max(i, j), min(i, j)), pair_place(p, q))
                    if order == 1:
                        line, own = i, p
                    row = entry[g] + line * codes
                    for v in range(len(table)):
                        paid, of_set, each = (
                            table[v, row : row + codes],
                            total[own],
                            groups.value[leaf, v],
                        )
                        for code in range(codes):
                            paid[code] += each * of_set[met[code]]


@compiled
def _fill_worths(
    groups: Groups, low: int, high: int, entry: Int64s, table: FloatArray, met: Int64s
) -> None:
    """Add the values of the leaf that each code reaches, if any."""
    for g in range(low, high):
        codes = 1 << (groups.bit[g + 1] - groups.bit[g])
        for leaf in range(groups.leaf[g], groups.leaf[g + 1]):
            first, k = groups.path[leaf], groups.path[leaf + 1] - groups.path[leaf]
            satisfied(groups.ones, groups.zeros, first, k, met, codes)
            for code in range(codes):
                if met[code] == (1 << k) - 1:
                    for v in range(len(table)):
                        table[v, entry[g] + code] += groups.value[leaf, v]


@compiled
def satisfied(ones: Int64s, zeros: Int64s, first: int, k: int, met: Int64s, codes: int) -> None:
    """The set of players of a leaf's path whom each code satisfies."""
    for code in range(codes):
        met[code] = 0
    for q in range(k):
        own, either = ones[first + q], ones[first + q] | zeros[first + q]
        for code in range(codes):
            met[code] |= np.int64(code & either == own) << q


@compiled
def _multiply(shares: FloatArray, first: int, k: int, product: FloatArray) -> None:
    """Π s_q or 1 - s_q over players inside and outside each set."""
    product[0] = 1.0
    for q in range(k):
        share = shares[first + q]
        for b in range(1 << q):
            product[b + (1 << q)] = product[b] * share
            product[b] *= 1 - share


@compiled
def _mix(phi: FloatArray, sets: int, bit: int, t: float) -> None:
    """From the background's sets to the row's, for one player."""
    for low in range(0, sets, 2 * bit):
        for r in range(low, low + bit):
            without, within = phi[r], phi[r + bit]
            phi[r], phi[r + bit] = (1 - t) * within, t * without + within


@compiled
def _differentiate(
    phi: FloatArray, sets: int, bit: int, t: float, weight: float, total: FloatArray
) -> None:
    """Add the derivative by one player, times a weight."""
    steep = weight / t
    for low in range(0, sets, 2 * bit):
        for r in range(low, low + bit):
            # A division, not a product, so that what a null player is paid cancels to zero.
            rest = phi[r] / (1 - t)
            total[r] -= weight * rest
            total[r + bit] += steep * (phi[r + bit] - rest)
