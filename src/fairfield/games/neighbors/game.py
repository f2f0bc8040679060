"""The rows of a data set as players, under a K-nearest-neighbour model."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, IntArray, beside, on_host
from fairfield.core.checks import numbers, numbers_anywhere, whole
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo
from fairfield.core.labels import is_text, plain_labels, positions
from fairfield.games.features.rows import row_players
from fairfield.games.neighbors.extension import NeighborExtension
from fairfield.games.neighbors.lists import Neighborhoods
from fairfield.games.neighbors.search import DeviceSearch, IndexSearch, Metric, MetricSearch, Search

Task: TypeAlias = Literal["classification", "regression"]

# Neighbours of coalitions counted at once: 16 MB of flags, 64 MB of counts.
FLAGS = 2**24


class NeighborGame(Game):
    """What training rows contribute to a K-nearest-neighbour model, over some test points.

    The worth of a coalition S of rows is the mean over test points t of

        1/K Σ a_j   over the min(K, |S|) rows j of S nearest to t;

    a missing neighbour counts 0. Rows at equal distance come in the order of their row
    numbers. What a neighbour is worth depends on the task:

    - classification: a_j = 1 where y_j = y_t, else 0; the worth is the mean probability
      of the true class. A class of the test points that y lacks is worth 0 throughout.
    - soft labels, where y has shape (n, classes): a_j = y[j, y_t], the probability of the
      true class, with y_t a column number (a column name if y is a DataFrame).
    - regression: a_j = (ȳ - y_t)² - (y_j - y_t)², how much nearer the
      neighbour's own answer is to the truth than the mean ȳ of y; a missing neighbour predicts ȳ. This is the mean gain
      *of the neighbours*; the squared error of their mean prediction is not additive in
      them, has no such closed form, and is not offered.

    ``task`` is regression if y holds fractions, else classification. The players are named
    by the index of X if it is a DataFrame whose names differ, else 0 … n-1.

    ``metric`` is a name or a function, as SciPy and scikit-learn know them. Search is exact
    unless ``neighbors`` is given: an index built on X, with scikit-learn's
    ``kneighbors(X_test, m) -> (distances, rows)``, or a function of the same two; then X
    itself is not used. X may be an array of PyTorch, CuPy or JAX, which is then searched on
    its device.

    Cost per test point: O(n) for a worth, O(M K) for a gradient, with M the rows it takes
    until K are in almost surely (80 at x = ½, K = 5), and a whole sort for Shapley. Source:
    Jia et al., Efficient task-specific data valuation for nearest neighbor algorithms, VLDB
    2019, for Shapley; the recursions of :mod:`fairfield.games.neighbors.extension` for the rest.

    >>> game = NeighborGame([[0.0], [1.0], [2.0]], ["a", "b", "b"], [[0.4]], ["b"], k=2)
    >>> game.worths(np.array([[True, True, True], [False, True, True]])).tolist()
    [0.5, 1.0]
    """

    info = GameInfo(noun="row")

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
        self.k = whole("k", k)
        rows, tests = _length(X, "X"), _length(X_test, "X_test")
        for name, labels, what, count in (("y", y, "X", rows), ("y_test", y_test, "X_test", tests)):
            if _length(labels, name) != count:
                raise ValueError(
                    f"{what} has {count} rows and {name} has {_length(labels, name)}; every row "
                    "needs its label"
                )
        self.players = row_players(X, rows)
        self._search_by = metric if neighbors is None else neighbors
        self.task, self._labels, self._targets = _read_labels(y, y_test, task)
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
        # Enough neighbours for a gradient at x = ½, and for points not far from it.
        self._lists = Neighborhoods(search, self._match, rows, tests, first=96 + 4 * self.k)
        self._extension = NeighborExtension(self._lists, self.k, self._largest())

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """The worth of each coalition, by its definition: O(n) per test point at most.

        Lists of neighbours are extended until they hold K members of every coalition, or all.
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
        X, y, X_test, y_test = self._inputs
        rows, labels = (on_host(X, None), on_host(X_test, None)), map(plain_labels, (y, y_test))
        return {
            **super().describe(),
            "k": self.k,
            "task": self.task,
            "metric": text_of(self._search_by),
            # The targets say which column of soft labels each name stands for.
            "data": digest(*rows, *labels, self._targets),
        }

    def __repr__(self) -> str:
        tests = self._lists.tests
        return f"{super().__repr__()}, k={self.k}, {tests} test point{'s' if tests > 1 else ''}"

    def _match(self, rows: IntArray, tests: slice) -> FloatArray:
        """a of these rows, (tests, m), at these test points."""
        targets = self._targets[tests, None]
        if self._labels.ndim == 2:
            return np.asarray(self._labels[rows, targets])
        if self.task == "classification":
            return np.asarray(self._labels[rows] == targets, dtype=float)
        return np.asarray(
            (self._labels.mean() - targets) ** 2 - (self._labels[rows] - targets) ** 2
        )

    def _largest(self) -> float:
        """A bound of |a|."""
        if self._labels.ndim == 2:
            return float(np.abs(self._labels).max())
        if self.task == "classification":
            return 1.0
        ends = np.array([[self._labels.min()], [self._labels.max()]])
        return float(((ends - self._targets) ** 2).max())


