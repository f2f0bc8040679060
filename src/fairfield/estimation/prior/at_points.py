"""Kernels of the prior at points: how the extension of a random game behaves at x.

With z ~ Bernoulli(x) independently, a kernel k(z, S') at x has a mean, slopes and a curvature, functions
of a coalition S'; and slopes at two points have a covariance. All of them are closed forms:

    size       over the chances of |z|, a sum of independent players
    slopes     Σ_l φ_l(z) φ_l(z')/n, φ_l = s_l r^|z|, r = e^(-a/n)
    pairs      a quadratic form
    products   Π_l κ(z_l, z'_l)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.prior.kernels import Kernel, Pairs, Products, Size, Slopes, signs_of


class AtPoint(Protocol):
    """A kernel at a point x, beside coalitions S' (m, n)."""

    def means(self, coalitions: BoolArray) -> FloatArray:
        """E k(z, S'), (m,)."""
        ...

    def slopes(self, coalitions: BoolArray) -> FloatArray:
        """Their derivatives by x_i, (m, n)."""
        ...

    def curvature(self, coalitions: BoolArray, weights: FloatArray) -> FloatArray:
        """The second derivatives of Σ weights E k(z, S'), (n, n)."""
        ...


@dataclass(frozen=True)
class SizeAt:
    """Games of the size alone."""

    kernel: Size
    x: FloatArray

    @cached_property
    def _chances(self) -> FloatArray:
        return chances_of_sizes(self.x)

    @cached_property
    def moves(self) -> FloatArray:
        """Derivatives by x_i of the chances of sizes 0 … n, (n + 1, n)."""
        others = np.zeros((len(self.x) + 2, len(self.x)))
        others[1:-1] = without_each(self._chances[:, None], self.x)
        return -np.diff(others, axis=0)

    def means(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray((self._chances @ self.kernel.by_size())[coalitions.sum(axis=1)])

    def slopes(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray((self.kernel.by_size() @ self.moves)[coalitions.sum(axis=1)])

    def curvature(self, coalitions: BoolArray, weights: FloatArray) -> FloatArray:
        count = len(self.x)
        sizes = np.bincount(coalitions.sum(axis=1), weights, count + 1)
        second = np.diff(self.kernel.by_size() @ sizes, 2)
        others = without_each(self._chances[:, None], self.x)
        found = np.zeros((count, count))
        for i in range(count if count > 1 else 0):
            found[i] = second @ without_each(others[:, i, None], self.x)
        found = (found + found.T) / 2
        np.fill_diagonal(found, 0.0)
        return found


def chances_of_sizes(x: FloatArray) -> FloatArray:
    """The chances that 0, 1, … n of independent players are in."""
    law = np.ones(1)
    for each in x:
        law = (1 - each) * np.append(law, 0.0) + each * np.append(0.0, law)
    return law


def without_each(laws: FloatArray, x: FloatArray) -> FloatArray:
    """The laws of sizes (k, n) without each player, from those of all players (k + 1, 1 or n).

    What a player did is undone from the side on which rounding errors shrink.
    """
    found = np.zeros((len(laws) - 1, len(x)))
    low = x <= 0.5
    kept, rest = np.where(low, 1 - x, x), np.where(low, x, 1 - x)
    given = np.where(low, laws, laws[::-1])
    before = np.zeros(len(x))
    for k in range(len(found)):
        before = (given[k] - rest * before) / kept
        found[k] = before
    return np.where(low, found, found[::-1])


@dataclass(frozen=True)
class SlopesAt:
    """Σ_l φ_l(z) φ_l(z')/n with φ_l = s_l r^|z|, all players apart from l being faded alike."""

    kernel: Slopes
    x: FloatArray

    @cached_property
    def _ratio(self) -> float:
        return float(np.exp(-self.kernel.fading / len(self.x)))

    @cached_property
    def _parts(self) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """B = Π b, q = (x r - 1 + x)/b, (r - 1)/b and (r + 1)/b, with b = 1 - x + x r."""
        x, r = self.x, self._ratio
        base = 1 - x + x * r
        return float(np.prod(base)), (x * r - 1 + x) / base, (r - 1) / base, (r + 1) / base

    def _features(self, coalitions: BoolArray) -> FloatArray:
        sizes = coalitions.sum(axis=1, keepdims=True)
        return np.asarray(signs_of(coalitions) * self._ratio**sizes / len(self.x))

    @cached_property
    def moves(self) -> FloatArray:
        """∂_i E φ_l, (l, i)."""
        whole, own, other, joined = self._parts
        found = np.outer(own, other)
        np.fill_diagonal(found, joined)
        return whole * found

    def means(self, coalitions: BoolArray) -> FloatArray:
        whole, own, *_ = self._parts
        return np.asarray(self._features(coalitions) @ (whole * own))

    def slopes(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray(self._features(coalitions) @ self.moves)

    def curvature(self, coalitions: BoolArray, weights: FloatArray) -> FloatArray:
        whole, own, other, joined = self._parts
        each = weights @ self._features(coalitions)
        shared = each * own
        rest = shared.sum() - shared[:, None] - shared
        crossed = np.outer(each * joined, other)
        found = whole * (rest * np.outer(other, other) + crossed + crossed.T)
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)


@dataclass(frozen=True)
class PairsAt:
    """Σ_{i≠j} s_i s_j s'_i s'_j/n²."""

    kernel: Pairs
    x: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        """E s."""
        return 2 * self.x - 1

    def means(self, coalitions: BoolArray) -> FloatArray:
        signs = signs_of(coalitions)
        return np.asarray(((signs @ self.mean) ** 2 - self.mean @ self.mean) / len(self.x) ** 2)

    def slopes(self, coalitions: BoolArray) -> FloatArray:
        signs = signs_of(coalitions)
        return np.asarray(4 * (signs * (signs @ self.mean)[:, None] - self.mean) / len(self.x) ** 2)

    def curvature(self, coalitions: BoolArray, weights: FloatArray) -> FloatArray:
        signs = signs_of(coalitions)
        found = 8 * (signs.T * weights) @ signs / len(self.x) ** 2
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)


@dataclass(frozen=True)
class ProductsAt:
    """Π_l κ(z_l, z'_l): κ(0, 0) = 1, other factors as the kernel has them."""

    kernel: Products
    x: FloatArray

    @cached_property
    def _factors(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Of players out of S' and in: the factor, and its change by x in units of it."""
        (one, both), x = self.kernel.factors(), self.x
        out, inside = 1 - x + x * one, (1 - x) * one + x * both
        return out, inside, (one - 1) / out, (both - one) / inside

    def means(self, coalitions: BoolArray) -> FloatArray:
        out, inside, *_ = self._factors
        return np.asarray(np.exp(coalitions @ np.log(inside / out) + np.log(out).sum()))

    def _rates(self, coalitions: BoolArray) -> FloatArray:
        *_, out, inside = self._factors
        return np.where(coalitions, inside, out)

    def slopes(self, coalitions: BoolArray) -> FloatArray:
        return self.means(coalitions)[:, None] * self._rates(coalitions)

    def curvature(self, coalitions: BoolArray, weights: FloatArray) -> FloatArray:
        rates = self._rates(coalitions)
        found = (rates.T * (weights * self.means(coalitions))) @ rates
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)


def at_point(kernel: Kernel, x: FloatArray) -> AtPoint:
    """The kernel at x."""
    if isinstance(kernel, Size):
        return SizeAt(kernel, x)
    if isinstance(kernel, Slopes):
        return SlopesAt(kernel, x)
    if isinstance(kernel, Pairs):
        return PairsAt(kernel, x)
    assert isinstance(kernel, Products)
    return ProductsAt(kernel, x)


def shared(kernel: Kernel, x: FloatArray, other: FloatArray) -> FloatArray:
    """E ∂_i ∂'_j k(z, z') with z at x and z' at another point: (n, n)."""
    here, there = at_point(kernel, x), at_point(kernel, other)
    if isinstance(here, SizeAt) and isinstance(there, SizeAt):
        return np.asarray(here.moves.T @ here.kernel.by_size() @ there.moves)
    if isinstance(here, SlopesAt) and isinstance(there, SlopesAt):
        return np.asarray(here.moves.T @ there.moves / len(x))
    if isinstance(here, PairsAt) and isinstance(there, PairsAt):
        found = np.outer(there.mean, here.mean)
        np.fill_diagonal(found, here.mean @ there.mean - here.mean * there.mean)
        return np.asarray(8 * found / len(x) ** 2)
    assert isinstance(kernel, Products)
    one, both = kernel.factors()
    mean = (1 - x) * (1 - other) + (x * (1 - other) + other * (1 - x)) * one + x * other * both
    by_x = ((1 - other) * (one - 1) + other * (both - one)) / mean
    by_other = ((1 - x) * (one - 1) + x * (both - one)) / mean
    found = np.outer(by_x, by_other)
    np.fill_diagonal(found, (both - 2 * one + 1) / mean)
    return np.asarray(np.exp(np.log(mean).sum()) * found)
