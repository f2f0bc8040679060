"""A surrogate of boosted trees, whose values TreeGame knows in closed form."""

from __future__ import annotations

import numpy as np

from fairfield.coalitions import IntArray
from fairfield.criteria.surrogates import Fit, Law, Sample, cross_fitted
from fairfield.games.trees import TreeGame
from fairfield.multilinear import FloatArray

# From so many pairs on trees may be larger: measured on the games of the benchmark.
MANY = 750


def trees_are_installed() -> bool:
    """Whether scikit-learn fits trees here and numba reads them."""
    from importlib.util import find_spec

    return find_spec("sklearn") is not None and find_spec("numba") is not None


def tree_surrogate(sample: Sample, law: Law, seed: int, rival: FloatArray) -> Fit | None:
    """Gradient-boosted trees on both coalitions of the pairs, fold by fold."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    inside = sample.coalitions.astype(float)
    players = inside.shape[1]
    # Trees stop splitting at gains of a fixed size, so worths come in units of their own.
    scales = np.std(sample.both, axis=(1, 2))

    leaves = 8 if len(inside) < MANY else 24

    def fit(game: int, kept: IntArray) -> tuple[FloatArray, FloatArray]:
        scale = scales[game] or 1.0
        model = HistGradientBoostingRegressor(
            max_iter=200,
            learning_rate=0.1,
            max_leaf_nodes=leaves,
            min_samples_leaf=5,
            early_stopping=False,
            random_state=seed,
        )
        worths = sample.both[game][:, kept].ravel() / scale
        model.fit(np.concatenate([inside[kept], 1 - inside[kept]]), worths)
        odd = scale * (model.predict(inside) - model.predict(1 - inside)) / 2
        extension = TreeGame(model, np.ones(players), np.zeros((1, players))).extension()
        half = np.full(players, 0.5)
        values = extension.shapley() if law.name == "shapley" else extension.gradient(half)
        return odd, scale * values

    return cross_fitted("boosted trees", sample, fit, seed, rival)
