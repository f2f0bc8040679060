"""The cells of groups of leaves, from the codes of rows: compiled loops.

On the path of k players to a leaf of value v, let r be the set of those whose splits the explained row
satisfies, and c(b) the share of the background whose rows satisfy exactly the set b. The leaf's part
of the extension is

    v · Σ_M (-1)^|M∖r| c(path∖(M∩r)) Π_{i∈M} x_i     over the sets M of players of the path,

and a player above the group whose splits the row does not satisfy is in it by a factor 1 - x_j. So a
group is, for all rows of one code, such factors times one short polynomial.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.products.terms import Terms, Word
from fairfield.games.trees.tables.fill import satisfied
from fairfield.games.trees.tables.groups import (
    MOST_BITS,
    Bytes,
    Codes,
    Groups,
    branches,
    encode,
    room_of,
)

# Leaves of a group.
LEAVES = 4


def collect_groups(
    nodes: Nodes,
    groups: Groups,
    start: Int64s,
    counts: FloatArray,
    g: int,
    rows: FloatArray,
    terms: Terms,
) -> tuple[int, Int64s]:
    """Write the terms of groups ``g`` to ``end`` - 1 for some rows; returns ``end`` and ``used``.

    It ends before the group for which there is no room. Cost: per group and row the bits of a code;
    per code that occurs 2^k for each leaf of k players.
    """
    room = room_of(nodes, rows.shape[1])
    return _collect_groups(nodes, groups, start, counts, g, rows, *room, terms)


@compiled
def _collect_groups(
    nodes: Nodes,
    groups: Groups,
    start: Int64s,
    counts: FloatArray,
    g: int,
    rows: FloatArray,
    goes: Bytes,
    bits: Bytes,
    code: Codes,
    terms: Terms,
) -> tuple[int, Int64s]:
    low, high, names, outside, begin, member, players, parent, place, coefficient = terms
    count, room, size = rows.shape[1], len(terms.coefficient), 1 << MOST_BITS
    # For each leaf: the sets that codes satisfy, the share of the background that satisfies just
    # a set, and at least it; and the same set among the players of the group.
    met, among = np.zeros((2, LEAVES, size), np.int64)
    share, least = np.zeros((2, LEAVES, size))
    sign, total = np.ones(size), np.zeros(size)
    for m in range(1, size):
        sign[m] = -sign[m & (m - 1)]
    needed, number = np.zeros(size, np.bool_), np.empty(size, np.int64)
    order, slot = np.empty(count, np.int64), np.zeros(size + 1, np.int64)
    cell, members, named, product, at = 0, 0, 0, 0, -1
    while g < len(groups.tree):
        width = groups.member[g + 1] - groups.member[g]
        codes, leaves = start[g + 1] - start[g], groups.leaf[g + 1] - groups.leaf[g]
        above = groups.bit[g + 1] - groups.bit[g] - (leaves - 1)
        most = min(codes, count)
        if max(members + count, named + width, product + most * (width + (1 << width))) > room:
            break
        if groups.tree[g] != at:
            at = groups.tree[g]
            branches(nodes, at, rows, 0, count, goes)
        encode(groups, g, nodes.roots[at], goes, count, bits, code)
        for each in range(codes + 1):
            slot[each] = 0
        for i in range(count):
            slot[code[i] + 1] += 1
        for each in range(codes):
            slot[each + 1] += slot[each]
        for i in range(count):
            order[slot[code[i]]] = i
            slot[code[i]] += 1
        for e in range(leaves):
            path = groups.path[groups.leaf[g] + e]
            k = groups.path[groups.leaf[g] + e + 1] - path
            satisfied(groups.ones, groups.zeros, path, k, met[e], codes)
            for m in range(1 << k):
                share[e, m] = 0.0
            for each in range(codes):
                share[e, met[e, each]] += counts[start[g] + each]
            for m in range(1 << k):
                least[e, m] = share[e, m]
            for q in range(k):
                for m in range(1 << k):
                    if not m >> q & 1:
                        least[e, m] += least[e, m | 1 << q]
                    else:
                        among[e, m] = among[e, m & ~(1 << q)] | 1 << groups.place[path + q]
        for q in range(width):
            players[named + q] = groups.players[groups.member[g] + q]
        end = 0
        for each in range(codes):
            begins, end = end, slot[each]
            missing, alive = ~each & ((1 << above) - 1), False
            if begins == end:
                continue
            for e in range(leaves):
                k = groups.path[groups.leaf[g] + e + 1] - groups.path[groups.leaf[g] + e]
                whole, r = (1 << k) - 1, met[e, each]
                if least[e, whole & ~r] == 0.0:
                    continue
                alive, value = True, groups.value[groups.leaf[g] + e, 0]
                for m in range(1 << k):
                    if not among[e, m] & missing:
                        total[among[e, m]] += value * sign[m & ~r] * share[e, whole & ~(m & r)]
            if not alive:
                continue
            low[cell], names[cell], begin[cell], root = product, named, members, product
            outside[cell] = Word(missing)
            for m in range(begins, end):
                member[members] = order[m]
                members += 1
            coefficient[product] = 0.0
            product += 1
            for q in range(above):
                if missing >> q & 1:
                    parent[product], place[product] = product - root - 1, q
                    coefficient[product] = 0.0
                    product += 1
            number[0] = product - root - 1
            for m in range((1 << width) - 1, 0, -1):
                if total[m] != 0.0 or needed[m]:
                    needed[m] = needed[m & (m - 1)] = True
            coefficient[product - 1] = total[0]
            total[0], needed[0] = 0.0, False
            for m in range(1, 1 << width):
                if needed[m]:
                    q = 0
                    while not m >> q & 1:
                        q += 1
                    parent[product], place[product] = number[m & (m - 1)], q
                    coefficient[product], number[m] = total[m], product - root
                    total[m], needed[m] = 0.0, False
                    product += 1
            high[cell] = product
            cell += 1
        named += width
        g += 1
    begin[cell] = members
    return g, np.array([cell, members, named, product])
