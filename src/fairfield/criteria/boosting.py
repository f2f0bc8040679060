"""A surrogate of boosted trees, whose values TreeGame knows in closed form."""

from __future__ import annotations

import numpy as np

from fairfield.criteria.surrogates import Fit, Law, Sample
from fairfield.games.trees import TreeGame
from fairfield.multilinear import FloatArray

FOLDS = 5


def trees_are_installed() -> bool:
    """Whether scikit-learn fits trees here and numba reads them."""
    from importlib.util import find_spec

    return find_spec("sklearn") is not None and find_spec("numba") is not None


def tree_surrogate(sample: Sample, law: Law, seed: int) -> Fit:
    """The mean of gradient-boosted trees, each fitted without one fold of the pairs."""
    fold = np.random.default_rng(seed).permutation(len(sample.coalitions)) % FOLDS
    players = sample.coalitions.shape[1]
    inside, outside = np.empty_like(sample.odd), np.empty_like(sample.odd)
    values = np.zeros((len(sample.odd), players))
    for game, worths in enumerate(sample.both):
        scale = float(np.std(worths)) or 1.0
        mean = np.zeros(len(fold))
        for k in range(FOLDS):
            odd, value = _fit_trees(sample, worths / scale, fold != k, law, seed)
            outside[game, fold == k] = (sample.odd[game] - scale * odd)[fold == k]
            mean += scale * odd / FOLDS
            values[game] += scale * value / FOLDS
        inside[game] = sample.odd[game] - mean
    return Fit("boosted trees", values, inside, outside)


def _fit_trees(
    sample: Sample, worths: FloatArray, kept: FloatArray, law: Law, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Odd parts of the fitted game, and its values."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    members = sample.coalitions.astype(float)
    model = HistGradientBoostingRegressor(
        max_iter=200,
        learning_rate=0.1,
        max_leaf_nodes=8,
        min_samples_leaf=5,
        early_stopping=False,
        random_state=seed,
    )
    model.fit(np.concatenate([members[kept], 1 - members[kept]]), worths[:, kept].ravel())
    odd = (model.predict(members) - model.predict(1 - members)) / 2
    players = members.shape[1]
    extension = TreeGame(model, np.ones(players), np.zeros((1, players))).extension()
    points = np.broadcast_to(law.nodes[:, None], (len(law.nodes), players))
    values = sum(w * extension.gradient(x) for w, x in zip(law.weights, points, strict=True))
    return odd, np.asarray(values)
