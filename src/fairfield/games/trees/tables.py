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
from fairfield.games.trees.groups import (
    MOST_BITS,
    TOGETHER,
    Groups,
    branches,
    encode,
)
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.terms import pair_place


@compiled
def count_codes(nodes: Nodes, groups: Groups, rows: FloatArray, start: Int64s) -> FloatArray:
    """How many rows have each code; those of group g are counted from ``start[g]`` on."""
    counts = np.zeros(start[-1])
    for low in range(0, rows.shape[1], TOGETHER):
        some = np.ascontiguousarray(rows[:, low : low + TOGETHER])
        goes = np.empty((0, 0), np.uint8)
        met, code = np.empty(some.shape[1], np.uint8), np.empty(some.shape[1], np.uint16)
        at = -1
        for g in range(len(groups.tree)):
            if groups.tree[g] != at:
                at = groups.tree[g]
                first, goes = branches(nodes, at, some)
            encode(groups, g, first, goes, met, code)
            for r in range(len(code)):
                counts[start[g] + code[r]] += 1.0
    return counts


@compiled
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

    A group has a row of codes for each player (order 1) or pair of players (order 2), and ``table``
    (values, entries) one for each value of a leaf. ``at`` are points of the diagonal, and no
    ``counts`` mean the path-dependent game.
    """
    size = 1 << MOST_BITS
    share, phi, slope, second = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    met = np.empty(size, np.int64)
    for g in range(low, high):
        codes = 1 << (groups.bit[g + 1] - groups.bit[g])
        for leaf in range(groups.leaf[g], groups.leaf[g + 1]):
            first, k = groups.path[leaf], groups.path[leaf + 1] - groups.path[leaf]
            sets = 1 << k
            satisfied(groups, first, k, met[:codes])
            if len(counts):
                share[:sets] = 0.0
                for code in range(codes):
                    share[met[code]] += counts[start[g] + code]
            else:
                _multiply(groups.share[first : first + k], share)
            total = np.zeros((k if order == 1 else k * (k - 1) // 2, sets))
            for node in range(len(at)):
                phi[:sets] = share[:sets]
                for q in range(k):
                    _mix(phi[:sets], 1 << q, at[node])
                for p in range(k):
                    _differentiate(phi[:sets], 1 << p, at[node], slope)
                    if order == 1:
                        total[p] += weights[node] * slope[:sets]
                        continue
                    for q in range(p):
                        _differentiate(slope[:sets], 1 << q, at[node], second)
                        total[pair_place(p, q)] += weights[node] * second[:sets]
            for p in range(k):
                for q in range(p if order == 2 else 1):
                    i, j = groups.place[first + p], groups.place[first + q]
                    line, own = (pair_place(max(i, j), min(i, j)), pair_place(p, q))
                    if order == 1:
                        line, own = i, p
                    row = entry[g] + line * codes
                    _spread(
                        groups.value[leaf], total[own], met[:codes], table[:, row : row + codes]
                    )


@compiled
def _spread(value: FloatArray, of_set: FloatArray, met: Int64s, paid: FloatArray) -> None:
    """Add each value times what belongs to the set that each code satisfies."""
    for v in range(len(value)):
        row, each = paid[v], value[v]
        for code in range(len(met)):
            row[code] += each * of_set[met[code]]


@compiled
def satisfied(groups: Groups, first: int, k: int, met: Int64s) -> None:
    """The set of players of a leaf's path whom each code satisfies."""
    met[:] = 0
    for q in range(k):
        ones, either = groups.ones[first + q], groups.ones[first + q] | groups.zeros[first + q]
        for code in range(len(met)):
            met[code] |= np.int64(code & either == ones) << q


@compiled
def _multiply(shares: FloatArray, product: FloatArray) -> None:
    """Π s_q or 1 - s_q over players inside and outside each set."""
    product[0] = 1.0
    for q in range(len(shares)):
        for b in range(1 << q):
            product[b + (1 << q)] = product[b] * shares[q]
            product[b] *= 1 - shares[q]


@compiled
def _mix(phi: FloatArray, bit: int, t: float) -> None:
    """From the background's sets to the row's, for one player."""
    for low in range(0, len(phi), 2 * bit):
        for r in range(low, low + bit):
            without, within = phi[r], phi[r + bit]
            phi[r], phi[r + bit] = (1 - t) * within, t * without + within


@compiled
def _differentiate(phi: FloatArray, bit: int, t: float, slope: FloatArray) -> None:
    """The derivative by one player."""
    for low in range(0, len(phi), 2 * bit):
        for r in range(low, low + bit):
            rest = phi[r] / (1 - t)
            slope[r], slope[r + bit] = -rest, (phi[r + bit] - rest) / t


@compiled
def look_up(
    nodes: Nodes,
    groups: Groups,
    low: int,
    high: int,
    order: int,
    entry: Int64s,
    table: FloatArray,
    rows: FloatArray,
    values: FloatArray,
) -> None:
    """Add what the groups low … high - 1 pay: (outputs, players or pairs, rows)."""
    for begin in range(0, rows.shape[1], TOGETHER):
        some = np.ascontiguousarray(rows[:, begin : begin + TOGETHER])
        count = some.shape[1]
        met, code = np.empty(count, np.uint8), np.empty(count, np.uint16)
        at = -1
        for g in range(low, high):
            if groups.tree[g] != at:
                at = groups.tree[g]
                first, goes = branches(nodes, at, some)
            encode(groups, g, first, goes, met, code)
            codes = 1 << (groups.bit[g + 1] - groups.bit[g])
            players = groups.players[groups.member[g] : groups.member[g + 1]]
            row = entry[g]
            for i in range(len(players)):
                for j in range(i if order == 2 else 1):
                    who = players[i]
                    if order == 2:
                        who = pair_place(max(who, players[j]), min(who, players[j]))
                    for v in range(len(table)):
                        paid = values[nodes.output[at] + v, who, begin : begin + count]
                        paying = table[v, row : row + codes]
                        for r in range(count):
                            paid[r] += paying[code[r]]
                    row += codes
