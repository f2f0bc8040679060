"""Background rows that count more or less than others."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray, IntArray

# So many copies of rows stand for weights, at most.
MOST_COPIES = 10**6
# Classes of rows that bring their weights: of shap, and our own.
SUMMARIES = ("DenseData", "Summary")


def weighted_rows(background: Any, sample_weight: ArrayLike | None) -> tuple[Any, Any]:
    """Background rows and their weights; those of ``shap.kmeans`` and of a summary bring their own.

    >>> weighted_rows([[1.0], [2.0]], [3, 1])[1]
    array([0.75, 0.25])
    """
    if type(background).__name__ in SUMMARIES:
        given = background.weights if sample_weight is None else sample_weight
        background, sample_weight = background.data, given
    # Arrays and frames of any library have a shape, a list of rows has a length.
    size = getattr(background, "shape", None)
    if size is None and hasattr(background, "__len__"):
        size = (len(background),)
    if size and size[0] == 0 and not callable(background):
        raise ValueError("the background has no rows; give at least one")
    if sample_weight is None:
        return background, None
    if background is None or callable(background):
        raise ValueError("sample_weight= was given without background rows; it weighs these")
    weights = np.asarray(sample_weight, dtype=float)
    shape = np.shape(background)
    count = shape[0] if len(shape) == 2 else 1  # one row may be given as it is
    if weights.shape != (count,):
        raise ValueError(
            f"sample_weight has shape {weights.shape} for a background of {count} rows; give one weight each"
        )
    if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.sum() > 0):
        raise ValueError("sample_weight must hold finite numbers from 0 on, and one above 0")
    return background, weights / weights.sum()


def copies(weights: FloatArray) -> IntArray:
    """How often rows are repeated, so that each counts as much as its weight says.

    >>> copies(np.array([0.75, 0.25]))
    array([3, 1])
    """
    shares = [Fraction(weight).limit_denominator(MOST_COPIES) for weight in weights]
    total = 1
    for share in shares:
        total = lcm(total, share.denominator)
        if total > MOST_COPIES:  # it may grow without bounds
            break
    else:
        counts = np.array([int(share * total) for share in shares])
        if np.abs(counts / counts.sum() - weights).max() <= 1e-12:
            return counts
    raise ValueError(
        f"these weights are no counts of up to {MOST_COPIES:,} rows, and trees count the rows of a "
        "background"
    )
