"""Coalitions drawn from a product law: player i is in with probability x_i."""

from __future__ import annotations

import warnings

import numpy as np

from fairfield.coalitions import BoolArray
from fairfield.multilinear import FloatArray

# Beyond this many players SciPy has no direction numbers.
MOST_DIMENSIONS = 21_201
# The chance left to what a certain player does not do: sums of its logarithm stay finite.
TINY = 1e-18


def bernoulli(x: FloatArray, count: int, rng: np.random.Generator, *, block: int = 64) -> BoolArray:
    """``count`` draws from q_x: z_i = [u_i < x_i] at scrambled Sobol points u.

    Every draw has the law q_x; together they fill the cube more evenly than independent
    ones (Owen, 1998). Near ½ a draw shows the leading bits alone, which scrambling leaves
    tied to each other, so that a player may be mistaken for a few others together. So the
    draws come in blocks of this size, in each of which players take the dimensions in another order: such
    mistakes average out. More players than the sequence has dimensions are drawn independently.
    """
    if len(x) > MOST_DIMENSIONS:
        return np.asarray(rng.random((count, len(x))) < x)
    sizes = [min(block, count - at) for at in range(0, count, block)]
    points = [_sobol(len(x), each, rng) for each in sizes]
    return np.asarray(np.concatenate(points) < x)


def _sobol(players: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Scrambled Sobol points, their dimensions in random order."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        # Its balance is best at powers of two; any other count is still a fair draw.
        warnings.filterwarnings("ignore", message="The balance properties", category=UserWarning)
        points = qmc.Sobol(players, seed=rng).random(count)
    return np.asarray(points[:, rng.permutation(players)])


def log_law(coalitions: BoolArray, x: FloatArray) -> FloatArray:
    """log q_x(z) of coalitions (m, n), at points (…, n): (…, m)."""
    inside = np.log(np.maximum(x, TINY))
    outside = np.log(np.maximum(1 - np.asarray(x), TINY))
    return np.asarray((inside - outside) @ coalitions.T + outside.sum(axis=-1)[..., None])
