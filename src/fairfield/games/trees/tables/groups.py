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
from fairfield.games.trees.nodes import Nodes, levels
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


def cut(nodes: Nodes, trees: Int64s) -> Groups:
    """The groups of some trees."""
    height, leaves = np.zeros(len(nodes.left), np.int64), 0
    for at in reversed(levels(nodes, trees)):
        inner = at[nodes.left[at] >= 0]
        leaves += len(at) - len(inner)
        height[inner] = 1 + np.maximum(height[nodes.left[inner]], height[nodes.right[inner]])
    depth = int(height[nodes.roots[trees]].max(initial=0))
    most = leaves * (depth + (1 << HEIGHT)) + 1
    tree, bit, member, leaf, path, reached = np.zeros((6, leaves + 1), np.int64)
    clause, literals, players, place, ones, zeros = np.zeros((6, most), np.int64)
    value, share, used = np.empty((0, 0)), np.empty(most), np.zeros(6, np.int64)
    room = Groups(
        tree, bit, clause, literals, member, players, leaf, value, path, place, share, ones, zeros
    )
    stack = np.empty((4, depth + 2), np.int64)
    _cut(nodes, trees, height, stack, np.empty_like(height), room, reached, used)
    groups, bits, written, members, _, steps = used
    return Groups(
        tree[:groups].copy(),
        bit[: groups + 1].copy(),
        clause[: bits + 1].copy(),
        literals[:written].copy(),
        member[: groups + 1].copy(),
        players[:members].copy(),
        leaf[: groups + 1].copy(),
        nodes.value[reached[:-1]],
        path,
        place[:steps].copy(),
        share[:steps].copy(),
        ones[:steps].copy(),
        zeros[:steps].copy(),
    )


@compiled
def _cut(
    nodes: Nodes,
    trees: Int64s,
    height: Int64s,
    stack: Int64s,
    bit_of: Int64s,
    room: Groups,
    reached: Int64s,
    used: Int64s,
) -> None:
    """Fill the room, except for values: leaf l is the node ``reached[l]``; and say how much is used."""
    # The literals from the root to a node; nodes ahead, their depths, and the literals to them.
    way, ahead, depths, by = stack[0], stack[1], stack[2], stack[3]
    groups = bits = written = members = ends = steps = above = first = 0
    clause, literals, players, place = room.clause, room.literals, room.players, room.place
    for which in trees:
        ahead[0], depths[0], by[0], top = nodes.roots[which], 0, 0, 1
        while top:
            top -= 1
            node, level, literal = ahead[top], depths[top], by[top]
            if level:
                way[level - 1] = literal
            if height[node] <= HEIGHT and (not level or height[literal >> 1] > HEIGHT):
                room.tree[groups], above = which, level
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
                    bit_of[node] = bits - room.bit[groups - 1]
                    literals[written] = 2 * node + 1
                    written += 1
                    bits += 1
                    clause[bits] = written
                for side in range(2):
                    ahead[top] = nodes.left[node] if side else nodes.right[node]
                    depths[top], by[top] = level + 1, 2 * node + side
                    top += 1
            else:
                start = steps
                for e in range(level):
                    split, to_left = way[e] >> 1, way[e] & 1
                    at = _find(players, first, members, nodes.player[split]) - first
                    q = _find(place, start, steps, at)
                    if q == steps:
                        place[q], room.share[q] = at, 1.0
                        steps += 1
                    child = nodes.left[split] if to_left else nodes.right[split]
                    room.share[q] *= nodes.share[child]
                    if e < above:
                        room.ones[q] |= 1 << at
                    elif to_left:
                        room.ones[q] |= 1 << bit_of[split]
                    else:
                        room.zeros[q] |= 1 << bit_of[split]
                reached[ends] = node
                ends += 1
                room.path[ends] = steps
            if height[node] <= HEIGHT:
                room.bit[groups], room.member[groups], room.leaf[groups] = bits, members, ends
    used[0], used[1], used[2] = groups, bits, written
    used[3], used[4], used[5] = members, ends, steps


@compiled
def _find(numbers: Int64s, low: int, high: int, number: int) -> int:
    """The place of a number among numbers[low:high], or ``high``."""
    while low < high and numbers[low] != number:
        low += 1
    return low


@compiled
def branches(nodes: Nodes, tree: int, rows: FloatArray, low: int, high: int, goes: Bytes) -> None:
    """Whether the rows low … high - 1 go left at each node of a tree: (nodes, rows)."""
    first = nodes.roots[tree]
    for node in range(first, nodes.ends[tree]):
        if nodes.left[node] < 0:
            continue
        numbers, left = rows[nodes.feature[node], low:high], goes[node - first]
        if nodes.category[node] < 0:
            # As goes_left, in a loop over numbers alone, which the compiler vectorises.
            threshold, missing_left = nodes.threshold[node], nodes.missing_left[node]
            for r in range(len(numbers)):
                number = numbers[r]
                left[r] = number <= threshold or (missing_left and number != number)
        else:
            for r in range(len(numbers)):
                left[r] = goes_left(nodes, node, numbers[r])


@compiled
def encode(
    groups: Groups, g: int, first: int, goes: Bytes, count: int, met: Bytes, code: Codes
) -> None:
    """The codes of rows in group g, from their branches at the nodes from ``first`` on."""
    for r in range(count):
        code[r] = 0
    for b in range(groups.bit[g], groups.bit[g + 1]):
        for r in range(count):
            met[r] = 1
        for at in range(groups.clause[b], groups.clause[b + 1]):
            literal = groups.literals[at]
            left, wrong = goes[(literal >> 1) - first], np.uint8(1 - (literal & 1))
            for r in range(count):
                met[r] &= left[r] ^ wrong
        shift = np.uint16(b - groups.bit[g])
        for r in range(count):
            code[r] |= np.uint16(met[r]) << shift


def room_of(nodes: Nodes, count: int) -> tuple[Bytes, Bytes, Codes]:
    """Room for branches at the nodes of any of the trees, for bits and for codes of so many rows."""
    widest = int((nodes.ends - nodes.roots).max(initial=0))
    met, code = np.empty(count, np.uint8), np.empty(count, np.uint16)
    return np.empty((widest, count), np.uint8), met, code
