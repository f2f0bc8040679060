"""A walk down a tree, and the cells of a leaf where it ends: compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int32s, Int64s, compiled
from fairfield.games.trees.products.terms import ONE, Terms, Word, Words, lowest, ones

FULL = ~np.uint64(0)


class Walk(NamedTuple):
    """What walks down the trees, and its state: the path by depth, the rows, the background.

    ``rows`` (columns, rows) are explained; the ``background`` is padded to whole words of 64
    rows. The background is held as sets of rows, a bit
    each: ``every`` row; at each depth those that go ``left`` there, and that ``meet`` all splits so
    far of the player split there. ``last_split[d, q]`` is the last depth up to d that
    splits the q-th of the ``players``. Explained rows are lists of a ``member`` and its R, its
    ``pattern``, sorted by it, that of a node behind that of its parent. At a leaf ``sets`` of
    background rows are split into those of equal B, ``found`` with a ``weight``.
    """

    rows: FloatArray
    background: FloatArray
    every: Words
    left: Words
    meet: Words
    players: Int32s
    last_split: Int64s
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


def start_walk(depth: int, rows: FloatArray, background: FloatArray) -> Walk:
    """Room for walks down trees of this depth with rows of both kinds."""
    count, size = rows.shape[1], background.shape[1]
    levels, words = depth + 2, (size + 63) // 64
    every = np.full(words, FULL)
    every[-1:] >>= Word(64 * words - size)
    return Walk(
        np.ascontiguousarray(rows),
        np.pad(background, ((0, 0), (0, -size % 64))),
        every,
        np.zeros((levels, words), Word),
        np.zeros((levels, words), Word),
        np.zeros(levels, np.int32),
        np.zeros((levels, levels), np.int64),
        np.empty(levels * count, np.int32),
        np.empty(levels * count, Word),
        np.empty(count, np.int32),
        np.empty(count, Word),
        np.empty((levels, words), Word),
        np.empty(levels, np.int64),
        np.empty(levels, np.int64),
        np.empty(levels, Word),
        np.empty(size, Word),
        np.empty(size),
    )


@compiled
def completing(walk: Walk, depth: int, missing: Word, w: int) -> Word:
    """The background rows, word w of their set, that meet the splits of the missing players."""
    rest: Word = walk.every[w]
    while missing:
        rest &= walk.meet[walk.last_split[depth, lowest(missing)], w]
        missing &= missing - ONE
    return rest


@compiled
def emit(
    walk: Walk,
    depth: int,
    length: int,
    value: float,
    low: int,
    high: int,
    terms: Terms,
    used: Int64s,
) -> bool:
    """Write the cells of a leaf, one per R of the rows in [low, high); False if out of room.

    The B are found in the order of their bits, the first of them counting most, so that products
    of equal beginnings follow each other: ``place`` and ``size`` are the path to the last one.
    """
    whole = FULL >> Word(64 - length) if length else Word(0)
    number = _collapse(walk, depth, length, whole, low, high)
    cell, member, names, product = used
    if max(member + high - low, names + length) > len(terms.coefficient):
        return False
    terms.players[names : names + length] = walk.players[:length]
    while low < high:
        met = walk.pattern[low]
        if product + (number + 1) * (length + 1) > len(terms.coefficient):
            return False
        first = terms.low[cell] = product
        terms.names[cell], terms.outside[cell], terms.begin[cell] = names, whole & ~met, member
        while low < high and walk.pattern[low] == met:
            terms.member[member] = walk.member[low]
            member += 1
            low += 1
        terms.coefficient[product] = 0.0
        product, base = product + 1, 0
        missing = whole & ~met
        while missing:
            _write(terms, product, base, lowest(missing))
            product, base = product + 1, product - first
            missing &= missing - ONE
        top, before = 0, Word(0)
        for f in range(number):
            if met | walk.found[f] != whole:
                continue
            chosen = met & ~walk.found[f]
            if chosen != before:
                bit = lowest(chosen ^ before)
                while top and walk.place[top - 1] >= bit:
                    top -= 1
                ahead = chosen >> Word(bit) << Word(bit)
                while ahead:
                    walk.place[top], walk.size[top] = lowest(ahead), product - first
                    _write(terms, product, walk.size[top - 1] if top else base, walk.place[top])
                    product, top = product + 1, top + 1
                    ahead &= ahead - ONE
            last = first + (walk.size[top - 1] if top else base)
            terms.coefficient[last] += value * walk.weight[f]
            before = chosen
        terms.high[cell] = product
        cell += 1
    used[0], used[1], used[2], used[3] = cell, member, names + length, product
    return True


@compiled
def _write(terms: Terms, product: int, parent: int, place: int) -> None:
    """Write a product, as yet without a coefficient."""
    terms.parent[product], terms.place[product] = parent, place
    terms.coefficient[product] = 0.0


@compiled
def _collapse(walk: Walk, depth: int, length: int, whole: Word, low: int, high: int) -> int:
    """Find the distinct B of the background rows that complete some R in [low, high).

    The set of these rows is split by each player in turn into those that meet their splits
    and those that do not; a stack holds the sets still to be split. Returns how many B there are.
    """
    sets, meet, words = walk.sets, walk.meet, len(walk.every)
    for w in range(words):
        sets[0, w] = 0
    for m in range(low, high):
        if m == low or walk.pattern[m] != walk.pattern[m - 1]:
            for w in range(words):
                sets[0, w] |= completing(walk, depth, whole & ~walk.pattern[m], w)
    walk.place[0], walk.bits[0], walk.size[0] = 0, Word(0), 0
    for w in range(words):
        walk.size[0] += ones(sets[0, w])
    number, top = 0, 0
    while top >= 0:
        q, size = walk.place[top], walk.size[top]
        if q == length:
            walk.found[number], walk.weight[number] = walk.bits[top], size / len(walk.found)
            number += 1
            top -= 1
            continue
        if size == 1:
            # Nothing left to split: read off the splits of this one row.
            w = 0
            while sets[top, w] == 0:
                w += 1
            b = Word(lowest(sets[top, w]))
            for p in range(q, length):
                walk.bits[top] |= ((meet[walk.last_split[depth, p], w] >> b) & ONE) << Word(p)
            walk.place[top] = length
            continue
        walk.place[top] = q + 1
        outside, at = 0, walk.last_split[depth, q]
        for w in range(words):
            outside += ones(sets[top, w] & ~meet[at, w])
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
