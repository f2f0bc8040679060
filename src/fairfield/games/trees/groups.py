"""Where rows go at the ends of trees: compiled loops.

The bottom of a tree is cut into *groups*, subtrees of a few splits. On any coalition, which leaf
of a group a row reaches depends on a few bits of the row, its *code*: for each player who is split
above the group, whether the row satisfies all of that player's splits on the way, and for each
split within the group, whether it goes left. What a group contributes to the values of a row is
therefore one entry of a table over codes, whatever the number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.worths import goes_left

Bytes = NDArray[np.uint8]
Codes = NDArray[np.uint16]

# Splits from the root of a group to its farthest leaf. Two levels share the look-ups of four
# leaves at twice the entries of one; a third level makes tables that leave the cache.
HEIGHT = 2
# Bits of a code: a tree with a longer one has no tables.
MOST_BITS = 14
# Rows whose codes are found together: their bits stay in the nearest cache.
TOGETHER = 256


class Groups(NamedTuple):
    """The groups of some trees.

    Group g belongs to ``tree[g]``. Its code has the bits ``bit[g]`` to ``bit[g + 1]`` - 1; bit b is
    set where a row takes all of ``literals[clause[b]:clause[b + 1]]``, each 2·node + 1 for the left
    branch of a node and 2·node for the right one. Its players are
    ``players[member[g]:member[g + 1]]`` and its leaves ``leaf[g]`` to ``leaf[g + 1]`` - 1. Leaf l has
    the values ``value[l]`` and a path of players ``path[l]`` to ``path[l + 1]`` - 1; the q-th of them
    is ``place[q]`` among the group's, has the share ``share[q]`` of the cover, and is satisfied by
    codes in which the bits ``ones[q]`` are set and ``zeros[q]`` are not.
    """

    tree: Int64s
    bit: Int64s
    clause: Int64s
    literals: Int64s
    member: Int64s
    players: Int64s
    leaf: Int64s
    value: FloatArray
    path: Int64s
    place: Int64s
    share: FloatArray
    ones: Int64s
    zeros: Int64s


@compiled
def cut(nodes: Nodes, trees: Int64s) -> Groups:
    """The groups of some trees."""
    height = _heights(nodes)
    depth, leaves = 0, 0
    for which in trees:
        depth = max(depth, height[nodes.roots[which]])
        for node in range(nodes.roots[which], nodes.ends[which]):
            leaves += nodes.left[node] < 0
    most = leaves * (depth + (1 << HEIGHT)) + 1
    tree, value = np.empty(leaves, np.int64), np.empty((leaves, nodes.value.shape[1]))
    bit, member, leaf, path = np.zeros((4, leaves + 1), np.int64)
    clause, literals, players, place, ones, zeros = np.zeros((6, most), np.int64)
    share = np.empty(most)
    bit_of = np.empty(len(nodes.left), np.int64)
    way = np.empty(depth + 1, np.int64)  # the literals from the root to a node
    stack = np.empty((depth + 2, 3), np.int64)
    groups = bits = written = members = ends = steps = above = 0
    for which in trees:
        stack[0], top = (nodes.roots[which], 0, 0), 1
        while top:
            top -= 1
            node, level, literal = stack[top]
            if level:
                way[level - 1] = literal
            if height[node] <= HEIGHT and (not level or height[literal >> 1] > HEIGHT):
                tree[groups], above = which, level
                groups += 1
                first = members
                for e in range(level):
                    who = nodes.player[way[e] >> 1]
                    if _find(players, first, members, who) < members:
                        continue
                    players[members] = who
                    members += 1
                    for later in range(e, level):
                        if nodes.player[way[later] >> 1] == who:
                            literals[written] = way[later]
                            written += 1
                    bits += 1
                    clause[bits] = written
            if nodes.left[node] >= 0:
                if height[node] <= HEIGHT:
                    who = nodes.player[node]
                    if _find(players, first, members, who) == members:
                        players[members] = who
                        members += 1
                    bit_of[node] = bits - bit[groups - 1]
                    literals[written] = 2 * node + 1
                    written += 1
                    bits += 1
                    clause[bits] = written
                stack[top] = (nodes.right[node], level + 1, 2 * node)
                stack[top + 1] = (nodes.left[node], level + 1, 2 * node + 1)
                top += 2
            else:
                start = steps
                for e in range(level):
                    split, to_left = way[e] >> 1, way[e] & 1
                    who = nodes.player[split]
                    at = _find(players, first, members, who) - first
                    q = _find(place, start, steps, at)
                    if q == steps:
                        place[q], share[q] = at, 1.0
                        steps += 1
                    share[q] *= nodes.share[nodes.left[split] if to_left else nodes.right[split]]
                    if e < above:
                        ones[q] |= 1 << at
                    elif to_left:
                        ones[q] |= 1 << bit_of[split]
                    else:
                        zeros[q] |= 1 << bit_of[split]
                value[ends] = nodes.value[node]
                ends += 1
                path[ends] = steps
            if height[node] <= HEIGHT:
                bit[groups], member[groups], leaf[groups] = bits, members, ends
    return Groups(
        tree[:groups].copy(),
        bit[: groups + 1].copy(),
        clause[: bits + 1].copy(),
        literals[:written].copy(),
        member[: groups + 1].copy(),
        players[:members].copy(),
        leaf[: groups + 1].copy(),
        value,
        path,
        place[:steps].copy(),
        share[:steps].copy(),
        ones[:steps].copy(),
        zeros[:steps].copy(),
    )


@compiled
def _heights(nodes: Nodes) -> Int64s:
    """The most splits from each node down to a leaf."""
    height, order = np.zeros((2, len(nodes.left)), np.int64)
    for root in nodes.roots:
        order[0], seen, known = root, 0, 1
        while seen < known:
            node = order[seen]
            seen += 1
            if nodes.left[node] >= 0:
                order[known], order[known + 1] = nodes.left[node], nodes.right[node]
                known += 2
        for at in range(known - 1, -1, -1):
            node = order[at]
            if nodes.left[node] >= 0:
                height[node] = 1 + max(height[nodes.left[node]], height[nodes.right[node]])
    return height


@compiled
def _find(numbers: Int64s, low: int, high: int, number: int) -> int:
    """The place of a number among numbers[low:high], or ``high``."""
    while low < high and numbers[low] != number:
        low += 1
    return low


@compiled
def branches(nodes: Nodes, tree: int, rows: FloatArray) -> tuple[int, Bytes]:
    """The first node of a tree, and whether rows go left at each node from there on: (nodes, rows)."""
    first, end = nodes.roots[tree], nodes.ends[tree]
    goes = np.empty((end - first, rows.shape[1]), np.uint8)
    for node in range(first, end):
        if nodes.left[node] < 0:
            continue
        numbers, left = rows[nodes.feature[node]], goes[node - first]
        if nodes.category[node] < 0:
            # As goes_left, in a loop over numbers alone, which the compiler vectorises.
            threshold, missing_left = nodes.threshold[node], nodes.missing_left[node]
            for r in range(len(numbers)):
                number = numbers[r]
                left[r] = number <= threshold or (missing_left and number != number)
        else:
            for r in range(len(numbers)):
                left[r] = goes_left(nodes, node, numbers[r])
    return first, goes


@compiled
def encode(groups: Groups, g: int, first: int, goes: Bytes, met: Bytes, code: Codes) -> None:
    """The codes of rows in group g, from their branches at the nodes from ``first`` on."""
    code[:] = 0
    for b in range(groups.bit[g], groups.bit[g + 1]):
        met[:] = 1
        for at in range(groups.clause[b], groups.clause[b + 1]):
            literal = groups.literals[at]
            left, wrong = goes[(literal >> 1) - first], np.uint8(1 - (literal & 1))
            for r in range(len(met)):
                met[r] &= left[r] ^ wrong
        shift = np.uint16(b - groups.bit[g])
        for r in range(len(met)):
            code[r] |= np.uint16(met[r]) << shift
