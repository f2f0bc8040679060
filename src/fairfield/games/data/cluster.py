"""Groups of the rows or columns of a data set, to be players."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.runtime.imports import needed_for

HOWS = ("kmeans", "random", "time", "vendor", "column")


def cluster(
    X: Any,
    k: int,
    how: Literal["kmeans", "random", "time", "vendor", "column"] = "kmeans",
    *,
    by: Any = None,
    seed: int = 0,
) -> IntArray:
    """A group 0 … k-1 for each row, or for each column by ``how="column"``.

    ``"kmeans"`` groups rows around the centres of k-means, which needs scikit-learn;
    ``"random"`` groups them at random; ``"time"`` cuts them into k periods, in the order of ``by``, or
    as they come. Sizes then differ by at most one. ``"vendor"`` puts the rows of a vendor, named by
    ``by``, into one group, the largest vendors first, each where there are the fewest rows so far.
    ``by`` is the name of a column of a DataFrame ``X``, or one entry for each row. ``"column"``
    groups columns of numbers that are most correlated, for :class:`ColumnGame`.

    >>> np.bincount(cluster(np.zeros((10, 2)), 3, how="random")).tolist()
    [4, 3, 3]
    >>> cluster(np.zeros((5, 2)), 2, how="time", by=[2024, 2021, 2020, 2022, 2023]).tolist()
    [1, 0, 0, 0, 1]
    >>> cluster(np.zeros((5, 2)), 2, how="vendor", by=["ann", "bob", "bob", "eve", "bob"]).tolist()
    [1, 0, 0, 1, 0]
    """
    if how not in HOWS:
        raise ValueError(f"how={how!r} is not known; choose {', '.join(map(repr, HOWS))}")
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    keys = None if by is None else _keys(X, by, rows)
    most, what = rows, "rows"
    if how == "column":
        most, what = np.shape(X)[1], "columns"
    elif how == "vendor":
        if keys is None:
            raise ValueError("how='vendor' needs by=, a column of X or one vendor for each row")
        most, what = len(np.unique(keys)), "vendors"
    if not 1 <= k <= most:
        raise ValueError(f"k={k} groups of {most} {what} were asked for; give 1 to {most}")
    if how == "random":
        return np.random.default_rng(seed).permutation(np.arange(rows, dtype=np.int64) % k)
    if how == "column":
        return _together(np.asarray(X, dtype=float), k)
    if how == "vendor":
        return _whole_vendors(keys, k)
    if how == "time":
        order = np.arange(rows) if keys is None else np.argsort(keys, kind="stable")
        labels = np.empty(rows, dtype=np.int64)
        labels[order] = np.arange(rows) * k // rows
        return labels
    with needed_for("cluster"):
        from sklearn.cluster import KMeans
    return _equal_groups(KMeans(k, n_init=10, random_state=seed).fit_transform(X))


def _keys(X: Any, by: Any, rows: int) -> Any:
    """What rows are ordered or named by."""
    if isinstance(by, str):
        if by not in getattr(X, "columns", ()):
            raise ValueError(
                f"by={by!r} is no column of X; name one, or give an entry for each row"
            )
        by = X[by]
    found = np.asarray(by)
    if found.shape != (rows,):
        raise ValueError(f"by has shape {found.shape}; give one entry for each of {rows} rows")
    return found


def _whole_vendors(keys: Any, k: int) -> IntArray:
    _, vendor, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    held, group = np.zeros(k, dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    for each in np.argsort(-sizes, kind="stable"):
        group[each] = np.argmin(held)
        held[group[each]] += sizes[each]
    return np.asarray(group[vendor])


def _together(X: FloatArray, k: int) -> IntArray:
    """Columns by average linkage of 1 - |correlation|, groups numbered as they first appear."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    count = X.shape[1]
    if count == 1:
        return np.zeros(1, dtype=np.int64)
    apart = X - X.mean(axis=0)
    length = np.sqrt((apart**2).sum(axis=0))
    apart /= np.where(length > 0, length, 1)
    far = 1 - np.minimum(np.abs(apart.T @ apart), 1)
    np.fill_diagonal(far, 0)
    found = cut_tree(linkage(squareform(far, checks=False), "average"), k).ravel()
    return np.asarray(found, dtype=np.int64)


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
