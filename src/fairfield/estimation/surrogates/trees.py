"""A surrogate of boosted trees on coalitions.

A leaf is reached by coalitions that hold some players A and none of some others B, so trees are a
sum of products, Σ_l v_l Π_{i∈A} z_i Π_{j∈B} (1 - z_j), whose values and extension are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.surrogates.folds import FOLDS, HOPELESS, folds
from fairfield.estimation.surrogates.registry import Surrogate, surrogate
from fairfield.games.set_functions.products import ProductsExtension
from fairfield.games.trees.readers.registry import read_model

# From so many coalitions on trees may be larger: measured on the games of the benchmark.
MANY = 1500
# A worth without noise may be a leaf of its own: programs and trees have such.
LEAST, LEAST_NOISY = 1, 5
# So many coalitions are fitted to at most; more are left to the correction.
FITTED = 10_000
# Numbers held at a time while leaves are read.
AT_ONCE = 2**22
# A sample of so many numbers is worth sharing among threads.
SHARED = 2**18


def trees_are_installed() -> bool:
    """Whether scikit-learn fits trees here."""
    from importlib.util import find_spec

    return find_spec("sklearn") is not None


@dataclass(frozen=True)
class Leaves:
    """Leaves of trees: who must be in (1) or out (-1) to reach each, (leaves, n), and its value.

    ``constant`` is what the trees add to them.
    """

    needed: IntArray
    values: FloatArray
    constant: float

    @classmethod
    def of(cls, model: Any, players: int) -> Leaves:
        """Those of a model that was fitted to coalitions as zeros and ones."""
        nodes = read_model(model).nodes
        needed = np.zeros((len(nodes.left), players), dtype=np.int64)
        at = np.flatnonzero(nodes.left[nodes.roots] >= 0)
        at = nodes.roots[at]
        while len(at):
            for child, side in ((nodes.left[at], -1), (nodes.right[at], 1)):
                needed[child] = needed[at]
                needed[child, nodes.feature[at]] = side
            below = np.concatenate([nodes.left[at], nodes.right[at]])
            at = below[nodes.left[below] >= 0]
        leaf = nodes.left < 0
        needed, values = needed[leaf], nodes.value[leaf, 0]
        nobody = values[(needed < 1).all(axis=1)].sum()
        return cls(needed, values, float(model.predict(np.zeros((1, players)))[0] - nobody))

    def read(self, along: Along, sets: Sets) -> FloatArray:
        """The values or interactions of sets (k, size), (k,)."""
        ins, outs = ((self.needed == side).sum(axis=1) for side in (1, -1))
        at, most = along.nodes, np.arange(max(ins.max(), outs.max()) + 1)[:, None]
        # Σ_k w_k t^a (1 - t)^b for each a and b
        chances = np.einsum("at,bt,t->ab", at**most, (1 - at) ** most, along.weights)
        values, block = np.zeros(len(sets)), max(1, AT_ONCE // len(ins))
        for start in range(0, len(sets), block):
            members = sets[start : start + block]
            joins, lacks = np.zeros((2, len(ins), len(members)), dtype=np.int64)
            for each in members.T:
                joins += self.needed[:, each] == 1
                lacks += self.needed[:, each] == -1
            leaf, which = np.nonzero(joins + lacks == along.size)
            a, b = joins[leaf, which], lacks[leaf, which]
            sizes = self.values[leaf] * chances[ins[leaf] - a, outs[leaf] - b] * (-1.0) ** b
            values[start : start + block] = np.bincount(which, sizes, len(members))
        return values

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (m,) of coalitions (m, n)."""
        return self.extension().value(coalitions.astype(float))

    def found(self, size: int) -> Sets:
        """None: leaves have too many."""
        return np.empty((0, size), dtype=np.int64)

    def extension(self) -> Extension:
        """The extension of the game of these trees."""
        from scipy.sparse import csr_array

        members = csr_array(np.abs(self.needed))
        inside = (csr_array(self.needed).data > 0).astype(float)
        return ProductsExtension(
            members,
            1 - inside,
            inside,
            self.values,
            method="closed form: leaves of trees",
            constant=self.constant,
        )


@surrogate("trees", lambda _: trees_are_installed(), seconds=1.0, from_few=0.1)
def boosted_trees(sampled: Sampled, seed: int, rival: float) -> Surrogate | None:
    """Gradient-boosted trees, each fold left out once."""
    (worths,) = sampled.worths
    fold = np.full(len(worths), FOLDS)
    fold[:FITTED] = folds(sampled.groups[:FITTED], seed)
    scale = float(np.std(worths)) or 1.0
    inside, outside = worths.copy(), np.zeros(len(worths))
    parts: list[Leaves] = []
    rows = sampled.rows.astype(float)
    least = LEAST_NOISY if sampled.noisy else LEAST
    for out, fitted, leaves in without_each_fold(rows, worths / scale, fold, seed, least):
        inside -= scale * fitted / FOLDS
        outside[out] = worths[out] - scale * fitted[out]
        if not parts and float(np.mean(outside[out] ** 2)) > HOPELESS * rival:
            return None
        parts.append(leaves)
    outside[FITTED:] = inside[FITTED:]
    return Surrogate("boosted trees", parts, scale, inside, outside, dense=True)


def without_each_fold(
    inside: FloatArray, worths: FloatArray, fold: IntArray, seed: int, least: int
) -> Iterator[tuple[BoolArray, FloatArray, Leaves]]:
    """The worths (m,) of each fold, what trees fitted to all others predict, and their leaves.

    Folds beyond the last are neither left out nor fitted to. Trees stop splitting at gains of a fixed size,
    so worths come in units of their own.
    """
    leaves = 8 if len(inside) < MANY else 24
    for k in range(FOLDS):
        out, kept = fold == k, (fold != k) & (fold < FOLDS)
        fitted, found = _boosted(inside[kept], worths[kept], (leaves, least), seed, inside)
        yield out, fitted, found


def _boosted(
    inside: FloatArray, worths: FloatArray, sizes: tuple[int, int], seed: int, every: FloatArray
) -> tuple[FloatArray, Leaves]:
    """What trees fitted to some coalitions (m, n) predict of all, and their leaves.

    The ``sizes`` are how many leaves a tree has at most, and a leaf coalitions at least.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=200,
        learning_rate=0.1,
        max_leaf_nodes=sizes[0],
        min_samples_leaf=sizes[1],
        early_stopping=False,
        random_state=seed % 2**32,  # scikit-learn takes no more
    )
    # One thread for small samples: more would mostly wait for each other, on busy cores long.
    limit = 1 if inside.size < SHARED else None
    with threadpool_limits(limits=limit, user_api="openmp"):
        model.fit(inside, worths)
        predicted = model.predict(every)
    return predicted, Leaves.of(model, inside.shape[1])
