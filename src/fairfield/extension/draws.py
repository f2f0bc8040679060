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


def bernoulli(x: FloatArray, count: int, rng: np.random.Generator) -> BoolArray:
    """``count`` draws from q_x: z_i = [u_i < x_i] at scrambled Sobol points u.

    Every draw has the law q_x; together they fill the cube more evenly than independent
    ones (Owen, 1998). Players take its dimensions in random order: near ½ a draw shows the
    leading bits alone, which scrambling leaves tied to each other, so that in a fixed order some
    player would always be mistaken for the same few others together. More players than the
    sequence has dimensions are drawn independently.
    """
    players = len(x)
    if players > MOST_DIMENSIONS:
        return np.asarray(rng.random((count, players)) < x)
    from scipy.stats import qmc

    with warnings.catch_warnings():
        # Its balance is best at powers of two; any other count is still a fair draw.
        warnings.filterwarnings("ignore", message="The balance properties", category=UserWarning)
        points = qmc.Sobol(players, seed=rng).random(count)
    return np.asarray(points[:, rng.permutation(players)] < x)


def log_law(coalitions: BoolArray, x: FloatArray) -> FloatArray:
    """log q_x(z) of coalitions (m, n), at points (…, n): (…, m)."""
    inside = np.log(np.maximum(x, TINY))
    outside = np.log(np.maximum(1 - np.asarray(x), TINY))
    return np.asarray((inside - outside) @ coalitions.T + outside.sum(axis=-1)[..., None])
