"""The rows of a data set as players, under a K-nearest-neighbour model."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, beside, on_host
from fairfield.core.checks import numbers, numbers_anywhere
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game
from fairfield.games.features.rows import row_players
from fairfield.games.neighbors.extension import NeighborExtension
from fairfield.games.neighbors.search import (
    DeviceSearch,
    IndexSearch,
    IntArray,
    Metric,
    MetricSearch,
    Neighborhoods,
    Search,
)

Task: TypeAlias = Literal["classification", "regression"]

# Neighbours of coalitions looked at together: 16 MB of flags, 64 MB of counts.
FLAGS = 2**24


class NeighborGame(Game):
    """What training rows bring to a K-nearest-neighbour model, over some test points.

    The worth of a coalition S of rows is the mean over test points t of

        1/K Σ a_j   over the min(K, |S|) rows j of S nearest to t;

    a missing neighbour counts 0. Rows at equal distance come in the order of their row
    numbers. What a neighbour is worth depends on the task:

    - classification: a_j = 1 where y_j = y_t, else 0; the worth is the mean probability
      of the true class. A class of the test points that y lacks is worth 0 throughout.
    - soft labels, where y has shape (n, classes): a_j = y[j, y_t], the probability of the
      true class, with y_t a column number (a column name if y is a DataFrame).
    - regression: a_j = (ȳ - y_t)² - (y_j - y_t)², how much nearer than the mean ȳ of y the
      neighbour's own answer comes; a missing neighbour answers ȳ. This is the mean gain
      *of the neighbours*; the squared error of their mean prediction is not additive in
      them, has no such closed form, and is not offered.

    ``task`` is regression if y holds fractions, else classification. The players are named
    by the index of X if it is a DataFrame whose names differ, else 0 … n-1.

    ``metric`` is a name or a function, as SciPy and scikit-learn know them. Search is exact
    unless ``neighbors`` is given: an index built on X, with scikit-learn's
    ``kneighbors(X_test, m) -> (distances, rows)``, or a function of the same two; then X
    itself is not looked at. Rows X may be an array of PyTorch, CuPy or JAX; then they are
    searched on its device.

    Cost per test point: O(n) for a worth, O(M K) for a gradient, with M the rows it takes
    until K are in almost surely (80 at x = ½, K = 5), and a whole sort for Shapley. Source:
    Jia et al., Efficient task-specific data valuation for nearest neighbor algorithms, VLDB
    2019, for Shapley; the recursions of :mod:`fairfield.games.neighbors.extension` for the rest.

    >>> game = NeighborGame([[0.0], [1.0], [2.0]], ["a", "b", "b"], [[0.4]], ["b"], k=2)
    >>> game.worths(np.array([[True, True, True], [False, True, True]])).tolist()
    [0.5, 1.0]
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        X_test: Any,
        y_test: Any,
        *,
        k: int = 5,
        task: Task | None = None,
        metric: Metric = "euclidean",
        neighbors: Any = None,
    ) -> None:
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(
                f"k={k!r} neighbours were asked for; k must be a whole number from 1 on"
            )
        rows, tests = _length(X, "X"), _length(X_test, "X_test")
        for name, labels, what, count in (("y", y, "X", rows), ("y_test", y_test, "X_test", tests)):
            if _length(labels, name) != count:
                raise ValueError(
                    f"{what} has {count} rows and {name} has {_length(labels, name)}; every row "
                    "needs its label"
                )
        self.k = int(k)
        self.players = row_players(X, rows)
        measure = metric if neighbors is None else type(neighbors)
        self.metric = measure if isinstance(measure, str) else measure.__qualname__
        self.task, self._known, self._asked = _labels(y, y_test, task)
        search: Search
        if neighbors is None:
            table = numbers_anywhere(X, "X", axes=2)
            test_table = beside(table, numbers(on_host(X_test, None), "X_test", axes=2))
            if table.shape[1] != test_table.shape[1]:
                raise ValueError(
                    f"X has {table.shape[1]} columns and X_test has {test_table.shape[1]}; both "
                    "need the same features"
                )
            kind = MetricSearch if isinstance(table, np.ndarray) else DeviceSearch
            search = kind(table, test_table, metric)
        else:
            search = IndexSearch(neighbors, X_test, rows)
        self._inputs = (X, y, X_test, y_test)
        # Enough neighbours for a gradient at x = ½, and some more for an x that wanders.
        self._lists = Neighborhoods(search, self._match, rows, tests, first=96 + 4 * self.k)
        self._extension = NeighborExtension(self._lists, self.k, self._largest())

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worth of each coalition, by its definition: O(n) per test point at most.

        The lists of neighbours are followed until every coalition has its K, or all.
        """
        total = np.zeros(len(coalitions))
        for tests in self._lists.blocks(max(1, FLAGS // len(self.players))):
            count, start = self._lists.first, 0
            while start < len(coalitions):
                near = self._lists.nearest(tests, count)
                step = max(1, FLAGS // near.rows.size)
                some = coalitions[start : start + step]
                inside = some[:, near.rows]
                counted = np.cumsum(inside, axis=1, dtype=np.int32)
                if (counted[:, -1] < np.minimum(self.k, some.sum(axis=1))[:, None]).any():
                    count = 2 * len(near.rows)
                    continue
                inside &= counted <= self.k
                total[start : start + step] += np.einsum("cmt,mt->c", inside, near.match)
                start += step
        return total / (self.k * self._lists.tests)

    def extension(self) -> NeighborExtension:
        return self._extension

    def describe(self) -> dict[str, Any]:
        # Objects have no bytes of their own to speak of; their text has.
        arrays = [on_host(given, None) for given in self._inputs]
        text = [array.astype(str) if array.dtype == object else array for array in arrays]
        return {
            **super().describe(),
            "k": self.k,
            "task": self.task,
            "metric": self.metric,
            "data": digest(*text),
        }

    def __repr__(self) -> str:
        tests = self._lists.tests
        return f"{super().__repr__()}, k={self.k}, {tests} test point{'s' if tests > 1 else ''}"

    def _match(self, rows: IntArray, tests: slice) -> FloatArray:
        """a of these rows, (tests, m), at these test points."""
        asked = self._asked[tests, None]
        if self._known.ndim == 2:
            return np.asarray(self._known[rows, asked])
        if self.task == "classification":
            return np.asarray(self._known[rows] == asked, dtype=float)
        return np.asarray((self._known.mean() - asked) ** 2 - (self._known[rows] - asked) ** 2)

    def _largest(self) -> float:
        """A bound of |a|."""
        if self._known.ndim == 2:
            return float(np.abs(self._known).max())
        if self.task == "classification":
            return 1.0
        ends = np.array([[self._known.min()], [self._known.max()]])
        return float(((ends - self._asked) ** 2).max())


def _labels(y: Any, y_test: Any, task: Task | None) -> tuple[Task, NDArray[Any], NDArray[Any]]:
    """The task, and the labels as numbers: codes of classes, probabilities, or answers."""
    known, asked = on_host(y, None), on_host(y_test, None)
    if known.ndim > 2 or asked.ndim != 1 or known.shape[1:] == (1,):
        raise ValueError(
            f"y has shape {known.shape} and y_test {asked.shape}; give one label per row, or "
            "one column of y per class"
        )
    for name, labels in (("y", known), ("y_test", asked)):
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            row = np.argwhere(~np.isfinite(labels))[0]
            raise ValueError(
                f"{name} holds {labels[tuple(row)]} in row {row[0]}; leave that row out"
            )
    if task is None:
        fractions = known.dtype.kind == "f" and known.ndim == 1 and (known % 1 != 0).any()
        task = "regression" if fractions else "classification"
    if task not in ("classification", "regression"):
        raise ValueError(f'task={task!r} is not known; say "classification" or "regression"')
    if task == "regression":
        if known.ndim == 2 or known.dtype.kind not in "biuf" or asked.dtype.kind not in "biuf":
            raise ValueError(
                f"regression needs numbers, one per row; y has shape {known.shape} and dtype "
                f"{known.dtype}, y_test has dtype {asked.dtype}"
            )
        return task, known.astype(float), asked.astype(float)
    if known.ndim == 2:
        names = list(y.columns) if hasattr(y, "columns") else list(range(known.shape[1]))
        column = {name: number for number, name in enumerate(names)}
        unknown = [label for label in asked.tolist() if label not in column]
        if unknown:
            raise ValueError(
                f"y_test holds {unknown[0]!r}, but the columns of y are {names[0]!r} to "
                f"{names[-1]!r}; with soft labels, y_test says which column is true"
            )
        return task, known.astype(float), np.array([column[label] for label in asked.tolist()])
    if (known.dtype.kind in "OUS") != (asked.dtype.kind in "OUS"):
        raise ValueError(
            f"y has dtype {known.dtype} and y_test {asked.dtype}; their labels can never be equal"
        )
    _, codes = np.unique(np.concatenate([known, asked]), return_inverse=True)
    return task, codes[: len(known)], codes[len(known) :]


def _length(given: Any, name: str) -> int:
    """How many rows there are, at least one."""
    try:
        count = int(given.shape[0]) if hasattr(given, "shape") else len(given)
    except (IndexError, TypeError) as error:
        raise ValueError(f"{name} is one {type(given).__name__}; give one entry per row") from error
    if not count:
        raise ValueError(f"{name} has no rows; at least one is needed")
    return count
