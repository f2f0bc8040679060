"""Groups of rows of a data set, to be players."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.imports import needed_for


def cluster(
    X: Any, k: int, how: Literal["kmeans", "random"] = "kmeans", *, seed: int = 0
) -> IntArray:
    """A group 0 … k-1 for each row, of sizes that differ by at most one.

    ``"kmeans"`` groups rows around the centres of k-means, which needs scikit-learn;
    ``"random"`` groups them at random.

    >>> labels = cluster(np.zeros((10, 2)), 3, how="random")
    >>> np.bincount(labels).tolist()
    [4, 3, 3]
    """
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if not 1 <= k <= rows:
        raise ValueError(f"k={k} groups of {rows} rows were asked for; give 1 to {rows}")
    if how == "random":
        return np.random.default_rng(seed).permutation(np.arange(rows, dtype=np.int64) % k)
    if how != "kmeans":
        raise ValueError(f"how={how!r} is not known; choose 'kmeans' or 'random'")
    with needed_for("cluster"):
        from sklearn.cluster import KMeans
    return _equal_groups(KMeans(k, n_init=10, random_state=seed).fit_transform(X))


def _equal_groups(distances: FloatArray) -> IntArray:
    """The nearest centre with room for each row, those with the widest range of distances first."""
    rows, k = distances.shape
    size, larger = divmod(rows, k)  # the number of groups that are larger by one
    room = np.full(k, size)
    options = np.argsort(distances, axis=1, kind="stable")
    ranges = distances.max(axis=1) - distances.min(axis=1)
    labels = np.empty(rows, dtype=np.int64)
    for row in np.argsort(-ranges, kind="stable"):
        group = next(each for each in options[row] if room[each] + (larger > 0) > 0)
        larger -= int(room[group] == 0)
        room[group] -= 1
        labels[row] = group
    return labels
