"""The multilinear extension of a game, which every criterion reads.

f(x) = E F(z),   z_i ~ Bernoulli(x_i) independently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import ceil, comb, factorial, sqrt
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import enumerate_coalitions

# New inclusion probabilities of a player, given the player's slope of the extension.
Update: TypeAlias = Callable[[int, FloatArray], FloatArray]


@lru_cache
def legendre(degree: int) -> tuple[FloatArray, FloatArray]:
    """Points of [0, 1] and their weights, exact for polynomials of this degree."""
    nodes, weights = np.polynomial.legendre.leggauss(max(1, -(-(degree + 1) // 2)))
    return (1 + nodes) / 2, weights / 2


def legendre_of_means(degree: int) -> tuple[FloatArray, FloatArray]:
    """Points of [0, 1] and weights for E φ(K), K ~ Binomial(degree, t), right to 1e-14 max|φ|.

    Such a polynomial of t is at most ((ρ + 1/ρ)/2)^degree max|φ| on the ellipse of foci 0 and 1
    with semi-axes that sum to ρ/2, so that Gauss's rule of m points errs by less than about
    4 exp(-2m²/degree): √(17 · degree) points do, less than degree/2 of them from 68 on.
    """
    few = ceil(sqrt(17 * max(degree, 0)))
    return legendre(min(degree, 2 * few - 1))


@lru_cache
def taylor(degree: int, about: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Points of [0, 1] and weights that give g^(order)(about) / order! of polynomials g.

    Exact for this degree: g is projected onto Legendre's polynomials, which are differentiated.
    """
    series = np.polynomial.legendre
    at, weights = legendre(2 * degree)
    slopes = series.legder(np.eye(degree + 1), m=order, scl=2)
    values = series.legval(2 * about - 1, slopes) * (2 * np.arange(degree + 1) + 1)
    return at, weights * (series.legvander(2 * at - 1, degree) @ values) / factorial(order)


class OutOfReachError(Exception):
    """An answer depends on more players than :meth:`Extension.reachable` gave; ask it again."""


