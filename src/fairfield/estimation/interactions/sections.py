"""What interactions read of kernels and of single worths, by tables of two sizes.

An interaction that treats players alike is Σ_k w_k ∂_A f(t_k, …, t_k). Kernels of the prior tell
no players apart either, so what it reads of a section k(·, S') depends on |S'| and |S' ∩ A| alone;
and so does the weight with which it reads the worth of one coalition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import log_binomials
from fairfield.estimation.prior.kernels import Kernel, Pairs, Products, Size, Slopes

# Coalitions A as rows of places, (sets, |A|).
Sets = IntArray
# So many coalitions stand for all of a size.
TYPICAL = 400


@dataclass(frozen=True)
class Along:
    """Where ∂_A f of coalitions of one size is read: points of the diagonal, and their weights."""

    players: int
    size: int
    nodes: FloatArray
    weights: FloatArray

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
        return np.asarray(self.weights @ np.exp(self._logs))

    @cached_property
    def each(self) -> FloatArray:
        """The same of one coalition of the others."""
        logs = self._logs - log_binomials(self.players - self.size)
        return np.asarray(self.weights @ np.exp(logs))

    @cached_property
    def _logs(self) -> FloatArray:
        from scipy.special import xlogy

        others = self.players - self.size
        size, at = np.arange(others + 1), self.nodes[:, None]
        return np.asarray(log_binomials(others) + xlogy(size, at) + xlogy(others - size, 1 - at))

    @cached_property
    def signs(self) -> FloatArray:
        """(-1)^(|A| - r) of r = 0 … |A| players."""
        return np.asarray((-1.0) ** (self.size - np.arange(self.size + 1)))

    @cached_property
    def own(self) -> FloatArray:
        """The weight of one worth F(T), by |T ∩ A| and |T|: (|A| + 1, n + 1)."""
        table = np.zeros((self.size + 1, self.players + 1))
        for r, sign in enumerate(self.signs):
            table[r, r : r + len(self.each)] = sign * self.each
        return table

    @cached_property
    def reach(self) -> FloatArray:
        """√(C(n, s) Σ_{|T|=s} weight of F(T)²) of sizes 0 … n: how much there is to know of each."""
        logs = np.full((self.size + 1, self.players + 1), -np.inf)
        others = log_binomials(self.players - self.size)
        with np.errstate(divide="ignore"):  # sizes that do not count
            squares = 2 * (np.log(np.abs(self.shares)) - others)
        for r in range(self.size + 1):
            logs[r, r : r + len(others)] = np.log(comb(self.size, r)) + others + squares
        every = np.logaddexp.reduce(logs, axis=0)
        return np.asarray(np.exp((log_binomials(self.players) + every) / 2))

    def of(self, table: FloatArray) -> float:
        """The interaction of A in the game of |S ∩ A| and |S| that a table holds."""
        count, total = len(self.shares), 0.0
        for r, sign in enumerate(self.signs):
            total += comb(self.size, r) * sign * float(self.shares @ table[r, r : r + count])
        return total

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
        height, rest = kernel.by_size(), self.players - self.size
        # ∂_A of s_i e^(-au): the sum of two heights for i ∈ A, else s_i times differences.
        mine = self.shares @ np.diff(height[1:] + height[:-1], self.size - 1)
        mean = 2 * np.arange(rest + 1) / max(rest, 1) - 1
        theirs = self.shares * mean @ np.diff(height, self.size)
        return np.asarray((mine * own + theirs * others) * height / self.players)

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
