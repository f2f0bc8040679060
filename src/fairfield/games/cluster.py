"""Rows of a data set, put into groups that can play together."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fairfield.coalitions import IntArray


def cluster(
    X: Any, k: int, how: Literal["kmeans", "random"] = "kmeans", *, seed: int = 0
) -> IntArray:
    """A group 0 … k-1 for each row: near rows together, or rows at random.

    ``"kmeans"`` groups rows by k-means, which needs scikit-learn; ``"random"`` deals them
    out, and group sizes differ by at most one.

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
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(X), dtype=np.int64)
