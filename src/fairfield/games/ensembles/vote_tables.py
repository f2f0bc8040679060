"""The share of rows that each of the 2^n coalitions of models predicts correctly.

A coalition is right on a row when its votes for the truth exceed those for each other
class: when every sum of margins is positive. Sums over the low models are kept, those
over the high ones are added block by block, so each coalition costs one addition and one
minimum over rows × classes numbers of float32. Sums that float32 cannot distinguish from a
tie are computed again in float64.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.coalitions import coalitions_in

# Numbers in a block of sums, which stays in the second-level cache, and in the kept sums,
# which stay in the last.
BLOCK = 2**17
KEPT = 2**21
# Close cases that are kept until they are decided in float64, 24 bytes each.
WAITING = 2**18


def right_shares(margins: FloatArray, least: float) -> FloatArray:
    """The share of rows on which each coalition's margins all reach ``least``: (2^n,).

    ``margins`` (models, classes - 1, rows) are votes for the truth less votes for another
    class. Cost: O(2^n · rows · classes).
    """
    models, others, rows = margins.shape
    size = others * rows
    narrow = margins.astype(np.float32).reshape(models, size)
    # The rounding error of sums in float32: none where 24 bits hold them all.
    largest = float(np.abs(margins).sum(axis=0).max())
    steps = margins * 2.0 ** np.floor(24 - np.log2(max(largest, 1.0)))
    error = 0.0 if (steps == np.round(steps)).all() else 2.0**-24 * models * largest
    low = int(np.clip(np.log2(KEPT / size), 0, models))
    sums = np.zeros((1, size), dtype=np.float32)
    for model in range(low):
        sums = np.concatenate([sums, sums + narrow[model]])
    step = max(1, BLOCK // size)
    right = np.empty((2 ** (models - low), len(sums)))
    buffer = np.empty((step, size), dtype=np.float32)
    found = right.reshape(-1)
    close: list[IntArray] = []
    waiting = 0
    for line, base in enumerate(_coalition_sums(narrow[low:])):
        for start in range(0, len(sums), step):
            some = sums[start : start + step]
            block = np.add(some, base, out=buffer[: len(some)]).reshape(-1, others, rows)
            lowest = block.min(axis=1)
            right[line, start : start + len(some)] = np.count_nonzero(lowest >= least, axis=1)
            if error and (near := np.abs(lowest - least) <= error).any():
                which, row = np.nonzero(near)
                was = lowest[which, row] >= least
                close.append(np.stack([line * len(sums) + start + which, row, was]))
                waiting += len(which)
                if waiting > WAITING:
                    _settle(found, margins, least, close)
                    close, waiting = [], 0
    _settle(found, margins, least, close)
    return np.asarray(found / rows)


def _coalition_sums(numbers: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    """The sum over each coalition of lines, in table order, one addition each."""
    # A coalition adds one line to the coalition without its lowest member, which came before
    # it; since then only larger coalitions came, so one slot per size is enough.
    kept = np.zeros((len(numbers) + 1, numbers.shape[1]), dtype=np.float32)
    yield kept[0]
    for coalition in range(1, 2 ** len(numbers)):
        size = coalition.bit_count()
        lowest = (coalition & -coalition).bit_length() - 1
        yield np.add(kept[size - 1], numbers[lowest], out=kept[size])


def _settle(right: FloatArray, margins: FloatArray, least: float, close: list[IntArray]) -> None:
    """Correct the counts of right rows, in place, by sums of the close cases in float64."""
    cases = np.concatenate([np.empty((3, 0), dtype=np.int64), *close], axis=1)
    for start in range(0, cases.shape[1], BLOCK // 8):
        coalitions, rows, was = cases[:, start : start + BLOCK // 8]
        inside = coalitions_in(coalitions, len(margins)).astype(float)
        sums = np.einsum("km,mck->kc", inside, margins[:, :, rows])
        np.add.at(right, coalitions, (sums.min(axis=1) >= least) - was.astype(float))
