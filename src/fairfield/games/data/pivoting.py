"""The shares of variance that all 2^n sets of columns explain, by pivoting.

Columns are pivoted one after another. After k of them there are 2^k matrices of what is left of the
correlations of the others, and the pivot of the next column makes two of each: the same without the column,
and A_ij - A_ip A_jp / A_pp with it. Only what is still to be pivoted is kept, so that the sum over all steps
is about six entries for each of 2^n sets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray

Products = NDArray[np.floating[Any]]
# Arrays of about so many numbers stay in cache.
IN_CACHE = 2**17
# A column of which the others leave less than this share of its variance depends on them.
COLLINEAR = 1e-12


def share_tables(correlations: Products) -> FloatArray:
    """Tables (k, 2^n) of R² from correlations (k, n + 1, n + 1), the last of which is that of y.

    >>> share_tables(np.array([[[1.0, 0.6], [0.6, 1.0]]])).tolist()
    [[0.0, 0.36]]
    """
    games, count = correlations.shape[0], correlations.shape[1] - 1
    found = np.empty((games, 2**count))
    # The columns that are pivoted all at once; the others, the last ones, are pivoted one by one.
    together = min(count, max(1, int(np.log2(IN_CACHE / games))))
    largest = max(((together - k) ** 2 << k + 1 for k in range(together)), default=0)
    room = np.empty((2, games * largest), dtype=correlations.dtype)
    _fill(correlations, found, room, together)
    found[:, 0] = 0.0
    return found


def share(correlations: Products) -> FloatArray:
    """R² (k,) of y on all columns."""
    left = correlations
    while left.shape[1] > 1:
        column = left[:, 1:, 0]
        scaled = column * _inverse(left[:, 0, 0])[:, None]
        left = left[:, 1:, 1:] - scaled[:, :, None] * column[:, None, :]
    return np.asarray(np.clip(1 - left[:, 0, 0], 0, 1), dtype=float)


def _fill(left: Products, found: FloatArray, room: Products, together: int) -> None:
    """Write 1 - what is left of y for all sets of the columns; ``room`` is used for the way there."""
    count = left.shape[1] - 1
    if count > together:
        others, half = [*range(count - 1), count], found.shape[1] // 2
        rest, column = left[:, others][:, :, others], left[:, others, count - 1]
        scaled = column * _inverse(left[:, count - 1, count - 1])[:, None]
        _fill(rest, found[:, :half], room, together)
        _fill(rest - scaled[:, :, None] * column[:, None, :], found[:, half:], room, together)
        return
    # Entry (i, j) of all matrices so far lies side by side: (left, left, games, sets).
    entries = left.transpose(1, 2, 0)[..., None]
    for pivot in range(count):
        column, rest = entries[0, 1:], entries[1:, 1:]
        scaled = column * _inverse(entries[0, 0])
        # The entries lie in one half of the room, the new ones in the other.
        both = room[pivot % 2, : 2 * rest.size].reshape((*rest.shape[:3], 2, rest.shape[3]))
        both[:, :, :, 0], pivoted = rest, both[:, :, :, 1]
        np.multiply(scaled[:, None], column[None], out=pivoted)
        np.subtract(rest, pivoted, out=pivoted)
        entries = both.reshape((*rest.shape[:3], -1))
    np.clip(1 - entries[0, 0], 0, 1, out=found, casting="same_kind")


def _inverse(pivots: Products) -> Products:
    """1/pivot, 0 where nothing is left of the column."""
    some = pivots > COLLINEAR
    return np.asarray(np.where(some, 1 / np.where(some, pivots, 1), 0))
