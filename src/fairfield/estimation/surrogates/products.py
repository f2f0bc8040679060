"""Games of players who matter unequally: sums of products with a rate for each player.

    k(S, S') = Π_i e^{-θ_i} over players i of whom one coalition holds one, the other none: θ_i ≥ 0

A player with θ_i = 0 changes nothing (automatic relevance determination: MacKay, 1994; Neal, 1996).
Where players are in with chance t, or t', independently, the mean of a factor is
1 - (1 - e^{-θ_i})(t + t' - 2tt'), from which the variances of readings along the diagonal follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.prior.kernels import signs_of
from fairfield.games.set_functions.products import ProductsExtension

# Numbers held at a time, and coalitions that are listed at most.
AT_ONCE, MOST_FOUND = 2**22, 2000


@dataclass(frozen=True)
class Unequal:
    """Σ_j c_j Π_i (1 if S and S_j agree on i, else e^{-θ_i}) of rows of signs (m, k): of the players that count.

    ``players`` (k,) are these, of ``count``.
    """

    count: int
    players: IntArray
    signs: FloatArray
    rates: FloatArray
    coefficients: FloatArray

    @property
    def factors(self) -> tuple[FloatArray, FloatArray]:
        """The factors of players who are out, and in, (m, k)."""
        other = np.exp(-self.rates)
        return np.where(self.signs > 0, other, 1.0), np.where(self.signs > 0, 1.0, other)

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (m,) of coalitions (m, n)."""
        return np.asarray(self.kernel(signs_of(coalitions[:, self.players])) @ self.coefficients)

    def kernel(self, signs: FloatArray) -> FloatArray:
        """k(S, S_j) of rows of signs (m, k): (m, terms)."""
        return kernel(signs, self.signs, self.rates)

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The values or interactions of sets (k, size), (k,)."""
        found, block = np.zeros(len(sets)), max(1, AT_ONCE // len(self.signs))
        for start in range(0, len(sets), block):
            some = slice(start, start + block)
            found[some] = self.coefficients @ self.sections(along, sets[some])
        return found

    def sections(self, along: Along, sets: Sets) -> FloatArray:
        """The readings of each product, (m, k)."""
        own, found = self._places(sets), np.zeros((len(self.signs), len(sets)))
        some = (own >= 0).all(axis=1)
        out, inside = self.factors
        for t, weight in zip(along.nodes.tolist(), along.weights.tolist(), strict=True):
            at = out + (inside - out) * t
            steps = (inside - out) / at
            read = (weight * at.prod(axis=1))[:, None] * steps[:, own[some, 0]]
            for more in own[some].T[1:]:
                read *= steps[:, more]
            found[:, some] += read
        return found

    def covariance(self, along: Along, sets: Sets, *, whole: bool) -> FloatArray:
        """Of readings of random games with this kernel: variances (k,), or the ``whole`` of players (k, k)."""
        own, drops = self._places(sets), 1 - np.exp(-self.rates)
        some = np.flatnonzero((own >= 0).all(axis=1))
        variances, between = np.zeros(len(sets)), np.zeros((len(sets), len(sets)) if whole else 0)
        for t, weight in zip(along.nodes.tolist(), along.weights.tolist(), strict=True):
            # A player is in one of two coalitions that hold them with chances t and t', and not in the other.
            agree = 1 - drops * (t + along.nodes - 2 * t * along.nodes)[:, None]
            steps, weights = drops / agree, weight * along.weights * agree.prod(axis=1)
            read = np.repeat(weights[:, None], len(some), axis=1)
            for members in own[some].T:
                read *= steps[:, members]
            variances[some] += 2.0**along.size * read.sum(axis=0)
            if whole:
                apart = (1 - 2 * t) * (1 - 2 * along.nodes)[:, None] * read
                between[np.ix_(some, some)] += apart.T @ steps[:, own[some, 0]]
        if not whole:
            return variances
        np.fill_diagonal(between, variances)
        return between

    def _places(self, sets: Sets) -> IntArray:
        """Where the members of sets (k, size) stand among the players that count; -1 for others."""
        place = np.full(self.count, -1)
        place[self.players] = np.arange(len(self.players))
        return np.asarray(place[sets])

    def found(self, size: int) -> Sets:
        """All of the players that count, where these are few."""
        if comb(len(self.players), size) > MOST_FOUND:
            return np.empty((0, size), dtype=np.int64)
        found = list(combinations(self.players.tolist(), size))
        return np.array(found, dtype=np.int64).reshape(-1, size)

    def extension(self) -> Extension:
        """The extension of its game."""
        from scipy.sparse import csr_array

        out, inside = self.factors
        terms, each = self.signs.shape
        ends = np.arange(terms + 1) * each
        members = csr_array(
            (np.ones(out.size), np.tile(self.players, terms), ends), shape=(terms, self.count)
        )
        return ProductsExtension(
            members,
            out.ravel(),
            inside.ravel(),
            self.coefficients,
            method="closed form: a kernel with a rate for each player",
        )


def kernel(signs: FloatArray, others: FloatArray, rates: FloatArray) -> FloatArray:
    """k(S, S') of rows of signs (m, k) and (j, k), (m, j)."""
    return np.asarray(np.exp(((signs * rates) @ others.T - rates.sum()) / 2))
