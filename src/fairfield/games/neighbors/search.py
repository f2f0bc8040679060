"""The training rows nearest to each test point, in order of distance.

Rows at equal distance are in the order of their row numbers, so a shorter list is always the
beginning of a longer one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import array_api_compat
import numpy as np

from fairfield.core.arrays import FloatArray, IntArray, on_host
from fairfield.core.runtime.imports import needed_for

Metric: TypeAlias = str | Callable[[FloatArray, FloatArray], float]
# Row numbers by distance, so many of them or a few more, for a slice of the test points, and
# their distances where these were asked for: both (tests, rows).
Ranked: TypeAlias = tuple[IntArray, FloatArray | None]
Search: TypeAlias = Callable[[slice, int], Ranked]

# Distances computed at once: 32 MB.
DISTANCES = 2**22
# Differences computed at once on a device: 1 GiB.
ON_DEVICE = 2**27
# Up to so many rows, all are sorted: faster than building a search tree.
SMALL = 4096

# Metrics that have another name in SciPy than in scikit-learn.
ALIASES = {"l1": "cityblock", "l2": "euclidean", "manhattan": "cityblock", "minkowski": "euclidean"}
# Those that both libraries compute alike and that obey the triangle inequality, by which search
# trees leave rows out; all rows are sorted by any other.
BY_TREE = ("euclidean", "cityblock", "chebyshev", "canberra", "hamming")


@dataclass(frozen=True)
class OnCopies:
    """A metric function that is given copies of rows, which it may change."""

    metric: Callable[[FloatArray, FloatArray], float]

    @property
    def __name__(self) -> str:  # SciPy finds its own metrics by it
        return getattr(self.metric, "__name__", "Unknown")

    def __call__(self, one: FloatArray, other: FloatArray) -> float:
        return self.metric(one.copy(), other.copy())


class MetricSearch:
    """Exact search by a metric: distances are always those of SciPy's direct formula.

    Short lists take their candidates from scikit-learn where the metric allows it, long ones sort
    all rows: O(N D + N log N) per test point. The variances and covariances that some metrics
    scale by are those of the training rows.
    """

    def __init__(
        self, X: FloatArray, X_test: FloatArray, metric: Metric, distances: bool = False
    ) -> None:
        self.X, self.X_test, self.distances = X, X_test, distances
        self.metric = ALIASES.get(metric, metric) if isinstance(metric, str) else OnCopies(metric)
        self._index: Any = None
        self._scale: dict[str, FloatArray] = {}
        if self.metric == "seuclidean":
            self._scale["V"] = np.var(X, axis=0, ddof=1)
        elif self.metric == "mahalanobis":
            self._scale["VI"] = _inverse(np.atleast_2d(np.cov(X.T)))
        try:
            self._distances(X_test[:1], X[:1])
        except ValueError as error:
            raise ValueError(
                f"metric={metric!r} is not known to SciPy ({error}); name another, or pass your "
                "own index as neighbors="
            ) from error

    def __call__(self, tests: slice, count: int) -> Ranked:
        points = self.X_test[tests]
        found = np.empty((len(points), count), dtype=np.int64)
        step = max(1, DISTANCES // len(self.X))
        for first in range(0, len(points), step):
            part = slice(first, first + step)
            found[part] = self._nearest(points[part], count)[:, :count]
        return found, self._distances_to(points, found) if self.distances else None

    def _nearest(self, points: FloatArray, count: int) -> IntArray:
        ask = count + 8
        while self.metric in BY_TREE and len(self.X) > SMALL and ask <= len(self.X) // 8:
            found = self._candidates(points, ask)
            if found.shape[1] >= count:
                return found
            ask *= 2
        return by_distance(self._distances(points, self.X))

    def _candidates(self, points: FloatArray, ask: int) -> IntArray:
        """The rows that are certainly the nearest, among ``ask`` that a search returns.

        Rows as far as the last one returned may be missing, and so may rows nearer than it by
        less than the rounding error of |x|² - 2xy + |y|², which brute search computes.
        """
        if self._index is None:
            with needed_for(f"a search among {len(self.X)} rows without neighbors="):
                from sklearn.neighbors import NearestNeighbors
            self._index = NearestNeighbors(metric=self.metric).fit(self.X)
            self._norm = np.linalg.norm(self.X, axis=1).max()
        rows = np.sort(self._index.kneighbors(points, ask, return_distance=False), axis=1)
        distances = self._distances_to(points, rows)
        order = by_distance(distances)
        last = distances.max(axis=1) * (1 - 1e-9)
        if self.metric == "euclidean":
            norms = np.linalg.norm(points, axis=1) + self._norm
            error = 8 * np.finfo(float).eps * (4 + points.shape[1]) * norms**2
            last = np.sqrt(np.maximum(last**2 - error, 0.0))
        certain = int((distances < last[:, None]).sum(axis=1).min())
        return np.take_along_axis(rows, order[:, :certain], axis=1)

    def _distances_to(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """The distances of each point and its own rows, (points, m)."""
        pairs = zip(points, rows, strict=True)
        return np.concatenate([self._distances(p[None], self.X[r]) for p, r in pairs])

    def _distances(self, points: FloatArray, rows: FloatArray) -> FloatArray:
        from scipy.spatial.distance import cdist

        found = np.asarray(cdist(points, rows, self.metric, **self._scale))
        if np.isnan(found).any():
            raise ValueError(
                f"the distance of a test point and a row of X is not a number by metric={self.metric!r}, "
                "as where all columns of a row are 0, or a column is constant; drop them, or name "
                "another metric"
            )
        return found


class DeviceSearch:
    """Exact Euclidean search on the device that holds the rows: all distances, and a sort.

    O(N D + N log N) per test point; only the lists leave the device.
    """

    def __init__(self, X: Any, X_test: Any, metric: Metric, distances: bool = False) -> None:
        if not isinstance(metric, str) or ALIASES.get(metric, metric) != "euclidean":
            raise ValueError(
                f"metric={metric!r} was given for rows on a device, where distances are Euclidean; "
                "bring X to the host, or pass your own index as neighbors="
            )
        self.X, self.X_test, self.distances = X, X_test, distances

    def __call__(self, tests: slice, count: int) -> Ranked:
        xp = array_api_compat.array_namespace(self.X)
        found, far = [], []
        step = max(1, ON_DEVICE // (self.X.shape[0] * self.X.shape[1]))
        for first in range(tests.start, tests.stop, step):
            points = self.X_test[first : min(first + step, tests.stop), None, :]
            # Differences, not |x|² - 2xy + |y|², whose rounding would separate equal rows.
            distances = xp.sum((self.X[None, ...] - points) ** 2, axis=2)
            order = xp.argsort(distances, axis=1, stable=True)[:, :count]
            found.append(on_host(order, np.int64))
            if self.distances:
                far.append(np.sqrt(on_host(xp.sort(distances, axis=1)[:, :count])))
        return np.concatenate(found), np.concatenate(far) if far else None


def _inverse(covariance: FloatArray) -> FloatArray:
    if np.linalg.matrix_rank(covariance) < len(covariance):
        raise ValueError(
            "metric='mahalanobis' needs rows of X whose columns do not determine each other; drop some "
            "columns, or use metric='seuclidean'"
        )
    return np.asarray(np.linalg.inv(covariance), dtype=np.float64)


def by_distance(distances: FloatArray) -> IntArray:
    """The columns of each row by distance, those of equal distance from left to right."""
    order = np.argsort(distances, axis=1)
    ranked = np.take_along_axis(distances, order, axis=1)
    # A stable sort takes twice as long, and most data have no ties.
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    if tied.any():
        order[tied] = np.argsort(distances[tied], axis=1, kind="stable")
    return order
