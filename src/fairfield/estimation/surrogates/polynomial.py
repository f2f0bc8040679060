"""Polynomials in few interactions: games that are read in closed form.

A product Π_{i∈A} s_i with s = ±1 for players in and out has the interaction
2^|C| Σ_k w_k (2t_k - 1)^(|A|-|C|) of C ⊆ A along the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.prior.kernels import signs_of
from fairfield.games.set_functions.products import ProductsExtension

Member = tuple[int, ...]


@dataclass(frozen=True)
class Polynomial:
    """Σ_A c_A Π_{i∈A} s_i, s = ±1 for players in and out; the first member is ∅."""

    players: int
    support: Sequence[Member]
    coefficients: FloatArray

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (m,) of coalitions (m, n)."""
        return np.asarray(columns(signs_of(coalitions), self.support) @ self.coefficients)

    @property
    def degree(self) -> int:
        """The size of the largest member."""
        return max(map(len, self.support))

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The values or interactions of sets (k, size), (k,)."""
        size = along.size
        powers = (2 * along.nodes - 1) ** np.arange(self.degree + 1)[:, None] @ along.weights
        found: dict[Member, float] = {}
        for member, slope in zip(self.support, self.coefficients.tolist(), strict=True):
            if len(member) >= size:
                added = 2**size * powers[len(member) - size] * slope
                for some in combinations(member, size):
                    found[some] = found.get(some, 0.0) + added
        return np.array([found.get(tuple(each), 0.0) for each in sets.tolist()])

    def extension(self) -> Extension:
        """Its extension: s_i is 2x_i - 1 in the mean."""
        from scipy.sparse import csr_array

        counts = [len(each) for each in self.support]
        players = np.array([i for each in self.support for i in each], dtype=np.int64)
        ones = np.ones(len(players))
        ends = np.cumsum([0, *counts])
        members = csr_array((ones, players, ends), shape=(len(counts), self.players))
        return ProductsExtension(
            members, -ones, ones, self.coefficients, method="closed form: few interactions"
        )

    def found(self, size: int) -> Sets:
        """The coalitions of this size whose interactions are not 0."""
        members = {some for each in self.support for some in combinations(each, size)}
        return np.array(sorted(members), dtype=np.int64).reshape(-1, size)


def columns(signs: FloatArray, family: Iterable[Member]) -> FloatArray:
    """Π_{i∈A} s_i of rows of signs (m, n): (m, members)."""
    members = list(family)
    found = np.ones((len(signs), len(members)))
    for size in range(1, max(map(len, members)) + 1):
        which = [k for k, each in enumerate(members) if len(each) >= size]
        found[:, which] *= signs[:, [members[k][size - 1] for k in which]]
    return found
