"""Sums of products over players, and their readings: compiled loops.

With a background, the contribution of a tree model to the extension of an explained row is a sum
of *cells*, each a product of *literals* times a sum of *terms*, coefficients times products of
further literals. A literal is x_i or 1 - x_i. No player has two literals in one product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int32s, Int64s, compiled

# Players on one path: the bits of a word.
MOST = 64


class Terms(NamedTuple):
    """What some trees contribute to the extensions of some explained rows.

    Cell c belongs to the rows ``member[begin[c]:begin[c + 1]]`` and is term ``low[c]``, its
    common factor, times the sum of the terms after it, up to ``high[c]`` - 1. Term t is a
    coefficient times ``literals[start[t]:start[t + 1]]``, which number the entries of (x, 1 - x).
    """

    low: Int32s
    high: Int32s
    begin: Int32s
    member: Int32s
    coefficient: FloatArray
    start: Int32s
    literals: Int32s


def blank(capacity: int) -> Terms:
    """Room for so many members, terms and literals."""
    whole = [np.empty(capacity + 1, np.int32) for _ in range(6)]
    return Terms._make([*whole[:4], np.empty(capacity), *whole[4:]])


def filled(room: Terms, used: Int64s) -> Terms:
    """The part of the room that holds so many cells, members, terms and literals."""
    cells, members, terms, literals = used
    ends = (cells, cells, cells + 1, members, terms, terms + 1, literals)
    arrays: tuple[NDArray[Any], ...] = room
    return Terms._make(array[:end] for array, end in zip(arrays, ends, strict=True))


def restrict(terms: Terms, place: Int64s) -> Terms:
    """The terms of some rows: row i has the number ``place[i]`` among them, or -1."""
    member = place[terms.member].astype(np.int32)
    cell = np.repeat(np.arange(len(terms.low)), np.diff(terms.begin))
    counts = np.bincount(cell[member >= 0], minlength=len(terms.low))
    begin = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int32)
    low, high = terms.low[counts > 0], terms.high[counts > 0]
    return terms._replace(low=low, high=high, begin=begin, member=member[member >= 0])


@compiled
def add_gradient(terms: Terms, x: FloatArray, value: FloatArray, gradient: FloatArray) -> None:
    """Add the cells and their derivatives at one point per row.

    ``x`` holds (x, 1 - x) and ``gradient`` the derivatives by both. The product of all but
    one literal comes from those before and those after it, never by dividing.
    """
    outer, inner = np.empty(MOST), np.empty(MOST)
    for c in range(len(terms.low)):
        first = terms.low[c]
        start, end = terms.start[first], terms.start[first + 1]
        for m in range(terms.begin[c], terms.begin[c + 1]):
            i = terms.member[m]
            common, total = 1.0, 0.0
            for q in range(start, end):
                outer[q - start] = common
                common *= x[i, terms.literals[q]]
            for t in range(first + 1, terms.high[c]):
                low, high = terms.start[t], terms.start[t + 1]
                product, after = terms.coefficient[t], common
                for q in range(low, high):
                    inner[q - low] = product
                    product *= x[i, terms.literals[q]]
                total += product
                for q in range(high - 1, low - 1, -1):
                    gradient[i, terms.literals[q]] += inner[q - low] * after
                    after *= x[i, terms.literals[q]]
            value[i] += common * total
            for q in range(end - 1, start - 1, -1):
                gradient[i, terms.literals[q]] += outer[q - start] * total
                total *= x[i, terms.literals[q]]


@compiled
def add_hessian(terms: Terms, x: FloatArray, hessian: FloatArray) -> None:
    """Add the second derivatives at one point (x, 1 - x) per row, each pair of players once."""
    players = hessian.shape[1]
    who, slope, factor = np.empty(MOST, np.int64), np.empty(MOST), np.empty(MOST)
    for c in range(len(terms.low)):
        first = terms.low[c]
        for m in range(terms.begin[c], terms.begin[c + 1]):
            i = terms.member[m]
            for t in range(first, terms.high[c]):
                # The common factor stays in front while the terms take turns behind it.
                length = 0 if t == first else terms.start[first + 1] - terms.start[first]
                for q in range(terms.start[t], terms.start[t + 1]):
                    literal = terms.literals[q]
                    factor[length] = x[i, literal]
                    who[length] = literal % players
                    slope[length] = 1.0 if literal < players else -1.0
                    length += 1
                before = terms.coefficient[t]
                for p in range(length if t > first else 0):
                    between = before * slope[p]
                    for q in range(p + 1, length):
                        rest = between * slope[q]
                        for r in range(q + 1, length):
                            rest *= factor[r]
                        hessian[i, who[p], who[q]] += rest
                        between *= factor[q]
                    before *= factor[p]


@compiled
def pair_place(i: int, j: int) -> int:
    """The place of the pair i > j among all pairs."""
    return i * (i - 1) // 2 + j


@compiled
def add_along_diagonal(terms: Terms, joint: FloatArray, values: FloatArray) -> None:
    """Add Σ w ∇(t, …, t) of the cells over points t of weights w: (players, rows).

    ``joint[a, b]`` is Σ w t^a (1 - t)^b. A term with a literals x_i, in a cell with b literals
    1 - x_j, pays joint[a - 1, b] of its coefficient to each i and takes joint[a, b - 1] from each j.
    """
    players = len(values)
    gain, paid_here = np.zeros(players), np.zeros(players, np.bool_)
    met = np.empty(MOST, np.int64)
    for c in range(len(terms.low)):
        first, loss, count = terms.low[c], 0.0, 0
        outside = terms.start[first + 1] - terms.start[first]
        for t in range(first + 1, terms.high[c]):
            inside = terms.start[t + 1] - terms.start[t]
            if outside:
                loss += terms.coefficient[t] * joint[inside, outside - 1]
            for q in range(terms.start[t], terms.start[t + 1]):
                who = terms.literals[q]
                if not paid_here[who]:
                    paid_here[who], met[count] = True, who
                    count += 1
                gain[who] += terms.coefficient[t] * joint[inside - 1, outside]
        for m in range(terms.begin[c], terms.begin[c + 1]):
            row = terms.member[m]
            for at in range(count):
                values[met[at], row] += gain[met[at]]
            for q in range(terms.start[first], terms.start[first + 1]):
                values[terms.literals[q] - players, row] -= loss
        for at in range(count):
            gain[met[at]], paid_here[met[at]] = 0.0, False
