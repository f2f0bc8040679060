"""Games whose worth depends on a sum of weights, F(S) = φ(Σ_{i∈S} w_i), with whole w_i ≥ 0.

The multilinear extension needs two recursions over the players, one from each end.
With A_i the distribution of the sum of the players before i and V_i(k) the mean worth of the
sum k plus that of the players from i on,

    V_n = φ,    V_i = V_{i+1} + x_i d_i,    d_i(k) = V_{i+1}(k + w_i) - V_{i+1}(k),
    f = V_0(0),    ∂_i f = Σ_k A_i(k) d_i(k),

and ∂_ij f (i < j) is Σ_k M(k) d_j(k), where M is A_i shifted by w_i less A_i itself,
carried on from i to j. φ is constant from some sum on, and all greater sums count as
that one. Nothing is divided, so x_i = 0 or 1 needs no special case. A gradient
costs O(n · sums), a Hessian O(n² · sums). All functions take leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, IntArray, slabs
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension

# Steps of the total weight to which real weights are rounded by default.
RESOLUTION = 10_000
# Bytes that the recursions over one game may take.
MOST = 2**34
# Numbers in the recursions from which on machine code saves more than it takes to load it.
MANY = 2**20


@dataclass(frozen=True)
class WeightedSums:
    """Some games Σ_g φ_g(Σ_i w_gi y_gi), where y_gi says whether player i counts in game g.

    Players count when they are in the coalition; where ``absent``, when they are out of it
    (a negative weight is a positive one of the absent player). ``worths[g]`` are φ_g of
    the sums 0, 1, … up to the first from which φ_g is constant.
    """

    weights: IntArray  # (n,), or (games, n) where they differ
    absent: BoolArray  # (games, n)
    worths: FloatArray  # (games, sums)

    def some(self, games: slice) -> WeightedSums:
        """A few of the games."""
        own = self.weights if self.weights.ndim == 1 else self.weights[games]
        return WeightedSums(own, self.absent[games], self.worths[games])


class WeightedSumExtension(Extension):
    """The extension of a sum of games, each of which depends on a sum of weights."""

    dense = 48  # a Hessian costs as many gradients as there are players

    def __init__(self, blocks: Sequence[WeightedSums], method: str) -> None:
        self.blocks = tuple(blocks)
        self.method = method
        self.players = self.degree = self.blocks[0].absent.shape[1]

    def value(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        if self._loops(len(at)):
            return self.centred(x)[0] + self.offset
        value = np.zeros(len(at))
        for block, some, counted in self._parts(at):
            value[some] += backward(counted, block.weights, block.worths)[0].sum(axis=-1)
        return value.reshape(lead) + self.offset

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        value, gradient = np.zeros(len(at)), np.zeros(at.shape)
        if self._loops(len(at)):
            from fairfield.games.textbook.sum_loops import value_and_slopes

            for block in self.blocks:
                weights = np.broadcast_to(block.weights, block.absent.shape)
                more = value_and_slopes(at, np.array(weights), block.absent, block.worths)
                value, gradient = value + more[0], gradient + more[1]
            return value.reshape(lead), gradient.reshape(*lead, self.players)
        for block, some, counted in self._parts(at):
            values, steps = backward(counted, block.weights, block.worths)
            slopes = forward(counted, block.weights, steps)
            value[some] += values.sum(axis=-1)
            gradient[some] += np.where(block.absent, -slopes, slopes).sum(axis=-2)
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        hessian = np.zeros((*at.shape, self.players))
        for block, some, counted in self._parts(at, pairs=True):
            _, steps = backward(counted, block.weights, block.worths)
            sign = np.where(block.absent, -1.0, 1.0)
            pairs = forward_pairs(counted, block.weights, steps)
            hessian[some] += np.einsum("pgij,gi,gj->pij", pairs, sign, sign)
        return hessian.reshape(*lead, self.players, self.players)

    def face(self, inside: BoolArray, fixed: BoolArray) -> Extension | None:
        free = np.flatnonzero(~fixed)
        if not len(free):
            return None
        blocks = []
        for block in self.blocks:
            # Fixed players who count move the worths to lower sums; no sum exceeds all weights.
            counted = fixed & (inside ^ block.absent)
            moved = (counted * block.weights).sum(axis=1)
            own, last = block.weights[..., free], block.worths.shape[1] - 1
            width = min(last, int(own.sum(axis=-1).max())) + 1
            at = np.minimum(moved[:, None] + np.arange(width), last)
            worths = np.take_along_axis(block.worths, at, axis=1)
            blocks.append(WeightedSums(own, block.absent[:, free], worths))
        shorter = WeightedSumExtension(blocks, self.method)
        # The bound holds where all players join at ½, not on a face.
        shorter.coarseness = np.inf if self.coarseness else 0.0
        return shorter

    def _loops(self, points: int) -> bool:
        """Whether the recursions are many, and can be machine code."""
        each = sum(block.worths.size for block in self.blocks) * self.players
        return points * each >= MANY and find_spec("numba") is not None

    def _parts(
        self, at: FloatArray, *, pairs: bool = False
    ) -> Iterator[tuple[WeightedSums, slice, FloatArray]]:
        """Some games, some points, and the probability that each player counts there."""
        for block in self.blocks:
            width = block.worths.shape[1]
            each = self.players * (max(width, self.players) if pairs else width)
            for games in slabs(len(block.worths), each):
                part = block.some(games)
                for some in slabs(len(at), each * len(part.worths)):
                    joins = at[some, None, :]
                    yield part, some, np.where(part.absent, 1 - joins, joins)


def contributions_of_sums(
    coalitions: BoolArray, weights: FloatArray | IntArray, worth: Callable[[Any], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Worths φ(Σ w) of coalitions (m, n) and their contributions F(S+i) - F(S-i), O(n) each."""
    sums = (coalitions @ weights)[:, None]
    joined = worth(np.where(coalitions, sums, sums + weights))
    left = worth(np.where(coalitions, sums - weights, sums))
    return worth(sums[:, 0]), joined - left


