"""The rows of a data set as players, under a K-nearest-neighbour model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, beside, on_host
from fairfield.core.checks import numbers, numbers_anywhere, whole
from fairfield.core.copies import lent
from fairfield.core.fingerprint import digest, text_of
from fairfield.core.game import Game, GameInfo
from fairfield.core.labels import plain_labels
from fairfield.games.features.rows import row_players
from fairfield.games.neighbors.extension import NeighborExtension
from fairfield.games.neighbors.index import IndexSearch
from fairfield.games.neighbors.joint import ErrorExtension, VoteExtension
from fairfield.games.neighbors.labels import length_of, read_labels
from fairfield.games.neighbors.lists import Neighborhoods
from fairfield.games.neighbors.search import DeviceSearch, Metric, MetricSearch, Search
from fairfield.games.neighbors.worth import Task, Vote, Weights, Worth

# Neighbours of coalitions counted at once: 16 MB of flags, 64 MB of counts.
FLAGS = 2**24


class NeighborGame(Game):
    """What training rows contribute to a K-nearest-neighbour model, over some test points.

    The worth of a coalition S of rows is the mean over test points t of

        1/K Σ w_j a_j   over the min(K, |S|) rows j of S nearest to t;

    a missing neighbour counts 0. Rows at equal distance come in the order of their row
    numbers. What a neighbour is worth depends on the task:

    - classification: a_j = 1 where y_j = y_t, else 0; the worth is the mean probability
      of the true class. A class of the test points that y lacks is worth 0 throughout, and
      is warned of.
    - soft labels, where y has shape (n, classes): a_j = y[j, y_t], the probability of the
      true class, with y_t a column number (a column name if y is a DataFrame).
    - regression: a_j = (ȳ - y_t)² - (y_j - y_t)², how much nearer the neighbour's own answer
      is to the truth than the mean ȳ of y; a missing neighbour predicts ȳ.

    That is the mean of what each neighbour is worth. ``vote="hard"`` is about their joint answer:

    - classification: 1 where the weights of the right ones among them exceed those of the wrong
      ones, ½ where they are equal, so F(∅) = ½. Weights are rounded to the whole numbers up to
      2^bits - 1, of which the largest stands for 1, and the worth is that of the rounded ones.
    - regression: -(ŷ - y_t)² of the prediction ŷ = ȳ + 1/K Σ w_j (y_j - ȳ), in which a
      missing neighbour stands for ȳ; so F(∅) is the mean of -(ȳ - y_t)².

    ``weights``: "uniform", w_j = 1; "distance", the distance of the nearest of all rows over that
    of j (1 if both are 0); or a function from distances (tests, m), nearest first, to weights
    from 0 to 1, each of which may depend on its own distance and those before it.

    ``task`` is regression if y holds fractions, else classification. The players are named
    by the index of X if it is a DataFrame whose names differ, else 0 … n-1. With ``embed``, a
    function of rows, distances are those of ``embed(X)`` and ``embed(X_test)``.

    ``metric`` is a name or a function, as SciPy and scikit-learn know them. Search is exact
    unless ``neighbors`` is given: an index built on X, of scikit-learn, faiss, hnswlib or
    pynndescent, or a function ``(X_test, m) -> (distances, rows)``; then X itself is not used,
    and weights see the distances of the index, which faiss squares. X may be an array of PyTorch,
    CuPy or JAX, whose distances are computed on its device.

    Cost per test point: O(n) for a worth, O(M K) for a gradient, with M the rows it takes
    until K are in almost surely (80 at x = ½, K = 5), O(M K² 2^bits) for one of a hard vote; a
    whole sort for Shapley, of joint answers a quadrature of some 150 gradients over longer and
    longer lists. Sources: Jia et al., Efficient task-specific data valuation for nearest neighbor
    algorithms, VLDB 2019, for Shapley; Wang, Mittal, Jia, Efficient data Shapley for weighted
    nearest neighbor algorithms, AISTATS 2024, for weights of few bits; the recursions of
    :mod:`fairfield.games.neighbors.extension` and ``joint`` for the rest.

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
        weights: Weights = "uniform",
        vote: Vote = "soft",
        bits: int = 3,
        metric: Metric = "euclidean",
        neighbors: Any = None,
        embed: Callable[[Any], Any] | None = None,
    ) -> None:
        self.k = whole("k", k)
        _check_choices(weights, vote)
        rows, tests = length_of(X, "X"), length_of(X_test, "X_test")
        for name, labels, what, count in (("y", y, "X", rows), ("y_test", y_test, "X_test", tests)):
            if length_of(labels, name) != count:
                raise ValueError(
                    f"{what} has {count} rows and {name} has {length_of(labels, name)}; every row "
                    "needs its label"
                )
        self.players = row_players(X, rows)
        self._search_by = metric if neighbors is None else neighbors
        self.task, labels, targets = read_labels(y, y_test, task)
        if vote == "hard" and labels.ndim == 2:
            raise ValueError(
                f"vote='hard' was given with y of shape {labels.shape}; a vote needs one label per row"
            )
        self._worth = Worth(self.task, vote, labels, targets, self.k, weights, whole("bits", bits))
        if embed is not None:
            X, X_test = (lent(embed(lent(rows))) for rows in (X, X_test))
            found = length_of(X, "embed(X)"), length_of(X_test, "embed(X_test)")
            if found != (rows, tests):
                raise ValueError(
                    f"embed= returned {found[0]} vectors for {rows} rows of X and {found[1]} for {tests} "
                    "of X_test; it must return one for each"
                )
        search: Search = (
            IndexSearch(neighbors, X_test, rows)
            if neighbors is not None
            else _search_by_metric(X, X_test, metric, weights != "uniform")
        )
        self._inputs = (X, y, X_test, y_test)
        # Enough neighbours for a gradient at x = ½, and for points not far from it.
        first = 96 + 4 * self.k
        self._lists = Neighborhoods(search, self._worth.match, rows, tests, first)
        joint = VoteExtension if self.task == "classification" else ErrorExtension
        self._extension = (joint if vote == "hard" else NeighborExtension)(self._lists, self._worth)

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
                sums = np.einsum("cmt,mt->ct", inside, near.match)
                total[start : start + step] += self._worth.of(sums, tests).sum(axis=1)
                start += step
        return total / self._lists.tests

    def extension(self) -> NeighborExtension:
        return self._extension

    def describe(self) -> dict[str, Any]:
        X, y, X_test, y_test = self._inputs
        rows, labels = (on_host(X, None), on_host(X_test, None)), map(plain_labels, (y, y_test))
        return {
            **super().describe(),
            "k": self.k,
            "task": self.task,
            "vote": self._worth.vote,
            "weights": text_of(self._worth.weights),
            "bits": self._worth.bits,
            "metric": text_of(self._search_by),
            # The targets say which column of soft labels each name stands for.
            "data": digest(*rows, *labels, self._worth.targets),
        }

    def __repr__(self) -> str:
        tests = self._lists.tests
        return f"{super().__repr__()}, k={self.k}, {tests} test point{'s' if tests > 1 else ''}"


def _search_by_metric(X: Any, X_test: Any, metric: Metric, distances: bool) -> Search:
    """Exact search where X lies: on a device, or on the host."""
    table = numbers_anywhere(X, "X", axes=2)
    test_table = beside(table, numbers(on_host(X_test, None), "X_test", axes=2))
    if table.shape[1] != test_table.shape[1]:
        raise ValueError(
            f"X has {table.shape[1]} columns and X_test has {test_table.shape[1]}; both "
            "need the same features"
        )
    kind = MetricSearch if isinstance(table, np.ndarray) else DeviceSearch
    return kind(table, test_table, metric, distances)


def _check_choices(weights: Any, vote: Any) -> None:
    if not callable(weights) and weights not in ("uniform", "distance"):
        raise ValueError(
            f"weights={weights!r} is not known; say 'uniform' or 'distance', or give a function of "
            "distances"
        )
    if vote not in ("soft", "hard"):
        raise ValueError(f"vote={vote!r} is not known; say 'soft' or 'hard'")