def _read_labels(y: Any, y_test: Any, task: Task | None) -> tuple[Task, NDArray[Any], NDArray[Any]]:
    """The task, and labels and targets as numbers: codes of classes, probabilities, or answers."""
    labels, targets = plain_labels(y, "y"), plain_labels(y_test, "y_test")
    if labels.ndim > 2 or targets.ndim != 1 or labels.shape[1:] == (1,):
        raise ValueError(
            f"y has shape {labels.shape} and y_test {targets.shape}; give one label per row, or "
            "one column of y per class"
        )
    for name, given in (("y", labels), ("y_test", targets)):
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            place = np.argwhere(~np.isfinite(given))[0]
            raise ValueError(
                f"{name} holds {given[tuple(place)]} in row {place[0]}; leave that row out"
            )
    if task is None:
        fractions = labels.dtype.kind == "f" and labels.ndim == 1 and (labels % 1 != 0).any()
        task = "regression" if fractions else "classification"
    if task not in ("classification", "regression"):
        raise ValueError(f'task={task!r} is not known; say "classification" or "regression"')
    if task == "regression":
        if labels.ndim == 2 or is_text(labels) or is_text(targets):
            raise ValueError(
                f"regression needs numbers, one per row; y has shape {labels.shape} and dtype "
                f"{labels.dtype}, y_test has dtype {targets.dtype}"
            )
        return task, labels.astype(float), targets.astype(float)
    if labels.ndim == 2:
        columns = list(y.columns) if hasattr(y, "columns") else list(range(labels.shape[1]))
        found = positions(targets, columns)
        if (found < 0).any():
            raise ValueError(
                f"y_test holds {targets[found < 0].tolist()[0]!r}, but the columns of y are "
                f"{columns[0]!r} to {columns[-1]!r}; with soft labels, y_test says which column is true"
            )
        return task, labels.astype(float), found
    if is_text(labels) != is_text(targets):
        raise ValueError(
            f"y has dtype {labels.dtype} and y_test {targets.dtype}; their labels can never be equal"
        )
    _, codes = np.unique(np.concatenate([labels, targets]), return_inverse=True)
    return task, codes[: len(labels)], codes[len(labels) :]


def _length(given: Any, name: str) -> int:
    """How many rows there are, at least one."""
    try:
        count = int(given.shape[0]) if hasattr(given, "shape") else len(given)
    except (IndexError, TypeError) as error:
        raise ValueError(f"{name} is one {type(given).__name__}; give one entry per row") from error
    if not count:
        raise ValueError(f"{name} has no rows; at least one is needed")
    return count