def in_units(weights: FloatArray, resolution: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Weights (games, n) as multiples of a unit per game, that unit, and the remainders.

    Whole weights leave no remainders: their unit is the greatest common divisor. Others
    are rounded to multiples of their total over the resolution.

    >>> in_units(np.array([[4.0, -6.0]]), resolution=100)[0].tolist()
    [[2, -3]]
    """
    if not resolution >= 1:
        raise ValueError(f"resolution={resolution} was given; it must be at least 1")
    total = np.abs(weights).sum(axis=1)
    whole = (weights == np.rint(weights)).all(axis=1)
    # Totals beyond 2^53 are no longer whole in floating point; they are refused below.
    exact = np.where((whole & (total < 2**53))[:, None], weights, 0).astype(np.int64)
    unit = np.where(whole, np.gcd.reduce(exact, axis=1), total / resolution)
    unit[unit == 0] = 1.0
    steps = (total / unit).max()
    if (needed := 8 * weights.shape[1] * steps) > MOST:
        raise ValueError(
            f"a total weight of {steps:.3g} units needs {needed / 1e9:.0f} GB; lower the "
            "resolution, or divide whole weights, and what they are compared with, by their total"
        )
    rounded = np.rint(weights / unit[:, None])
    return rounded.astype(np.int64), unit, weights - unit[:, None] * rounded


def backward(x: FloatArray, weights: IntArray, worths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E φ(Σ w_i z_i), shaped (...), and what player i adds to each sum, d_i: (n, ..., sums)."""
    width = worths.shape[-1]
    lead = np.broadcast_shapes(x.shape[:-1], worths.shape[:-1])
    shifts = np.minimum(weights, width - 1)
    # V, followed by copies of its last entry, so that V(k + w) is a window of it.
    ahead = np.empty((*lead, width + shifts.max()))
    ahead[..., :width], ahead[..., width:] = worths, worths[..., -1:]
    now, windows = ahead[..., :width], sliding_window_view(ahead, width, axis=-1)
    steps = np.empty((x.shape[-1], *lead, width))
    for i in reversed(range(len(steps))):
        np.subtract(windows[_window(shifts, i)], now, out=steps[i])
        now += x[..., i, None] * steps[i]
    return now[..., 0], steps


def forward(x: FloatArray, weights: IntArray, steps: FloatArray) -> FloatArray:
    """∂_i E φ(Σ w_j z_j), given the steps d_i: (..., n)."""
    gradient = np.empty((*steps.shape[1:-1], len(steps)))
    now, windows, starts = _empty_sum((), weights, steps.shape[1:])
    for i, step in enumerate(steps):
        np.vecdot(now, step, out=gradient[..., i])
        _join(now, windows[_window(starts, i)], x[..., i, None])
    return gradient


def forward_pairs(x: FloatArray, weights: IntArray, steps: FloatArray) -> FloatArray:
    """∂_ij E φ(Σ w_j z_j), given the steps d_i: (..., n, n), zero on the diagonal."""
    count = len(steps)
    hessian = np.zeros((count, count, *steps.shape[1:-1]))
    # Row 0 is the distribution A_i; row 1 + i is its derivative by player i.
    rows, windows, starts = _empty_sum((count + 1,), weights, steps.shape[1:])
    rows[1:] = 0.0
    for i, step in enumerate(steps):
        now = rows[: i + 1]
        hessian[i, :i] = np.vecdot(now[1:], step)
        shifted = windows[: i + 1][_window(starts, i)]
        np.subtract(shifted[0], now[0], out=rows[i + 1])
        _join(now, shifted, x[..., i, None])
    hessian += hessian.swapaxes(0, 1)
    return np.asarray(np.moveaxis(hessian, (0, 1), (-2, -1)))


def _join(distribution: FloatArray, shifted: FloatArray, probability: FloatArray) -> None:
    """Mix a distribution with its shift by one more player who joins at random, in place."""
    joined = probability * shifted
    distribution *= 1 - probability
    distribution += joined


def _empty_sum(
    rows: tuple[int, ...], weights: IntArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The distribution of the empty sum, its windows, and where its shift by each w_i starts."""
    shifts = np.minimum(weights, shape[-1] - 1)
    reach = shifts.max()
    behind = np.zeros((*rows, *shape[:-1], reach + shape[-1]))
    behind[..., reach] = 1.0
    windows = sliding_window_view(behind, shape[-1], axis=-1, writeable=True)
    return behind[..., reach:], windows, reach - shifts


def _window(starts: IntArray, player: int) -> tuple[Any, ...]:
    """The index of the windows at a player's start, the same in all games or one in each."""
    own = starts[..., player]
    # A plain number makes the window a view; one start per game makes it a copy.
    at = (int(own),) if own.ndim == 0 else (np.arange(len(own)), own)
    return (..., *at, slice(None))
