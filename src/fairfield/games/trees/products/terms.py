"""Sums of products over players, and their readings: compiled loops.

With a background, the contribution of a tree model to the extension of an explained row is a sum of
*cells*, each a product of factors 1 - x_j times a polynomial with few monomials. The rows that share a
cell are worked on side by side, so that one instruction serves several.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int32s, Int64s, compiled
from fairfield.games.trees.pairs import pair_place

# Players on one path: the bits of a word.
MOST = 64
# Rows of a cell that are worked on together.
SPAN = 64

Words = NDArray[np.uint64]
Word = np.uint64
ONE = np.uint64(1)


class Terms(NamedTuple):
    """What some trees contribute to the extensions of some explained rows.

    Cell c belongs to the rows ``member[begin[c]:begin[c + 1]]`` and to the players from ``names[c]`` on
    in ``players``. Its products are ``low[c]`` to ``high[c]`` - 1, the first of them 1: each is that of
    its ``parent``, counted from the first, times x of the player at this ``place``, or 1 - x for those
    in the set ``outside[c]``; and it has a coefficient.
    """

    low: Int32s
    high: Int32s
    names: Int32s
    outside: Words
    begin: Int32s
    member: Int32s
    players: Int32s
    parent: Int32s
    place: Int32s
    coefficient: FloatArray


def blank(capacity: int) -> Terms:
    """Room for so many cells, members, players and products."""
    whole = [np.empty(capacity + 1, np.int32) for _ in range(8)]
    outside, coefficient = np.empty(capacity, Word), np.empty(capacity)
    return Terms._make([*whole[:3], outside, *whole[3:], coefficient])


def filled(room: Terms, used: Int64s) -> Terms:
    """The part of the room that holds so many cells, members, players and products."""
    cells, members, players, products = used
    ends = (*(cells,) * 4, cells + 1, members, players, *(products,) * 3)
    arrays: tuple[NDArray[Any], ...] = room
    return Terms._make(array[:end] for array, end in zip(arrays, ends, strict=True))


def restrict(terms: Terms, place: Int64s) -> Terms:
    """The terms of some rows: row i has the number ``place[i]`` among them, or -1."""
    begin, member = _members(terms.begin, terms.member, place)
    kept = np.flatnonzero(np.diff(begin))
    cells = {name: getattr(terms, name)[kept] for name in ("low", "high", "names", "outside")}
    return terms._replace(**cells, begin=np.append(begin[kept], begin[-1:]), member=member)


@compiled
def _members(begin: Int32s, member: Int32s, place: Int64s) -> tuple[Int32s, Int32s]:
    """Where the members of each cell begin among those with a place, and these places."""
    begins, places, count = np.zeros_like(begin), np.empty_like(member), 0
    for c in range(len(begin) - 1):
        for m in range(begin[c], begin[c + 1]):
            places[count] = place[member[m]]
            count += place[member[m]] >= 0
        begins[c + 1] = count
    return begins, places[:count].copy()


@compiled
def add_derivatives(
    terms: Terms, x: FloatArray, order: int, value: FloatArray, paid: FloatArray
) -> None:
    """Add the cells and their derivatives of ``order`` 1 or 2 at one point per row, (players, rows).

    ``paid`` has a line for each player or pair of players. All is one function that indexes lines
    and never slices them: arrays that are handed on are counted, which costs more than a short loop.
    """
    low, high, names, outsides, begin, member, players, parents, places, coefficients = terms
    widest = _most_products(terms)
    point, slope, between = np.empty((MOST, SPAN)), np.empty((MOST, SPAN)), np.empty(SPAN)
    product, below = np.empty((widest, SPAN)), np.empty((widest, SPAN))
    for c in range(len(low)):
        first, count, name, outside = low[c], high[c] - low[c], names[c], outsides[c]
        for start in range(begin[c], begin[c + 1], SPAN):
            size, used = min(SPAN, begin[c + 1] - start), Word(0)
            for m in range(size):
                product[0, m] = 1.0
            for t in range(1, count):
                q, above = places[first + t], parents[first + t]
                if not used >> Word(q) & ONE:
                    used |= ONE << Word(q)
                    who = players[name + q]
                    for m in range(size):
                        point[q, m] = x[who, member[start + m]]
                        slope[q, m] = 0.0
                    if outside >> Word(q) & ONE:
                        for m in range(size):
                            point[q, m] = 1 - point[q, m]
                for m in range(size):
                    product[t, m] = product[above, m] * point[q, m]
            # What a product is multiplied by in the sum.
            for t in range(count):
                for m in range(size):
                    below[t, m] = coefficients[first + t]
            for t in range(count - 1, 0, -1):
                q, above = places[first + t], parents[first + t]
                for m in range(size):
                    below[above, m] += below[t, m] * point[q, m]
                for m in range(size):
                    slope[q, m] += below[t, m] * product[above, m]
            if order == 1:
                for m in range(size):
                    value[member[start + m]] += below[0, m]
                q = 0
                while used:
                    if used & ONE:
                        who, sign = players[name + q], 1.0
                        if outside >> Word(q) & ONE:
                            sign = -1.0
                        for m in range(size):
                            paid[who, member[start + m]] += sign * slope[q, m]
                    used >>= ONE
                    q += 1
                continue
            for t in range(1, count):
                own, s = places[first + t], parents[first + t]
                for m in range(size):
                    between[m] = below[t, m]
                while s:
                    q, above = places[first + s], parents[first + s]
                    i, j = players[name + own], players[name + q]
                    pair, sign = pair_place(max(i, j), min(i, j)), 1.0
                    if (outside >> Word(own) ^ outside >> Word(q)) & ONE:
                        sign = -1.0
                    for m in range(size):
                        paid[pair, member[start + m]] += sign * product[above, m] * between[m]
                    for m in range(size):
                        between[m] *= point[q, m]
                    s = above


@compiled
def _most_products(terms: Terms) -> int:
    """The most products of a cell."""
    most = 1
    for c in range(len(terms.low)):
        most = max(most, terms.high[c] - terms.low[c])
    return most


@compiled
def ones(word: Word) -> int:
    """How many bits are set; the compiler makes one instruction of this loop."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


@compiled
def lowest(word: Word) -> int:
    """The place of the lowest bit that is set."""
    return ones((word & -word) - ONE)