class Extension:
    """The multilinear extension of a game, or of a batch of games.

    Points ``x`` have shape ``(..., *batch, n)``; a single point ``(n,)`` serves every
    game of a batch. Answers carry the leading axes of the points and of the batch.

    A closed form implements ``centred`` (or ``value`` and ``gradient``), ``rows`` when it
    comes in batches, and says in ``degree`` how high its polynomial goes
    (the number of players when in doubt). It may do better than the general way to the rest.
    """

    method: str
    players: int
    batch: tuple[int, ...] = ()
    degree: int
    # How many games of a batch are best solved at once.
    together: int = 256
    # The largest error of a Banzhaf value that comes from rounding the game for its closed form,
    # and how that is known where it is no bound.
    coarseness: float = 0.0
    coarseness_from: str = ""
    # Beyond so many players products with the Hessian are differences of gradients.
    dense: int = 256
    # Whether a sweep costs about one gradient, rather than one per player.
    quick_sweep: bool = False
    # How many threads may work on it, and whether long work shows a bar, as the options say.
    jobs: int | None = 1
    progress: bool | None = False

    def __init_subclass__(cls) -> None:
        # These three are defined by each other; a subclass must break the circle.
        apart = cls.value is not Extension.value and cls.gradient is not Extension.gradient
        if cls.centred is Extension.centred and not apart:
            raise TypeError(f"{cls.__name__} must implement centred, or value and gradient")

    @property
    def offset(self) -> FloatArray:
        """A constant of each game that ``centred`` leaves out; no criterion depends on it."""
        return np.zeros(self.batch)

    def working_as(self, other: Extension) -> Self:
        """Use as many threads as the other, and show progress as it does."""
        self.jobs, self.progress = other.jobs, other.progress
        return self

    def value(self, x: ArrayLike) -> FloatArray:
        """f(x), the mean worth when player i joins with probability x_i."""
        return self.centred(x)[0] + self.offset

    def gradient(self, x: ArrayLike) -> FloatArray:
        """∇f(x): player i's mean marginal contribution to coalitions drawn from x."""
        return self.centred(x)[1]

    def hessian(self, x: ArrayLike) -> FloatArray:
        """∇²f(x), zero on its diagonal: f is linear in each x_i.

        In general column j is ∇f(x | x_j←1) - ∇f(x | x_j←0), exactly: 2n gradients.
        """
        at = np.broadcast_to(
            np.asarray(x, dtype=float),
            np.broadcast_shapes(np.shape(x), (*self.batch, self.players)),
        )
        columns = []
        for j in range(self.players):
            inside, outside = at.copy(), at.copy()
            inside[..., j], outside[..., j] = 1.0, 0.0
            columns.append(self.gradient(inside) - self.gradient(outside))
        return np.stack(columns, axis=-1)

    def shapley(self) -> FloatArray:
        """∫₀¹ ∇f(t, …, t) dt by Gauss–Legendre: ∇f has degree - 1 on the diagonal."""
        return self.along_diagonal(*legendre_of_means(self.degree - 1))

    def along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        """Σ_k shares_k ∇f(at_k, …, at_k)."""
        steps = zip(at, shares, strict=True)
        return np.asarray(sum(w * self.gradient(np.full(self.players, t)) for t, w in steps))

    def hessian_along_diagonal(self, at: FloatArray, shares: FloatArray) -> FloatArray:
        """Σ_k shares_k ∇²f(at_k, …, at_k)."""
        steps = zip(at, shares, strict=True)
        return np.asarray(sum(w * self.hessian(np.full(self.players, t)) for t, w in steps))

    def derivatives_along_diagonal(
        self, at: FloatArray, shares: FloatArray, size: int
    ) -> FloatArray:
        """Σ_k shares_k ∂_A f(at_k, …, at_k) for all coalitions A of this size: (*batch, coalitions).

        They come in the order of ``itertools.combinations``. In general ∂_A f of three players is
        the difference of ∂²f where one of them is in and out: 2n Hessians for each point.
        """
        if size == 1:
            return self.along_diagonal(at, shares)
        first, second = np.triu_indices(self.players, 1)
        if size == 2:
            return np.asarray(self.hessian_along_diagonal(at, shares)[..., first, second])
        if size > self.degree:
            return np.zeros((*self.batch, comb(self.players, size)))
        found = []
        for lead in combinations(range(self.players - 2), size - 2):
            total = np.zeros((*self.batch, self.players, self.players))
            for corner in enumerate_coalitions(size - 2):
                sign = (-1.0) ** (size - corner.sum())
                for t, share in zip(at, shares, strict=True):
                    x = np.full(self.players, t)
                    x[list(lead)] = corner
                    total += sign * share * self.hessian(x)
            found.append(total[..., first[first > lead[-1]], second[first > lead[-1]]])
        return np.concatenate(found, axis=-1)

    def derivative(self, coalition: Sequence[int], x: ArrayLike) -> FloatArray:
        """∂_A f(x) = Σ_{L ⊆ A} (-1)^(|A|-|L|) f(x with L in and A∖L out)."""
        chosen = list(coalition)
        total = np.float64(0.0)
        for corner in enumerate_coalitions(len(chosen)):
            at = np.array(x, dtype=float)
            at[..., chosen] = corner
            total = total + (-1.0) ** (len(chosen) - corner.sum()) * self.value(at)
        return np.asarray(total)

    def gradient_covariance(self, x: ArrayLike) -> FloatArray | None:
        """The covariance of ∇f(x), from errors of the worths: (..., *batch, n, n), or None."""
        return None

    def shapley_covariance(self) -> FloatArray | None:
        """The covariance of the Shapley values, from errors of the worths, or None."""
        return None

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """F(∅) and F(N), the extension at the two ends of the diagonal."""
        return self.value(np.zeros(self.players)), self.value(np.ones(self.players))

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """``f(x) - offset`` and ∇f(x) together: what ascent of the ELBO reads."""
        return self.value(x) - self.offset, self.gradient(x)

    def sweep(self, x: FloatArray, update: Update) -> FloatArray:
        """x after one update of every player in turn, each seeing those before."""
        x = x.copy()
        for i in range(self.players):
            x[..., i] = update(i, self.gradient(x)[..., i])
        return x

    def reachable(self) -> tuple[NDArray[np.int64], Extension] | None:
        """The players on whom f seems to depend, and the extension in them alone; None: on all.

        The smaller one raises :class:`OutOfReachError` where an answer depends on further players.
        """
        return None

    def face(self, inside: BoolArray, fixed: BoolArray) -> Extension | None:
        """The extension in the players who are not fixed, others in where inside, if it is shorter."""
        return None

    def rows(self, chosen: slice | NDArray[np.int64]) -> Extension:
        """The extensions of some games of a batch, whose batch axes count as one."""
        if self.batch:
            raise NotImplementedError
        return self
