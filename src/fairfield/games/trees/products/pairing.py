"""What rows and a background pay along the diagonal, in one walk of both: compiled loops.

A background row b brings an explained row to a leaf if each player on the path has their splits satisfied
by one of the two: let s be the players whom only the explained row satisfies, a of them, and o those whom
only b does, c of them. The leaf's part of the extension is v · Π_{i∈s} x_i · Π_{j∈o} (1 - x_j), and along
the diagonal it pays to each i in s a number that depends on a and c alone, and takes another from each j in o.

Rows that satisfied the same players go down together, beside the list of the background rows that can
still bring them to a leaf, each with its s; o is that of the rows, the same for the whole list. So what
pairs have in common down to a node is worked out once for all leaves below. Cost: per node, and per set of
players whom some rows satisfy there, one step for each background row in the list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int32s, Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.products.terms import MOST, ONE, Word, Words, lowest, ones
from fairfield.games.trees.tables.groups import Bytes, branches

# Background rows that walk together: the lists of a path, and their branches at all nodes of a
# tree, stay in the cache.
TOGETHER = 4096
# A row and a background row at a split: the row satisfies it, or it does not, or failed an
# earlier split of the same player.
MEETS, FAILS, FAILED = 0, 1, 2


class Lists(NamedTuple):
    """Explained rows, ``member``, and background rows, ``other`` with the set ``only``, of the nodes on a path.

    ``only`` are the players on the path whom the explained rows satisfy and a background row does not. What
    belongs to a node lies behind what belongs to its parent.
    """

    member: Int32s
    other: Int32s
    only: Words


def add_along_diagonal(
    nodes: Nodes,
    depth: int,
    rows: FloatArray,
    background: FloatArray,
    joint: FloatArray,
    values: FloatArray,
) -> None:
    """Add Σ w ∇f(t, …, t) over points t of weights w: (rows, players).

    ``joint[a, b]`` is Σ w t^a (1 - t)^b.
    """
    count, size = rows.shape[1], background.shape[1]
    widest, levels = int((nodes.ends - nodes.roots).max(initial=0)), depth + 2
    paid = np.zeros_like(values)
    for low in range(0, size, TOGETHER):
        some = np.ascontiguousarray(background[:, low : low + TOGETHER])
        width = some.shape[1]
        lists = Lists(
            np.empty(levels * count, np.int32),
            np.empty(levels * width, np.int32),
            np.empty(levels * width, Word),
        )
        goes = np.empty((widest, count), np.uint8), np.empty((widest, width), np.uint8)
        stack = np.empty((4 * levels, 9), np.int64)
        _walk(nodes, rows, some, joint, lists, *goes, stack, paid)
    values += paid / size


@compiled
def _walk(
    nodes: Nodes,
    rows: FloatArray,
    background: FloatArray,
    joint: FloatArray,
    lists: Lists,
    row_goes: Bytes,
    other_goes: Bytes,
    stack: Int64s,
    values: FloatArray,
) -> None:
    """Visit all nodes; a step of the ``stack`` is made from the lists of the parent when its turn comes."""
    players, paid = np.zeros(MOST + 1, np.int64), np.zeros(MOST)
    for tree in range(len(nodes.roots)):
        first = nodes.roots[tree]
        branches(nodes, tree, rows, 0, rows.shape[1], row_goes)
        branches(nodes, tree, background, 0, background.shape[1], other_goes)
        lists.member[: rows.shape[1]] = np.arange(rows.shape[1])
        lists.other[: background.shape[1]] = np.arange(background.shape[1])
        lists.only[: background.shape[1]] = 0
        stack[0], top = (first, -1, 0, rows.shape[1], 0, background.shape[1], 0, 0, 0), 1
        while top:
            top -= 1
            node, parent, low, high, begin, end, failed, length, how = stack[top]
            outside = Word(failed)
            if parent >= 0:
                place = _place(players, length, nodes.player[parent])
                players[place] = nodes.player[parent]
                length = max(length, place + 1)
                right, at = np.uint8(nodes.left[parent] != node), parent - first
                if how != FAILED:
                    wrong = right if how == MEETS else np.uint8(1 - right)
                    low, high = high, _those(lists.member, low, high, row_goes[at], wrong)
                if low == high:
                    continue
                if how == MEETS:
                    left = np.uint8(1 - right)
                    begin, end = end, _all(lists, begin, end, other_goes[at], left, Word(place))
                else:
                    outside |= ONE << Word(place)
                    begin, end = end, _alive(lists, begin, end, other_goes[at], right, Word(place))
                if begin == end:
                    continue
            if nodes.left[node] < 0:
                used = _pay(lists.only, begin, end, outside, joint, paid)
                while used:
                    q = lowest(used)
                    each, paid[q] = paid[q] * nodes.value[node, 0], 0.0
                    for m in range(low, high):
                        values[lists.member[m], players[q]] += each
                    used &= used - ONE
                continue
            place = _place(players, length, nodes.player[node])
            before, failed = place < length and outside >> Word(place) & ONE, np.int64(outside)
            for child in (nodes.left[node], nodes.right[node]):
                for how in range(FAILED, FAILED + 1) if before else range(FAILED):
                    stack[top] = (child, node, low, high, begin, end, failed, length, how)
                    top += 1


@compiled
def _place(players: Int64s, length: int, who: int) -> int:
    """The place of a player on the path, or the next one."""
    place = 0
    while place < length and players[place] != who:
        place += 1
    return place


@compiled
def _those(member: Int32s, low: int, high: int, goes: Bytes, wrong: np.uint8) -> int:
    """Write behind a list those of its rows that go left, or right if that is not ``wrong``; the end."""
    end = high
    for m in range(low, high):
        member[end] = member[m]
        end += goes[member[m]] != wrong
    return end


@compiled
def _all(lists: Lists, low: int, high: int, goes: Bytes, left: np.uint8, place: Word) -> int:
    """Write the list once more, with the player for those that take the other branch; the end."""
    count = high - low
    other, only = lists.other[low:high], lists.only[low:high]
    others, onlys = lists.other[high : high + count], lists.only[high : high + count]
    for e in range(count):
        others[e] = other[e]
        onlys[e] = only[e] | Word(goes[other[e]] ^ left) << place
    return high + count


@compiled
def _alive(lists: Lists, low: int, high: int, goes: Bytes, right: np.uint8, place: Word) -> int:
    """Write behind a list those that satisfy the player, here and before; the end."""
    count, end = high - low, 0
    other, only = lists.other[low:high], lists.only[low:high]
    others, onlys = lists.other[high : high + count], lists.only[high : high + count]
    for e in range(count):
        others[end], onlys[end] = other[e], only[e]
        end += (goes[other[e]] != right) & (only[e] >> place & ONE == 0)
    return high + end


@compiled
def _pay(
    only: Words, low: int, high: int, outside: Word, joint: FloatArray, paid: FloatArray
) -> Word:
    """What a leaf of value 1 pays to the players at each place of its path; the set of these places."""
    used, lost, c = outside, 0.0, ones(outside)
    for e in range(low, high):
        own, a = only[e], ones(only[e])
        used |= own
        if c:
            lost += joint[a, c - 1]
        if a:
            gain = joint[a - 1, c]
            while own:
                paid[lowest(own)] += gain
                own &= own - ONE
    own = outside
    while own:
        paid[lowest(own)] = -lost
        own &= own - ONE
    return used
