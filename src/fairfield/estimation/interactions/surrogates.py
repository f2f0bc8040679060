"""Surrogates whose interactions are known: games of few interactions, and trees.

A product Π_{i∈A} s_i with s = ±1 has the interaction 2^|C| Σ_k w_k (2t_k - 1)^(|A|-|C|) of C ⊆ A,
and a leaf that a coalition reaches by having some players and lacking others is such a product too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.interactions.sections import Along, Sets
from fairfield.estimation.surrogates.recovered import believed
from fairfield.estimation.surrogates.sample import FOLDS, HOPELESS, folds
from fairfield.estimation.surrogates.sparse import Polynomial, sparse_fit
from fairfield.estimation.surrogates.trees import Leaves, without_each_fold

# Numbers held at a time while leaves are read.
AT_ONCE = 2**22


@dataclass(frozen=True)
class Surrogate:
    """A game that is like the sampled one: mean, over its parts, of polynomials or leaves.

    ``inside`` and ``outside`` (m,) are what it leaves of the worths, and what a part leaves that was
    fitted without them. ``exact`` where that is rounding.
    """

    name: str
    parts: Sequence[Polynomial | Leaves]
    scale: float
    inside: FloatArray
    outside: FloatArray
    exact: bool = False

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The interactions of sets (k, size), (k,)."""
        parts = [_read(part, along, sets) for part in self.parts]
        return np.asarray(self.scale * np.mean(parts, axis=0)) if parts else np.zeros(len(sets))

    def found(self, size: int) -> Sets:
        """The coalitions of this size whose interactions are not 0, as far as they are few."""
        members = {
            some
            for part in self.parts
            if isinstance(part, Polynomial)
            for each in part.support
            for some in combinations(each, size)
        }
        return np.array(sorted(members), dtype=np.int64).reshape(-1, size)


def nothing(worths: FloatArray) -> Surrogate:
    """The game 0."""
    return Surrogate("", (), 1.0, worths, worths)


def few_interactions(
    rows: BoolArray, worths: FloatArray, groups: IntArray, seed: int, rival: float
) -> Surrogate | None:
    """A polynomial in few interactions; None if far worse than a rival's mean squared error."""
    polynomial, left = believed(rows, worths, seed, groups), (np.zeros_like(worths),) * 2
    exact = polynomial is not None
    if polynomial is None:
        found = sparse_fit(rows, worths, seed, rival, groups)
        if found is None:
            return None
        polynomial, left = found.polynomial, (found.inside, found.outside)
    name = f"a polynomial in {len(polynomial.support):,} interactions"
    return Surrogate(name, [polynomial], 1.0, *left, exact)


def boosted_trees(
    rows: BoolArray, worths: FloatArray, groups: IntArray, seed: int, rival: float
) -> Surrogate | None:
    """Gradient-boosted trees; None if the first fold is far worse than a rival's error."""
    fold = folds(groups, seed)
    scale = float(np.std(worths)) or 1.0
    inside, outside = worths.copy(), np.zeros(len(worths))
    parts: list[Leaves] = []
    for out, fitted, leaves in without_each_fold(rows.astype(float), worths / scale, fold, seed):
        inside -= scale * fitted / FOLDS
        outside[out] = worths[out] - scale * fitted[out]
        if not parts and float(np.mean(outside[out] ** 2)) > HOPELESS * rival:
            return None
        parts.append(leaves)
    return Surrogate("boosted trees", parts, scale, inside, outside)


def _read(part: Polynomial | Leaves, along: Along, sets: Sets) -> FloatArray:
    return (
        _of_polynomial(part, along, sets)
        if isinstance(part, Polynomial)
        else _of_leaves(part, along, sets)
    )


def _of_polynomial(part: Polynomial, along: Along, sets: Sets) -> FloatArray:
    size = along.size
    powers = (2 * along.nodes - 1) ** np.arange(part.degree + 1)[:, None] @ along.weights
    found: dict[tuple[int, ...], float] = {}
    for member, slope in zip(part.support, part.coefficients.tolist(), strict=True):
        if len(member) >= size:
            added = 2**size * powers[len(member) - size] * slope
            for some in combinations(member, size):
                found[some] = found.get(some, 0.0) + added
    return np.array([found.get(tuple(each), 0.0) for each in sets.tolist()])


def _of_leaves(part: Leaves, along: Along, sets: Sets) -> FloatArray:
    ins, outs = ((part.needed == side).sum(axis=1) for side in (1, -1))
    at, most = along.nodes, np.arange(max(ins.max(), outs.max()) + 1)[:, None]
    # Σ_k w_k t^a (1 - t)^b for each a and b
    chances = np.einsum("at,bt,t->ab", at**most, (1 - at) ** most, along.weights)
    values, block = np.zeros(len(sets)), max(1, AT_ONCE // len(ins))
    for start in range(0, len(sets), block):
        members = sets[start : start + block]
        joins, lacks = np.zeros((2, len(ins), len(members)), dtype=np.int64)
        for each in members.T:
            joins += part.needed[:, each] == 1
            lacks += part.needed[:, each] == -1
        leaf, which = np.nonzero(joins + lacks == along.size)
        a, b = joins[leaf, which], lacks[leaf, which]
        sizes = part.values[leaf] * chances[ins[leaf] - a, outs[leaf] - b] * (-1.0) ** b
        values[start : start + block] = np.bincount(which, sizes, len(members))
    return values
