"""A surrogate of boosted trees, whose values TreeGame has in closed form."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.estimation.reading import Control
from fairfield.estimation.surrogates.registry import enough, surrogate
from fairfield.estimation.surrogates.sample import FOLDS, Diagonal, Fit, Sample, cross_fitted
from fairfield.games.trees.game import TreeGame

# From so many pairs on trees may be larger: measured on the games of the benchmark.
MANY = 750
# A sample of so many numbers is worth sharing among threads.
SHARED = 2**18


def trees_are_installed() -> bool:
    """Whether scikit-learn fits trees here and numba reads them."""
    from importlib.util import find_spec

    return find_spec("sklearn") is not None and find_spec("numba") is not None


@surrogate("trees", lambda sample: enough(sample) and trees_are_installed(), seconds=3.0)
def tree_surrogate(sample: Sample, diagonal: Diagonal, seed: int, rival: FloatArray) -> Fit | None:
    """Gradient-boosted trees on both coalitions of the pairs, fold by fold."""
    inside = sample.coalitions.astype(float)
    players = inside.shape[1]
    # Trees stop splitting at gains of a fixed size, so worths come in units of their own.
    scales = np.std(sample.both, axis=(1, 2))

    leaves = 8 if len(inside) < MANY else 24

    def fit(game: int, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        scale = scales[game] or 1.0
        worths = sample.both[game][:, kept].ravel() / scale
        both = np.concatenate([inside[kept], 1 - inside[kept]])
        (ins, outs), extension = _boosted(both, worths, leaves, seed, inside, 1 - inside)
        half = np.full(players, 0.5)
        values = extension.shapley() if diagonal.name == "shapley" else extension.gradient(half)
        return scale * (ins - outs) / 2, scale * values

    return cross_fitted("boosted trees", sample, fit, seed, rival)


def tree_control(inside: FloatArray, worths: FloatArray, times: FloatArray, seed: int) -> Control:
    """Gradient-boosted trees on coalitions (m, n) and their worths (m,), each fold left out once.

    ``times`` (m,) tells how often each was seen. One more draw of a coalition that was seen twice
    would be of one that the trees were fitted to, so what all of them leave counts there; of
    the others, what those leave that were fitted without them.
    """
    fold = np.random.default_rng(seed).permutation(len(inside)) % FOLDS
    scale = float(np.std(worths)) or 1.0
    leaves = 8 if len(inside) < 2 * MANY else 24
    known, left, extensions = worths.copy(), worths.copy(), []
    for k in range(FOLDS):
        out = fold == k
        (found,), extension = _boosted(inside[~out], worths[~out] / scale, leaves, seed, inside)
        fitted = scale * found
        known -= fitted / FOLDS
        left[out] -= fitted[out]
        extensions.append(extension)
    return Control(np.where(times > 1, known, left), scale, tuple(extensions))


def _boosted(
    inside: FloatArray, worths: FloatArray, leaves: int, seed: int, *others: FloatArray
) -> tuple[list[FloatArray], Extension]:
    """What trees fitted to coalitions (m, n) predict of others, and the extension of their game."""
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
    players = inside.shape[1]
    game = TreeGame(model, np.ones(players), np.zeros((1, players)))
    return predicted, game.extension()
