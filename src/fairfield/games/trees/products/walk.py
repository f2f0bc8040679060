"""Walking down trees with many rows at once: compiled loops.

On the path to a leaf of value v, let R be the players whose splits the explained row
satisfies, all of them, and B those whose splits a background row satisfies. The row on a
coalition z with the background row elsewhere reaches the leaf if, for each player on the path,
the row that this player's features come from satisfies their splits; that is worth

    v · Π_{j ∉ R} (1 - z_j) · Π_{i ∈ R∖B} z_i   if R ∪ B is the whole path, else 0,

so explained rows with equal R have a cell in common, the terms of one leaf, and background rows
with equal B a term.
"""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.products.leaves import FULL, Walk, completing, emit
from fairfield.games.trees.products.terms import ONE, Terms, Word, Words
from fairfield.games.trees.worths import goes_left


@compiled
def collect(nodes: Nodes, tree: int, walk: Walk, terms: Terms) -> tuple[int, Int64s]:
    """Write the terms of trees ``tree`` to ``end`` - 1 for some rows; returns ``end`` and ``used``.

    It ends before the tree for which there is no room. Cost: per node visited, one test per
    background row and one step per explained row that some background row can still bring
    there; per leaf, a few passes over sets of the background, a bit per row, for each B; per
    term, its literals.
    """
    used = np.zeros(4, np.int64)  # cells, members, players, products
    while tree < len(nodes.roots):
        before = used.copy()
        if not _descend(nodes, tree, walk, terms, used):
            used[:] = before
            break
        tree += 1
    terms.begin[used[0]] = used[1]
    return tree, used


@compiled
def _descend(nodes: Nodes, tree: int, walk: Walk, terms: Terms, used: Int64s) -> bool:
    """Visit the nodes of a tree that some row on some coalition reaches; False if out of room."""
    count = walk.rows.shape[1]
    walk.member[:count], walk.pattern[:count] = np.arange(count), 0
    # Node, parent, depth, the list of the rows at the parent, and its number of players.
    stack = np.empty((len(walk.place), 6), np.int64)
    stack[0], top = (nodes.roots[tree], -1, 0, 0, count, 0), 1
    while top:
        top -= 1
        node, parent, depth, low, high, length = stack[top]
        if parent >= 0:
            place = _step(nodes, walk, node, parent, depth, length)
            new, bit = place == length, ONE << Word(place)
            length += new
            low, high = high, _advance(nodes, walk, node, parent, bit, new, low, high)
            high = _drop(walk, depth, FULL >> Word(64 - length), bit, low, high)
        if low == high:
            continue
        if nodes.left[node] < 0:
            if not emit(walk, depth, length, nodes.value[node, 0], low, high, terms, used):
                return False
            continue
        _test(nodes, node, walk.background[nodes.feature[node]], walk.every, walk.left[depth])
        stack[top] = (nodes.left[node], node, depth + 1, low, high, length)
        stack[top + 1] = (nodes.right[node], node, depth + 1, low, high, length)
        top += 2
    return True


@compiled
def _test(nodes: Nodes, node: int, numbers: FloatArray, every: Words, left: Words) -> None:
    """Find the set of the background rows that go left at a node."""
    threshold, missing_left = nodes.threshold[node], nodes.missing_left[node]
    for w in range(len(every)):
        word = Word(0)
        if nodes.category[node] < 0:
            # As goes_left, in a loop over numbers alone, which the compiler vectorises.
            for b in range(64):
                number = numbers[64 * w + b]
                goes = number <= threshold or (missing_left and number != number)
                word |= Word(goes) << Word(b)
        else:
            for b in range(64):
                word |= Word(goes_left(nodes, node, numbers[64 * w + b])) << Word(b)
        left[w] = word & every[w]


@compiled
def _step(nodes: Nodes, walk: Walk, node: int, parent: int, depth: int, length: int) -> int:
    """Extend the path from parent to node; the place on it of the player whom the parent splits."""
    who, place = nodes.player[parent], 0
    while place < length and walk.players[place] != who:
        place += 1
    before = walk.last_split[depth - 1, place]
    for q in range(length):
        walk.last_split[depth, q] = walk.last_split[depth - 1, q]
    walk.last_split[depth, place], walk.players[place] = depth, who
    to_right = nodes.left[parent] != node
    for w in range(len(walk.every)):
        walk.meet[depth, w] = walk.left[depth - 1, w]
        if to_right:
            walk.meet[depth, w] ^= walk.every[w]
    if place < length:
        for w in range(len(walk.every)):
            walk.meet[depth, w] &= walk.meet[before, w]
    return place


@compiled
def _advance(
    nodes: Nodes, walk: Walk, node: int, parent: int, bit: Word, new: bool, low: int, high: int
) -> int:
    """Write the list of the rows at a node behind that of its parent, [low, high); its end.

    Rows whose pattern changes all gain the bit of a new player, or all lose that of an
    earlier one, and so stay sorted among themselves: one merge restores the order.
    """
    member, pattern = walk.member, walk.pattern
    numbers, on_left = walk.rows[nodes.feature[parent]], nodes.left[parent] == node
    kept, changed = high, 0
    for m in range(low, high):
        met = goes_left(nodes, parent, numbers[member[m]]) == on_left
        if met == new and (new or pattern[m] & bit):
            walk.moved[changed], walk.moved_pattern[changed] = member[m], pattern[m] ^ bit
            changed += 1
        else:
            member[kept], pattern[kept] = member[m], pattern[m]
            kept += 1
    end = at = kept + changed
    while changed:
        at -= 1
        if kept > high and pattern[kept - 1] > walk.moved_pattern[changed - 1]:
            kept -= 1
            member[at], pattern[at] = member[kept], pattern[kept]
        else:
            changed -= 1
            member[at], pattern[at] = walk.moved[changed], walk.moved_pattern[changed]
    return end


@compiled
def _drop(walk: Walk, depth: int, whole: Word, bit: Word, low: int, high: int) -> int:
    """Keep the rows of [low, high) whose path some background row completes: R ∪ B = whole.

    A row that meets the split just passed lost no background row by it.
    """
    kept, m = low, low
    while m < high:
        met, w = walk.pattern[m], 0
        alive = met & bit != 0
        while not alive and w < len(walk.every):
            alive = completing(walk, depth, whole & ~met, w) != 0
            w += 1
        while m < high and walk.pattern[m] == met:
            if alive:
                walk.member[kept], walk.pattern[kept] = walk.member[m], met
                kept += 1
            m += 1
    return kept
