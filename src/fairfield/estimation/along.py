"""Values and interactions as readings along the diagonal, and what they read of a game by size.

Whatever treats players alike is Σ_k w_k ∂_A f(t_k, …, t_k): Shapley's, Banzhaf's and all semivalues for
single players A, interactions for more. The weight with which it reads the worth of a coalition S
depends on |S| and |S ∩ A| alone. Kernels of the prior tell no players apart either, so what it reads of a
section k(·, S') is a table of these two sizes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import legendre, legendre_of_means
from fairfield.core.special import log_binomials
from fairfield.estimation.prior.kernels import Kernel, Pairs, Products, Size, Slopes

# Coalitions A as rows of places, (sets, |A|).
Sets = IntArray
# So many coalitions stand for all of a size.
TYPICAL = 400
# Points of the diagonal that stand for shares of sizes at most, and how well they must.
MOST_NODES, ACCURATE = 128, 1e-9


@dataclass(frozen=True)
class Along:
    """Where ∂_A f of coalitions A of one size is read: points of the diagonal, and their weights.

    ``given`` are the shares of sizes, where they are known better than from the points.
    """

    players: int
    size: int
    nodes: FloatArray
    weights: FloatArray
    given: FloatArray | None = None

    @classmethod
    def shapley(cls, players: int) -> Along:
        """Shapley's values: every point of the diagonal alike, every size alike."""
        return cls(players, 1, *legendre_of_means(players - 1), np.full(players, 1 / players))

    @classmethod
    def banzhaf(cls, players: int) -> Along:
        """Banzhaf's values: the midpoint of the diagonal, sizes by the binomial law."""
        shares = np.exp(log_binomials(players - 1) - (players - 1) * np.log(2))
        return cls(players, 1, np.array([0.5]), np.ones(1), shares)

    @classmethod
    def semivalue(cls, shares: FloatArray) -> Along | None:
        """A semivalue by its shares of sizes; None where points cannot stand for them."""
        players = len(shares)
        nodes, _ = legendre(2 * min(players, MOST_NODES) - 1)
        sizes = np.arange(players)[:, None]
        logs = log_binomials(players - 1)[:, None] + sizes * np.log(nodes)
        chances = np.exp(logs + (players - 1 - sizes) * np.log1p(-nodes))
        weights, *_ = np.linalg.lstsq(chances, shares, rcond=1e-12)
        if np.abs(chances @ weights - shares).max() > ACCURATE * shares.max():
            return None
        return cls(players, 1, nodes, np.asarray(weights, dtype=float), shares)

    @cached_property
    def typical(self) -> Sets:
        """Coalitions of this size that stand for all, whichever are asked for: (k, size)."""
        if comb(self.players, self.size) <= TYPICAL:
            every = combinations(range(self.players), self.size)
            return np.array(list(every), dtype=np.int64)
        rng = np.random.default_rng(0)
        drawn = [rng.choice(self.players, self.size, replace=False) for _ in range(TYPICAL)]
        return np.sort(np.array(drawn, dtype=np.int64), axis=1)

    @cached_property
    def shares(self) -> FloatArray:
        """How sizes 0 … n - |A| of coalitions of the others weigh."""
        if self.given is not None:
            return self.given
        from scipy.special import xlogy

        others = self.players - self.size
        size, at = np.arange(others + 1), self.nodes[:, None]
        logs = log_binomials(others) + xlogy(size, at) + xlogy(others - size, 1 - at)
        return np.asarray(self.weights @ np.exp(logs))

    @cached_property
    def signs(self) -> FloatArray:
        """(-1)^(|A| - r) of r = 0 … |A| players."""
        return np.asarray((-1.0) ** (self.size - np.arange(self.size + 1)))

    @cached_property
    def stands(self) -> FloatArray:
        """What all coalitions of a size stand for in one reading, by |T ∩ A| and |T|: (|A| + 1, n + 1).

        C(n, t) times the weight of one worth F(T): that of a random coalition of the size.
        """
        table = np.zeros((self.size + 1, self.players + 1))
        every, others = log_binomials(self.players), log_binomials(self.players - self.size)
        for r, sign in enumerate(self.signs):
            sizes = slice(r, r + len(others))
            table[r, sizes] = sign * self.shares * np.exp(every[sizes] - others)
        return table

    @cached_property
    def reach(self) -> FloatArray:
        """√E(what a random coalition stands for)² of sizes 0 … n: how much there is to know of each."""
        found = np.zeros(self.players + 1)
        every, others = log_binomials(self.players), log_binomials(self.players - self.size)
        for r in range(self.size + 1):
            sizes = slice(r, r + len(others))
            chance = np.log(comb(self.size, r)) + others - every[sizes]
            found[sizes] += self.stands[r, sizes] ** 2 * np.exp(chance)
        return np.sqrt(found)

    def of(self, table: FloatArray) -> float:
        """The interaction of A in the game of |S ∩ A| and |S| that a table holds."""
        count, total = len(self.shares), 0.0
        for r, sign in enumerate(self.signs):
            total += comb(self.size, r) * sign * float(self.shares @ table[r, r : r + count])
        return total

    def covariance(self, table: FloatArray) -> FloatArray:
        """That of the values of all players, (n, n), whose sections a table holds; |A| = 1."""
        count = self.players
        outside, inside = table
        size = np.arange(count) / max(count - 1, 1)
        both = self.shares @ (size * np.diff(inside) + (1 - size) * np.diff(outside))
        return np.where(np.eye(count, dtype=bool), self.of(table), both)

    def sections(self, kernels: Sequence[Kernel], shares: FloatArray) -> FloatArray:
        """The interaction of A in Σ_k share_k k(·, S'), by |S' ∩ A| and |S'|: (|A| + 1, n + 1)."""
        used = [
            (share, self._section(k)) for k, share in zip(kernels, shares, strict=True) if share
        ]
        zero = np.zeros((self.size + 1, self.players + 1))
        return np.asarray(sum((share * table for share, table in used), zero))

    def _section(self, kernel: Kernel) -> FloatArray:
        inside = np.arange(self.size + 1)[:, None]
        sizes = np.arange(self.players + 1)
        # Signs of the players of A in S', summed, and of all others.
        own = 2 * inside - self.size
        others = 2 * sizes - self.players - own
        match kernel:
            case Size():
                steps = np.diff(kernel.by_size(), self.size, axis=0)
                return np.asarray(np.broadcast_to(self.shares @ steps, (self.size + 1, len(sizes))))
            case Slopes():
                return self._of_slopes(kernel, own, others)
            case Pairs():
                return self._of_pairs(own, others, sizes)
            case Products():
                return self._of_products(kernel, inside, sizes)
        raise TypeError(f"{kernel!r}: the interactions of this kernel are not known")

    def _of_slopes(self, kernel: Slopes, own: IntArray, others: IntArray) -> FloatArray:
        heights, rest = kernel.by_size(), self.players - self.size
        # ∂_A of s_i h(|S|): the sum of two heights for i ∈ A, else s_i times differences.
        mine = self.shares @ np.diff(heights[1:] + heights[:-1], self.size - 1, axis=0)
        mean = 2 * np.arange(rest + 1) / max(rest, 1) - 1
        theirs = self.shares * mean @ np.diff(heights, self.size, axis=0)
        return np.asarray((mine * own + theirs * others) / self.players)

    def _of_pairs(self, own: IntArray, others: IntArray, sizes: IntArray) -> FloatArray:
        scale = 4 / self.players**2
        if self.size == 1:
            return np.asarray(scale * float((2 * self.nodes - 1) @ self.weights) * own * others)
        if self.size > 2:
            return np.zeros((self.size + 1, len(sizes)))
        product = np.where(own == 0, -1.0, 1.0) + 0.0 * sizes
        return np.asarray(2 * scale * self.weights.sum() * product)

    def _of_products(self, kernel: Products, inside: IntArray, sizes: IntArray) -> FloatArray:
        one, both = kernel.factors()
        out = 1 + (one - 1) * self.nodes[:, None, None]
        into = one + (both - one) * self.nodes[:, None, None]
        missing = self.size - inside
        rest = (sizes - inside) * np.log(into) + (self.players - sizes - missing) * np.log(out)
        steps = (both - one) ** inside * (one - 1) ** missing
        return np.asarray(steps * np.tensordot(self.weights, np.exp(rest), axes=1))


def overlaps(coalitions: BoolArray, sets: Sets) -> IntArray:
    """|S ∩ A| of coalitions (m, n) and sets (k, |A|): (m, k)."""
    found = np.zeros((len(coalitions), len(sets)), dtype=np.intp)
    for members in sets.T:
        found += coalitions[:, members]
    return found
