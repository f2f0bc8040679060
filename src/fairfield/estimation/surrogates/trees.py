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
from fairfield.estimation.reading import Control
from fairfield.estimation.surrogates.registry import enough, surrogate
from fairfield.estimation.surrogates.sample import FOLDS, Diagonal, Fit, Sample, cross_fitted, folds
from fairfield.games.set_functions.products import ProductsExtension
from fairfield.games.trees.readers.registry import read_model

# From so many pairs on trees may be larger: measured on the games of the benchmark.
MANY = 750
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

    def read(self, diagonal: Diagonal) -> FloatArray:
        """The values of the players by a semivalue, (n,)."""
        ins, outs = ((self.needed == side).sum(axis=1) for side in (1, -1))
        at, most = diagonal.nodes, np.arange(max(ins.max(), outs.max()) + 1)[:, None]
        inside, outside = at**most, (1 - at) ** most
        # Σ_k w_k t^a (1 - t)^b for each a and b
        chances = np.einsum("at,bt,t->ab", inside, outside, diagonal.weights)
        joins = self.values * chances[np.maximum(ins - 1, 0), outs]
        leaves = self.values * chances[ins, np.maximum(outs - 1, 0)]
        return np.asarray(joins @ (self.needed == 1) - leaves @ (self.needed == -1))

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


@surrogate("trees", lambda sample: enough(sample) and trees_are_installed(), seconds=1.0)
def tree_surrogate(sample: Sample, diagonal: Diagonal, seed: int, rival: FloatArray) -> Fit | None:
    """Gradient-boosted trees on both coalitions of the pairs, fold by fold."""
    inside = sample.coalitions.astype(float)
    # Trees stop splitting at gains of a fixed size, so worths come in units of their own.
    scales = np.std(sample.both, axis=(1, 2))

    leaves = 8 if len(inside) < MANY else 24

    def fit(game: int, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        scale = scales[game] or 1.0
        worths = sample.both[game][:, kept].ravel() / scale
        both = np.concatenate([inside[kept], 1 - inside[kept]])
        (ins, outs), found = _boosted(both, worths, leaves, seed, inside, 1 - inside)
        return scale * (ins - outs) / 2, scale * found.read(diagonal)

    return cross_fitted("boosted trees", sample, fit, seed, rival)


def tree_control(inside: FloatArray, worths: FloatArray, times: FloatArray, seed: int) -> Control:
    """Gradient-boosted trees on coalitions (m, n) and their worths (m,), each fold left out once.

    ``times`` (m,) tells how often each was seen. One more draw of a coalition that was seen twice
    would be of one that the trees were fitted to, so what all of them leave counts there; of
    the others, what those leave that were fitted without them.
    """
    fold = folds(np.arange(len(inside)), seed)
    scale = float(np.std(worths)) or 1.0
    known, left, extensions = worths.copy(), worths.copy(), []
    for out, fitted, found in without_each_fold(inside, worths / scale, fold, seed):
        known -= scale * fitted / FOLDS
        left[out] -= scale * fitted[out]
        extensions.append(found.extension())
    return Control(np.where(times > 1, known, left), scale, tuple(extensions))


def without_each_fold(
    inside: FloatArray, worths: FloatArray, fold: IntArray, seed: int
) -> Iterator[tuple[BoolArray, FloatArray, Leaves]]:
    """The worths (m,) of each fold, what trees fitted to all others predict, and their leaves.

    Trees stop splitting at gains of a fixed size, so worths come in units of their own.
    """
    leaves = 8 if len(inside) < 2 * MANY else 24
    for k in range(FOLDS):
        out = fold == k
        (fitted,), found = _boosted(inside[~out], worths[~out], leaves, seed, inside)
        yield out, fitted, found


def _boosted(
    inside: FloatArray, worths: FloatArray, leaves: int, seed: int, *others: FloatArray
) -> tuple[list[FloatArray], Leaves]:
    """What trees fitted to coalitions (m, n) predict of others, and their leaves."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=200,
        learning_rate=0.1,
        max_leaf_nodes=leaves,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=seed % 2**32,  # scikit-learn takes no more
    )
    # One thread for small samples: more would mostly wait for each other, on busy cores long.
    limit = 1 if inside.size < SHARED else None
    with threadpool_limits(limits=limit, user_api="openmp"):
        model.fit(inside, worths)
        predicted = [model.predict(each) for each in others]
    return predicted, Leaves.of(model, inside.shape[1])
