"""Walking down trees with many rows at once: compiled loops.

On the path to a leaf of value v, let R be the players whose splits the explained row
satisfies, all of them, and B those whose splits a background row does. The row on a
coalition z and the background row elsewhere reach the leaf if each path player's splits
are met by the one who speaks for him; that is worth

    v · Π_{j ∉ R} (1 - z_j) · Π_{i ∈ R∖B} z_i   if R ∪ B is the whole path, else 0,

and in the path-dependent game v · Π_i (s_i + z_i (a_i - s_i)), with a_i = 1 for i ∈ R,
else 0, and s_i the product of the shares of the cover at the splits of player i. So
explained rows with equal R have a cell in common, the terms of one leaf, and background
rows with equal B a term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.games.tree_nodes import Nodes
from fairfield.games.tree_terms import Int32s, Int64s, Terms, compiled
from fairfield.games.tree_worths import goes_left
from fairfield.multilinear import FloatArray

Words = NDArray[np.uint64]
Word = np.uint64

ONE = np.uint64(1)
FULL = ~np.uint64(0)


class Walk(NamedTuple):
    """Where a walk is: the path by depth, the explained rows, the background at a leaf.

    The background is kept as sets of rows, a bit each: ``every`` row; at each depth those
    that go ``left`` there, and that ``meet`` all splits so far of the player asked there,
    whose share of the cover is ``share``. ``asked[d, q]`` is the last depth up to d at which
    the q-th of the ``players`` was asked. Explained rows are lists of a ``member`` and its
    R, its ``pattern``, sorted by it, that of a node behind that of its parent. At a leaf
    ``sets`` of background rows are split into those of equal B, ``found`` with a ``weight``.
    """

    every: Words
    left: Words
    meet: Words
    share: FloatArray
    players: Int32s
    asked: Int64s
    member: Int32s
    pattern: Words
    moved: Int32s
    moved_pattern: Words
    sets: Words
    place: Int64s
    size: Int64s
    bits: Words
    found: Words
    weight: FloatArray


def start_walk(depth: int, rows: int, background: int) -> Walk:
    """Room for walks down trees of this depth with so many rows of both kinds."""
    levels, words = depth + 2, (background + 63) // 64
    every = np.full(words, FULL)
    every[-1:] >>= Word(64 * words - background)
    return Walk(
        every,
        np.zeros((levels, words), Word),
        np.zeros((levels, words), Word),
        np.ones(levels),
        np.zeros(levels, np.int32),
        np.zeros((levels, levels), np.int64),
        np.empty(levels * rows, np.int32),
        np.empty(levels * rows, Word),
        np.empty(rows, np.int32),
        np.empty(rows, Word),
        np.empty((levels, words), Word),
        np.empty(levels, np.int64),
        np.empty(levels, np.int64),
        np.empty(levels, Word),
        np.empty(background, Word),
        np.empty(background),
    )


@compiled
def collect(
    nodes: Nodes,
    player_of: Int32s,
    players: int,
    rows: FloatArray,
    background: FloatArray,
    tree: int,
    walk: Walk,
    terms: Terms,
) -> tuple[int, Int64s]:
    """Write the terms of trees ``tree`` to ``end`` - 1 for some rows; ``end``, and what is used.

    It ends before the tree for which there is no room. A background of no rows stands for
    the path-dependent game. Cost: per node visited, one test per background row and one
    step per explained row that some background row can still bring there; per leaf, a
    few passes over sets of the background, a bit per row, for each B; per term, O(1).
    """
    used = np.zeros(5, np.int64)  # cells, members, terms, literals, shares
    while tree < len(nodes.roots):
        before = used.copy()
        if not _descend(nodes, player_of, players, rows, background, tree, walk, terms, used):
            used[:] = before
            break
        tree += 1
    terms.begin[used[0]], terms.start[used[2]] = used[1], used[3]
    return tree, used


@compiled
def _descend(
    nodes: Nodes,
    player_of: Int32s,
    players: int,
    rows: FloatArray,
    background: FloatArray,
    tree: int,
    walk: Walk,
    terms: Terms,
    used: Int64s,
) -> bool:
    """Visit the nodes of a tree that some row on some coalition reaches; was there room?"""
    count, size = rows.shape[1], background.shape[1]
    walk.member[:count], walk.pattern[:count] = np.arange(count), 0
    # Node, parent, depth, the list of the rows at the parent, and its number of players.
    stack = np.empty((len(walk.place), 6), np.int64)
    stack[0], top = (nodes.roots[tree], -1, 0, 0, count, 0), 1
    while top:
        top -= 1
        node, parent, depth, low, high, known = stack[top]
        if parent >= 0:
            place = _step(nodes, player_of, walk, node, parent, depth, known)
            new, bit = place == known, ONE << Word(place)
            known += new
            low, high = high, _advance(nodes, walk, node, parent, bit, new, rows, low, high)
            if size:
                high = _drop(walk, depth, FULL >> Word(64 - known), bit, low, high)
        if low == high:
            continue
        if nodes.left[node] < 0:
            if not _emit(walk, depth, known, nodes.value[node], players, low, high, terms, used):
                return False
            continue
        _test(nodes, node, background[nodes.feature[node]], walk.every, walk.left[depth])
        stack[top] = (nodes.left[node], node, depth + 1, low, high, known)
        stack[top + 1] = (nodes.right[node], node, depth + 1, low, high, known)
        top += 2
    return True


@compiled
def _test(nodes: Nodes, node: int, numbers: FloatArray, every: Words, left: Words) -> None:
    """Find the set of the background rows that go left at a node."""
    threshold, missing_left = nodes.threshold[node], nodes.missing_left[node]
    for w in range(len(every)):
        word = Word(0)
        for b in range(64):
            number = numbers[64 * w + b]
            # What goes_left says, but a loop of numbers alone is one the compiler can widen.
            goes = number <= threshold or (missing_left and number != number)
            word |= Word(goes) << Word(b)
        left[w] = word & every[w]
    if nodes.category[node] >= 0:
        for w in range(len(every)):
            word = Word(0)
            for b in range(64):
                word |= Word(goes_left(nodes, node, numbers[64 * w + b])) << Word(b)
            left[w] = word & every[w]


@compiled
def _step(
    nodes: Nodes, player_of: Int32s, walk: Walk, node: int, parent: int, depth: int, known: int
) -> int:
    """Extend the path from parent to node; the place on it of the player asked at the parent."""
    who, place = player_of[nodes.feature[parent]], 0
    while place < known and walk.players[place] != who:
        place += 1
    before = walk.asked[depth - 1, place]
    for q in range(known):
        walk.asked[depth, q] = walk.asked[depth - 1, q]
    walk.asked[depth, place], walk.players[place] = depth, who
    walk.share[depth] = nodes.share[node]
    to_right = nodes.left[parent] != node
    for w in range(len(walk.every)):
        walk.meet[depth, w] = walk.left[depth - 1, w]
        if to_right:
            walk.meet[depth, w] ^= walk.every[w]
    if place < known:
        walk.share[depth] *= walk.share[before]
        for w in range(len(walk.every)):
            walk.meet[depth, w] &= walk.meet[before, w]
    return place


@compiled
def _advance(
    nodes: Nodes,
    walk: Walk,
    node: int,
    parent: int,
    bit: Word,
    new: bool,
    rows: FloatArray,
    low: int,
    high: int,
) -> int:
    """Write the list of the rows at a node behind that of its parent, [low, high); its end.

    Rows whose pattern changes all gain the bit of a new player, or all lose that of a
    known one, and so stay sorted among themselves: one merge restores the order.
    """
    member, pattern = walk.member, walk.pattern
    numbers, on_left = rows[nodes.feature[parent]], nodes.left[parent] == node
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
            alive = _completing(walk, depth, whole & ~met, w) != 0
            w += 1
        while m < high and walk.pattern[m] == met:
            if alive:
                walk.member[kept], walk.pattern[kept] = walk.member[m], met
                kept += 1
            m += 1
    return kept


@compiled
def _completing(walk: Walk, depth: int, missing: Word, w: int) -> Word:
    """The background rows, word w of their set, that meet the splits of the missing players."""
    rest: Word = walk.every[w]
    while missing:
        rest &= walk.meet[walk.asked[depth, _lowest(missing)], w]
        missing &= missing - ONE
    return rest


@compiled
def _emit(
    walk: Walk,
    depth: int,
    known: int,
    value: float,
    players: int,
    low: int,
    high: int,
    terms: Terms,
    used: Int64s,
) -> bool:
    """Write the cells of a leaf, one per R of the rows in [low, high); was there room?"""
    whole = FULL >> Word(64 - known) if known else Word(0)
    dependent, number = len(walk.every) == 0, 1
    if not dependent:
        number = _collapse(walk, depth, known, whole, low, high)
    cell, member, term, literal, share = used
    if max(member + high - low, share + known) > len(terms.coefficient):
        return False
    if dependent:
        for q in range(known):
            terms.player[share + q] = walk.players[q]
            terms.share[share + q] = walk.share[walk.asked[depth, q]]
    while low < high:
        met = walk.pattern[low]
        if max(term + number + 1, literal + (number + 1) * known) > len(terms.coefficient):
            return False
        terms.low[cell], terms.begin[cell] = term, member
        while low < high and walk.pattern[low] == met:
            terms.member[member] = walk.member[low]
            member += 1
            low += 1
        terms.start[term], terms.coefficient[term] = literal, 1.0
        term += 1
        if dependent:
            for q in range(known):
                terms.literals[literal] = 2 * (share + q) + np.int64((met >> Word(q)) & ONE)
                literal += 1
            terms.start[term], terms.coefficient[term] = literal, value
            term += 1
        else:
            literal = _write(terms, literal, walk, whole & ~met, players)
            for f in range(number):
                if met | walk.found[f] == whole:
                    terms.start[term], terms.coefficient[term] = literal, value * walk.weight[f]
                    term += 1
                    literal = _write(terms, literal, walk, met & ~walk.found[f], 0)
        terms.high[cell] = term
        cell += 1
    used[0], used[1], used[2], used[3] = cell, member, term, literal
    if dependent:
        used[4] += known
    return True


@compiled
def _write(terms: Terms, literal: int, walk: Walk, players: Word, offset: int) -> int:
    """Append the literals of these players of the path; where they end."""
    while players:
        terms.literals[literal] = walk.players[_lowest(players)] + offset
        literal += 1
        players &= players - ONE
    return literal


@compiled
def _collapse(walk: Walk, depth: int, known: int, whole: Word, low: int, high: int) -> int:
    """Find the distinct B of the background rows that complete some R in [low, high).

    The set of these rows is split by each player in turn into those that meet his splits
    and those that do not; a stack holds the sets still to be split. How many there are.
    """
    sets, meet, words = walk.sets, walk.meet, len(walk.every)
    for w in range(words):
        sets[0, w] = 0
    for m in range(low, high):
        if m == low or walk.pattern[m] != walk.pattern[m - 1]:
            for w in range(words):
                sets[0, w] |= _completing(walk, depth, whole & ~walk.pattern[m], w)
    walk.place[0], walk.bits[0], walk.size[0] = 0, Word(0), 0
    for w in range(words):
        walk.size[0] += _ones(sets[0, w])
    number, top = 0, 0
    while top >= 0:
        q, size = walk.place[top], walk.size[top]
        if q == known:
            walk.found[number], walk.weight[number] = walk.bits[top], size / len(walk.found)
            number += 1
            top -= 1
            continue
        if size == 1:
            # Nothing left to split: read off the splits of this one row.
            w = 0
            while sets[top, w] == 0:
                w += 1
            b = Word(_lowest(sets[top, w]))
            for p in range(q, known):
                walk.bits[top] |= ((meet[walk.asked[depth, p], w] >> b) & ONE) << Word(p)
            walk.place[top] = known
            continue
        walk.place[top] = q + 1
        outside, at = 0, walk.asked[depth, q]
        for w in range(words):
            outside += _ones(sets[top, w] & ~meet[at, w])
        if outside == size:
            continue
        if outside:
            for w in range(words):
                sets[top + 1, w] = sets[top, w] & ~meet[at, w]
                sets[top, w] &= meet[at, w]
            walk.place[top + 1], walk.bits[top + 1] = q + 1, walk.bits[top]
            walk.size[top], walk.size[top + 1] = size - outside, outside
        walk.bits[top] |= ONE << Word(q)
        top += outside > 0
    return number


@compiled
def _ones(word: Word) -> int:
    """How many bits are set; the compiler knows this loop as one instruction."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


@compiled
def _lowest(word: Word) -> int:
    """The place of the lowest bit that is set."""
    return _ones((word & -word) - ONE)
