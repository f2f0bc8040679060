"""Rows drawn from the leaves of a forest to which the kept features point.

A tree grown on X to predict X is a mixture: its leaves ℓ have shares π_ℓ of the rows, and in a leaf
the columns count as independent, numbers as normal and categories by their frequencies. So kept
values x_S give a leaf the weight π_ℓ Π_{j∈S} p_ℓj(x_j), and rows of the leaf are equally likely.

Source: Watson, Blesch, Kapar, Wright, Adversarial random forests for density estimation and
generative modeling, AISTATS 2023; here the forest is an ordinary one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.labels import is_missing
from fairfield.core.runtime.imports import needed_for

# How many trees, and the fewest rows in one of their leaves.
TREES, LEAF = 50, 5
# A leaf spreads its numbers by at least this share of their variance in all rows.
LEAST = 1e-3


@dataclass(frozen=True, eq=False)
class Forest:
    """The rows of a table, and which of them the leaves of a forest hold.

    ``holds`` (leaves, rows) is sparse; a leaf belongs to ``tree`` (leaves,). ``shares`` (leaves,) are logs of
    π, ``mean`` and ``variance`` (leaves, columns) those of numbers, ``missing`` (leaves, columns) the shares of
    missing values, ``common`` the shares of categories, (leaves, values) for each such column.
    """

    table: Any
    columns: Columns
    tree: Any
    holds: Any
    shares: FloatArray
    mean: FloatArray
    variance: FloatArray
    missing: FloatArray
    common: dict[int, FloatArray]

    @classmethod
    def of(cls, table: Any) -> Forest:
        with needed_for("conditional(how='trees')"):
            from sklearn.ensemble import RandomForestRegressor
        from scipy import sparse

        columns = Columns(table)
        codes = columns.codes(table)
        targets = np.concatenate(
            [_filled(each, each) for each in columns.indicators(codes)], axis=1
        )
        spread = targets.std(axis=0)
        forest = RandomForestRegressor(
            TREES, min_samples_leaf=LEAF, max_features=1 / 3, bootstrap=False, random_state=0
        ).fit(codes, (targets - targets.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
        # Leaves of all trees are numbered through.
        ends = forest.apply(codes) + np.cumsum([0] + [t.tree_.node_count for t in forest])[:-1]
        known, leaf = np.unique(ends, return_inverse=True)
        leaf = leaf.reshape(ends.shape)
        tree = np.empty(len(known), dtype=np.int64)
        tree[leaf] = np.arange(TREES)
        rows = np.repeat(np.arange(len(codes)), TREES)
        shape = (len(known), len(codes))
        holds = sparse.csr_array((np.ones(leaf.size), (leaf.ravel(), rows)), shape=shape)
        size = holds.sum(axis=1)[:, None]
        absent = np.isnan(codes)
        there = np.maximum(holds @ (~absent).astype(float), 1.0)
        filled = np.where(absent, 0.0, codes)
        mean = holds @ filled / there
        variance = np.maximum(holds @ filled**2 / there - mean**2, 0.0)
        variance += LEAST * np.nanvar(codes, axis=0) + np.finfo(float).tiny
        # Half a row more of each kind: what a leaf has not seen is rare, not impossible.
        missing = (holds @ absent.astype(float) + 0.5) / (size + 1)
        common = {}
        for j, values in enumerate(columns.values):
            if values is not None:
                seen = holds @ (codes[:, [j]] == np.arange(len(values))).astype(float)
                common[j] = (seen + 0.5) / (seen.sum(axis=1, keepdims=True) + 0.5 * len(values))
        shares = np.log(size[:, 0] / len(codes))
        return cls(table, columns, tree, holds, shares, mean, variance, missing, common)

    def draw(self, row: Any, kept: BoolArray, count: int, rng: np.random.Generator) -> Any:
        """Rows of the table, each as often as it weighs."""
        edges = np.cumsum(self.weights(row, kept))
        at = (np.arange(count) + rng.random(count)) / count * edges[-1]
        chosen = np.minimum(np.searchsorted(edges, at, side="right"), len(edges) - 1)
        return self.table.iloc[chosen] if hasattr(self.table, "iloc") else self.table[chosen]

    def weights(self, row: Any, kept: BoolArray) -> FloatArray:
        """What each row of the table weighs, given the kept features of a row; they sum to 1."""
        fit = self.shares + self._likelihoods(self.columns.codes(row)[0])[:, kept].sum(axis=1)
        best = np.full(TREES, -np.inf)
        np.maximum.at(best, self.tree, fit)
        leaves = np.exp(fit - best[self.tree])
        leaves /= np.bincount(self.tree, weights=leaves)[self.tree] * TREES
        return np.asarray((leaves / self.holds.sum(axis=1)) @ self.holds)

    def _likelihoods(self, code: FloatArray) -> FloatArray:
        """log p_ℓj(x_j), (leaves, columns)."""
        apart = (code - self.mean) ** 2 / self.variance
        found = np.log1p(-self.missing) - (apart + np.log(self.variance)) / 2
        for j, common in self.common.items():
            found[:, j] = np.log1p(-self.missing[:, j])
            if code[j] >= 0:  # a category that was never seen says nothing
                found[:, j] += np.log(common[:, int(code[j])])
        return np.where(np.isnan(code), np.log(self.missing), found)

    def numbers(self, rows: Any, columns: BoolArray) -> FloatArray:
        asked, found = self.columns.indicators(self.columns.codes(rows)), []
        for j in np.flatnonzero(columns):
            spread = np.sqrt(np.nanvar(self._own[j], axis=0).sum()) or 1.0
            found.append(_filled(asked[j], self._own[j]) / spread)
        return np.concatenate(found, axis=1)

    @cached_property
    def _own(self) -> list[FloatArray]:
        return self.columns.indicators(self.columns.codes(self.table))


class Columns:
    """The columns of a table as numbers: those of categories and texts by places in ``values``."""

    def __init__(self, table: Any) -> None:
        self.values: list[dict[str, int] | None] = []
        for column in _columns(table):
            try:
                _numbers(column)
                self.values.append(None)
            except (TypeError, ValueError):
                seen = sorted({str(each) for each in column if not is_missing(each)})
                self.values.append({each: place for place, each in enumerate(seen)})

    def codes(self, rows: Any) -> FloatArray:
        """Rows as numbers (m, columns); a missing value is NaN, an unknown category -1."""
        found = []
        for column, values in zip(_columns(rows), self.values, strict=True):
            if values is None:
                found.append(_numbers(column))
            else:
                places = [np.nan if is_missing(x) else values.get(str(x), -1) for x in column]
                found.append(np.array(places, dtype=float))
        return np.stack(found, axis=1)

    def indicators(self, codes: FloatArray) -> list[FloatArray]:
        """The codes of each column, those of categories as one indicator for each of them."""
        return [
            column[:, None]
            if values is None
            else (column[:, None] == np.arange(len(values))).astype(float)
            for column, values in zip(codes.T, self.values, strict=True)
        ]


def _filled(numbers: FloatArray, own: FloatArray) -> FloatArray:
    """Numbers, with the mean of a table's own in place of missing ones."""
    return np.where(np.isnan(numbers), np.nanmean(own, axis=0), numbers)


def _columns(rows: Any) -> list[Any]:
    if hasattr(rows, "iloc"):
        return [rows.iloc[:, j] for j in range(rows.shape[1])]
    return list(np.atleast_2d(rows).T)


def _numbers(column: Any) -> FloatArray:
    """A column as numbers, NaN where one is missing."""
    # Columns of pandas that may lack whole numbers hold NA in their place, which is no float.
    masked = hasattr(column, "dtype") and not isinstance(column.dtype, np.dtype)
    return np.asarray(column.to_numpy(float, na_value=np.nan) if masked else column, dtype=float)
