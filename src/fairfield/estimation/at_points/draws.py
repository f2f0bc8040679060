"""Coalitions drawn from a product law: player i is in with probability x_i."""

from __future__ import annotations

import warnings

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# Beyond this many players SciPy has no direction numbers.
MOST_DIMENSIONS = 21_201
# The chance left to what a certain player does not do: sums of its logarithm stay finite.
TINY = 1e-18
# Binary digits of a Sobol point.
DIGITS = 30
# Worths that take so few values jump between them, as in a vote.
STEPPED = 3
# No draws that belong together.
NO_TWINS: IntArray = np.empty((0, 2), dtype=np.int64)


def bernoulli(x: FloatArray, count: int, rng: np.random.Generator, *, block: int = 64) -> BoolArray:
    """``count`` draws from q_x: z_i = [u_i < x_i] at scrambled Sobol points u.

    Every draw has the law q_x; together they fill the cube more evenly than independent
    ones (Owen, 1998). Near ½ a draw shows the leading bits alone, which scrambling leaves
    tied to each other, so that a player may be mistaken for a few others together. So the
    draws come in blocks of this size, the same points with other digits flipped, in each of
    which players take the dimensions in another order: such mistakes average out. More
    players than the sequence has dimensions are drawn independently.
    """
    if len(x) > MOST_DIMENSIONS:
        return np.asarray(rng.random((count, len(x))) < x)
    points = _sobol(len(x), min(block, count), rng)
    drawn = np.empty((count, len(x)), dtype=bool)
    for at in range(0, count, block):
        # Flipped digits make every block a fair draw on its own.
        flips, order = rng.integers(0, 1 << DIGITS, len(x)), rng.permutation(len(x))
        rows = points[: count - at, order] ^ flips
        np.less(rows, x * (1 << DIGITS), out=drawn[at : at + block])
    return drawn


def _sobol(players: int, count: int, rng: np.random.Generator) -> IntArray:
    """Scrambled Sobol points, as whole numbers of this many binary digits."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        # Its balance is best at powers of two; any other count is still a fair draw.
        warnings.filterwarnings("ignore", message="The balance properties", category=UserWarning)
        points = qmc.Sobol(players, bits=DIGITS, seed=rng).random(count)
    return np.asarray(points * (1 << DIGITS), dtype=np.int64)


def twins(count: int, block: int) -> IntArray:
    """Which of so many draws are twins: (k, 2).

    Two by two the points of a block differ in the leading digit of all players, so that twins are
    complements at ½, and opposed elsewhere.
    """
    first = np.arange(count - 1)
    first = first[(first % block % 2 == 0) & (first % block < block - 1)]
    return np.stack([first, first + 1], axis=1)


def gathered(shifts: FloatArray, counts: FloatArray, pairs: IntArray) -> FloatArray:
    """Σ ψψᵀ over draws that add ψ (…, m, n) to an error, each so often, twins (k, 2) as one.

    What is odd in a game errs alike in twins, what is even cancels.
    """
    one, other = (shifts[..., pairs[:, side], :] for side in range(2))
    crossed = one.swapaxes(-1, -2) @ other
    alone = (shifts * counts[:, None]).swapaxes(-1, -2) @ shifts
    return np.asarray(alone + crossed + crossed.swapaxes(-1, -2))


def log_law(coalitions: BoolArray | FloatArray, x: FloatArray) -> FloatArray:
    """log q_x(z) of coalitions (m, n), at points (…, n): (…, m)."""
    inside = np.log(np.maximum(x, TINY))
    outside = np.log(np.maximum(1 - np.asarray(x), TINY))
    return np.asarray((inside - outside) @ coalitions.T + outside.sum(axis=-1)[..., None])


def effective_size(weights: FloatArray, counts: FloatArray) -> float:
    """(Σ w)²/Σ w² over draws, the number of draws of equal weight that would serve as well."""
    squares = counts @ weights**2
    return float((counts @ weights) ** 2 / squares) if squares > 0 else 0.0
