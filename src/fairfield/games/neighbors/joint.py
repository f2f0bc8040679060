"""Extensions of nearest-neighbour games whose worth is that of the neighbours' joint answer.

Let s be the sum of what the counted neighbours bring, u(s) their worth, and c_i(k, s) the
chance that k of the first i - 1 rows are in and bring s. With V_i(k, s) the mean worth once
these are known and the rows from i on are drawn,

    V_i(k, s) = V_{i+1}(k, s) + x_i (V_{i+1}(k+1, s + b_i) - V_{i+1}(k, s)),  V(K, s) = u(s),
    g_i = Σ_{k<K, s} c_i(k, s) (V_{i+1}(k+1, s + b_i) - V_{i+1}(k, s)).

A hard vote has whole b_i, so s is one of few numbers. A squared error needs no distribution of
s: u is of second degree, and so is V_i(k, ·), whose coefficients are the mean and the mean square of
what rows from i on will add.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension, legendre
from fairfield.games.neighbors.extension import NeighborExtension, Stretch, check_hessian
from fairfield.games.neighbors.lists import Neighborhoods
from fairfield.games.neighbors.worth import Worth

# Gauss's points on an interval from t to 2t, and on that from 0 to FIRST/n: integrals of ∇f
# along the diagonal are then right to 1e-12.
POINTS, FIRST = 24, 32
# Numbers of a hard vote worked on in one step along the lists.
STEP = 2**15


class Joint(Stretch):
    """The first M neighbours of some test points, who answer jointly."""

    def worth(self) -> float:
        """The part of f at these test points."""
        return self._backward(None)

    def add_slopes(self, answer: FloatArray) -> float:
        """Add the part of ∇f at these test points; returns that of f."""
        slopes = np.empty(self.match.shape)
        value = self._backward(slopes)
        np.add.at(answer, self.rows.ravel(), self.share * slopes.ravel())
        return value

    def _backward(self, slopes: FloatArray | None) -> float:
        """Fill the slopes, where they are asked for; returns f."""
        raise NotImplementedError


class Votes(Joint):
    """The first M neighbours of some test points, who vote by signed whole weights."""

    def _backward(self, slopes: FloatArray | None) -> float:
        votes, heaviest = self.match.astype(np.int64), int(np.abs(self.match).max(initial=0))
        reach = self.k * heaviest
        each, sums = np.arange(votes.shape[1]), np.arange(-reach, reach + 1)
        # Sums beyond the ends, which no coalition has, let every row be shifted by its vote.
        padded = np.zeros((len(each), self.k + 1, len(sums) + 2 * heaviest))
        inner = padded[..., heaviest : heaviest + len(sums)]
        shifted = sliding_window_view(padded, len(sums), axis=2)
        laws = np.zeros((len(votes), len(each), self.k, len(sums)))
        laws[:1, :, 0, reach] = 1.0
        for law, after, vote, chance in zip(laws, laws[1:], votes, self.inside, strict=False):
            inner[:, 1:] = law
            np.subtract(shifted[each, :-1, heaviest - vote], law, out=after)
            after *= chance[:, None, None]
            after += law
        inner[:] = (1 + np.sign(sums)) / 2
        later = inner[:, :-1]
        for i in reversed(range(len(votes))):
            step = shifted[each, 1:, heaviest + votes[i]] - later
            if slopes is not None:
                np.einsum("tks,tks->t", laws[i], step, out=slopes[i])
            later += self.inside[i][:, None, None] * step
        return self.share * float(inner[:, 0, reach].sum())


class Errors(Joint):
    """The first M neighbours of some test points, whose mean predicts: -(base + s)² is its worth.

    With c(k) and m(k) the chance that k rows are in and the mean of s there, D and E the mean and the
    mean square of what later rows add where k are in,

        g_i = -Σ_k 2 (base c(k) + m(k)) (b_i + D(k+1) - D(k))
                   + c(k) (b_i² + 2 b_i D(k+1) + E(k+1) - E(k)).
    """

    def _backward(self, slopes: FloatArray | None) -> float:
        before = list(self._forward()) if slopes is not None else []
        mean, square = np.zeros((2, self.k + 1, len(self.base)))
        for i in reversed(range(len(self.match))):
            b = self.match[i]
            step = b + mean[1:] - mean[:-1]
            squares = b * (b + 2 * mean[1:]) + square[1:] - square[:-1]
            if slopes is not None:
                chance, means = before[i]
                slopes[i] = -(2 * means * step + chance * squares).sum(axis=0)
            mean[:-1] += self.inside[i] * step
            square[:-1] += self.inside[i] * squares
        value = -(self.base * (self.base + 2 * mean[0]) + square[0]).sum()
        return self.share * float(value)

    def _forward(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Before each neighbour, c(k) and base c(k) + m(k), k < K."""
        means = np.zeros((self.k, len(self.base)))
        means[0] = self.base
        for tail, b, inside in zip(self.tails, self.match, self.inside, strict=True):
            chance = np.diff(tail[: self.k + 1], axis=0)
            yield chance, means
            joined = np.zeros_like(means)
            joined[1:] = means[:-1] + b * chance[:-1]
            means = means + inside * (joined - means)


class JointExtension(NeighborExtension):
    """f and ∇f of a joint worth; ∇²f by 2n gradients, Shapley by quadrature along the diagonal."""

    def hessian(self, x: ArrayLike) -> FloatArray:
        check_hessian(flat_points(x, self.players)[0])
        return Extension.hessian(self, x)

    def shapley(self) -> FloatArray:
        """∫₀¹ ∇f(t, …, t) dt, of many rows by intervals that double in length, to 1e-12."""
        exact, doubling = legendre(self.degree - 1), diagonal(self.players)
        return self.along_diagonal(*min(exact, doubling, key=lambda rule: len(rule[0])))


class VoteExtension(JointExtension):
    """The extension of a hard vote: O(M K² W) per test point, W the largest weight."""

    method = "closed form: votes of nearest neighbours"
    stretch = Votes

    def __init__(self, lists: Neighborhoods, worth: Worth) -> None:
        super().__init__(lists, worth)
        self.width = self.seats * (2 * self.seats * worth.most + 1)
        self.at_once = max(1, STEP // self.width)


class ErrorExtension(JointExtension):
    """The extension of the squared error of the neighbours' mean: O(M K) per test point."""

    method = "closed form: squared errors of nearest neighbours"
    stretch = Errors


def diagonal(players: int) -> tuple[FloatArray, FloatArray]:
    """Points of [0, 1] and weights for what falls from t = 0 on as fast as (1 - t)^n.

    >>> at, shares = diagonal(10**4)
    >>> len(at), abs(float(shares @ (1 - at) ** 9999) * 10**4 - 1) < 1e-11
    (240, True)
    """
    unit, shares = legendre(2 * POINTS - 1)
    ends = [1.0]
    while ends[-1] * players > FIRST:
        ends.append(ends[-1] / 2)
    low = np.array([*ends[1:], 0.0])
    length = np.array(ends) - low
    return (low[:, None] + length[:, None] * unit).ravel(), np.outer(length, shares).ravel()
