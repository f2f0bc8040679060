"""Search by an index that the user gives, of any of the usual libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.copies import lent
from fairfield.games.neighbors.search import Ranked

# How scikit-learn, hnswlib, faiss, and pynndescent and the trees of SciPy call their search.
SEARCHES = ("kneighbors", "knn_query", "search", "query")


class IndexSearch:
    """Search by an index that the user gives; it may be approximate, and its order is kept."""

    def __init__(self, index: Any, X_test: Any, rows: int) -> None:
        named = (getattr(index, name) for name in SEARCHES if hasattr(index, name))
        search: Callable[[Any, int], tuple[Any, Any]] = next(named, index)
        if not callable(search):
            raise TypeError(
                f"neighbors= is a {type(index).__name__}; pass an object with kneighbors(X, "
                "n_neighbors), an index of faiss, hnswlib or pynndescent, or a function of the same "
                "two, that returns distances and rows"
            )
        # Rows of a DataFrame are sliced by position, too.
        self.X_test = getattr(X_test, "iloc", X_test)
        self.search, self.rows = search, rows

    def __call__(self, tests: slice, count: int) -> Ranked:
        ask = min(count + 8, self.rows)
        while True:
            distances, rows = self._ask(tests, ask)
            order = np.lexsort((rows, distances))
            # Rows as far as the last one may be missing.
            near = distances < distances[:, -1:]
            certain = self.rows if ask == self.rows else int(near.sum(axis=1).min())
            if certain >= count:
                ranked = order[:, :certain]
                far = np.take_along_axis(distances, ranked, axis=1)
                return np.take_along_axis(rows, ranked, axis=1), far
            ask = min(2 * ask, self.rows)

    def _ask(self, tests: slice, ask: int) -> tuple[FloatArray, IntArray]:
        first, second = map(np.asarray, self.search(lent(self.X_test[tests]), ask)[:2])
        # hnswlib and pynndescent return rows before distances.
        swapped = first.dtype.kind in "iu" and second.dtype.kind == "f"
        near, found = (second, first) if swapped else (first, second)
        distances, rows = near.astype(float), found.astype(np.int64)
        shape = (tests.stop - tests.start, ask)
        if distances.shape != shape or rows.shape != shape:
            raise ValueError(
                f"the index returned distances of shape {distances.shape} and rows of shape "
                f"{rows.shape} where {ask} neighbours of {shape[0]} points were asked for; both "
                f"must have shape {shape}"
            )
        if rows.min() < 0 or rows.max() >= self.rows:
            wrong = rows.min() if rows.min() < 0 else rows.max()
            raise ValueError(
                f"the index returned row {wrong}, and X has rows 0 to {self.rows - 1}; build it "
                f"on X, and let it search wider where it finds fewer than {ask} (faiss: nprobe, "
                "efSearch)"
            )
        if not (np.diff(distances, axis=1) >= 0).all():
            raise ValueError(
                "the index returned distances that fall along a list (or are NaN); they must "
                "rise from the nearest neighbour on; turn similarities into distances first"
            )
        return distances, rows
