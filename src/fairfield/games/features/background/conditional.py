"""Backgrounds that respect what the kept features tell about the others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.checks import listed, whole
from fairfield.core.coalitions import spell
from fairfield.core.fingerprint import digest
from fairfield.games.features.background.trees import Forest
from fairfield.games.features.rows import as_table


class Drawn(Protocol):
    """A distribution of rows of which some columns may be given."""

    def draw(self, row: Any, kept: BoolArray, count: int, rng: np.random.Generator) -> Any:
        """So many rows; what stands in kept columns does not matter."""
        ...

    def numbers(self, rows: Any, columns: BoolArray) -> FloatArray:
        """These columns of rows as numbers, of unit variance each, whose distances are looked at."""
        ...


@dataclass(frozen=True, eq=False)
class Conditional:
    """A background that is drawn given the features that are kept.

    ``background(row, kept, rng)`` returns rows, as :class:`fairfield.FeatureGame` asks for them.
    ``skill(rows)`` says how much it predicts of rows that it has not seen.
    """

    law: Drawn
    columns: tuple[Hashable, ...] | None
    draws: int
    about: str

    def __call__(self, row: Any, kept: BoolArray, rng: np.random.Generator) -> Any:
        own = self._ordered(row)
        if own is row:
            return self.law.draw(row, kept, self.draws, rng)
        kept = kept[[row.columns.get_loc(name) for name in self.columns or ()]]
        drawn = self.law.draw(own, kept, self.draws, rng)
        if hasattr(drawn, "columns"):
            return drawn[list(row.columns)]
        return drawn[:, [own.columns.get_loc(name) for name in row.columns]]

    def __repr__(self) -> str:
        return self.about  # the store identifies a game by it

    def skill(self, rows: Any, *, seed: int = 0) -> float:
        """1 - E/E₀, with E the energy score of hidden columns given the others in these rows.

        The energy score E‖Z - x‖ - ½ E‖Z - Z'‖ of draws Z, Z' measures how far a distribution is
        from what came true, in columns of unit variance. E₀ is that of draws that ignore what is kept: 0 is no
        better, 1 is perfect, and below 0 this background misleads. Each row hides a random half of
        its columns.
        """
        rng = np.random.default_rng(seed)
        own = self._ordered(as_table(rows)[1])
        each, nothing = np.zeros((len(own), 2)), np.zeros(own.shape[1], dtype=bool)
        for x in range(len(own)):
            row = own.iloc[[x]] if hasattr(own, "iloc") else own[x]
            kept = rng.permutation(own.shape[1]) < own.shape[1] // 2
            truth = self.law.numbers(row if hasattr(row, "iloc") else row[None], ~kept)[0]
            for k, given in enumerate((kept, nothing)):
                drawn = self.law.draw(row, given, self.draws, rng)
                each[x, k] = _energy(self.law.numbers(drawn, ~kept), truth)
        return float(1 - each[:, 0].sum() / each[:, 1].sum())

    def _ordered(self, rows: Any) -> Any:
        """Rows with their columns in the order of those that were given."""
        if not hasattr(rows, "columns") or self.columns in (None, tuple(rows.columns)):
            return rows
        if set(rows.columns) != set(self.columns or ()):
            raise ValueError(
                f"rows have the columns {spell(rows.columns)}, the conditional background "
                f"{spell(self.columns)}; give the same to both"
            )
        return rows[list(self.columns or ())]


def conditional(
    X: Any,
    how: str = "gaussian",
    *,
    order: Sequence[Sequence[Hashable]] | None = None,
    draws: int = 100,
) -> Conditional:
    """A background that draws the removed features given the kept ones, for ``explain``.

    - "gaussian": rows of X follow a normal law. Draws have its exact conditional mean and covariance
      (where ``draws`` are even, 2 for each column or more), so models of degree 2 or less are explained without
      sampling error.
    - "copula": the ranks of the columns do; values stay among those of their column.
    - "trees": rows of X, drawn as often as a forest, grown on X to predict X, has them in the leaves
      that the kept values allow. Any columns, categories too.

    ``order`` lists causes before their effects, as [["age"], ["income", "debt"]]: a kept feature
    then tells nothing about its causes, as after an intervention (causal Shapley values, Heskes et
    al., 2020); columns of one list depend on each other, and it goes with the first two kinds.

    Each row and coalition is drawn for itself, so worths cost ``draws`` model rows and a draw
    each: groups, or a ``budget``, help beyond a dozen features.

    >>> import fairfield as ff
    >>> X = np.random.default_rng(0).normal(size=(500, 2)) @ [[1, 1], [0, 0.5]]
    >>> given = ff.conditional(X)
    >>> v = ff.explain(lambda Z: Z[:, 0], X[:3], given, "shapley")
    >>> bool(np.all(np.abs(v.values[:, 1]) > 0)), round(given.skill(X[:100]), 1)
    (True, 0.6)
    """
    table = as_table(X)[1]
    columns = tuple(table.columns) if hasattr(table, "columns") else None
    count = whole("draws", draws, 2)
    if how not in ("gaussian", "copula", "trees"):
        raise ValueError(f"how={how!r} was given; choose from 'gaussian', 'copula' and 'trees'")
    if len(table) < 3:
        raise ValueError(f"{len(table)} rows were given; a conditional background needs more")
    about = f"conditional({how!r}, {digest(table)[:16]}, order={order}, draws={count})"
    if how == "trees":
        if order is not None:
            raise ValueError("order= needs how='gaussian' or 'copula'; leave it out of 'trees'")
        return Conditional(Forest.of(table), columns, count, about)
    steps = _steps(order, columns or tuple(range(table.shape[1])))
    return Conditional(Normal.of(table, steps, ranked=how == "copula"), columns, count, about)


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal law of rows, or of their normal scores where there are ``sorted`` columns.

    ``steps`` are columns that are drawn at once, given those of all steps before.
    """

    mean: FloatArray
    covariance: FloatArray
    steps: list[IntArray]
    sorted: FloatArray | None

    @classmethod
    def of(cls, table: Any, steps: list[IntArray], *, ranked: bool) -> Normal:
        values = _numbers(table)
        ordered = np.sort(values, axis=0) if ranked else None
        scores = values if ordered is None else _scores(values, ordered)
        return cls(scores.mean(axis=0), np.cov(scores.T).reshape(len(values.T), -1), steps, ordered)

    def draw(self, row: Any, kept: BoolArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Rows whose mean and covariance are the exact ones, given the kept columns."""
        own = _numbers(row).reshape(1, -1)
        scores = own if self.sorted is None else _scores(own, self.sorted)
        drawn, noise = np.where(kept, scores, 0.0).repeat(count, axis=0), _noise(count, kept, rng)
        known = np.zeros(len(kept), dtype=bool)
        for step in self.steps:
            given = np.flatnonzero(known | (np.isin(np.arange(len(kept)), step) & kept))
            free = step[~kept[step]]
            known[step] = True
            slopes, root = self._given(free, given)
            drawn[:, free] = self.mean[free] + (drawn[:, given] - self.mean[given]) @ slopes.T
            drawn[:, free] += noise[:, free] @ root.T
        return drawn if self.sorted is None else _values(drawn, self.sorted)

    def _given(self, free: IntArray, given: IntArray) -> tuple[FloatArray, FloatArray]:
        """The slopes of the conditional mean, and a root of the conditional covariance."""
        across = self.covariance[np.ix_(free, given)]
        # Columns may be constant, or sums of others.
        scale = np.sqrt(np.diag(self.covariance)[given])
        scale = np.where(
            scale > 0, scale, 1.0
        )  # in units of each, so that none is too small to see
        among = self.covariance[np.ix_(given, given)] / np.outer(scale, scale)
        slopes = across / scale @ np.linalg.pinv(among, hermitian=True) / scale
        left = self.covariance[np.ix_(free, free)] - slopes @ across.T
        sizes, vectors = np.linalg.eigh(left)
        return slopes, vectors * np.sqrt(np.maximum(sizes, 0.0))

    def numbers(self, rows: Any, columns: BoolArray) -> FloatArray:
        scores = _numbers(rows) if self.sorted is None else _scores(_numbers(rows), self.sorted)
        spread = np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))
        return np.asarray(((scores - self.mean) / spread)[:, columns])


def _noise(count: int, kept: BoolArray, rng: np.random.Generator) -> FloatArray:
    """Standard normal draws in opposite pairs, of unit covariance where they are enough for that."""
    half, free = -(-count // 2), int((~kept).sum())
    normal = rng.standard_normal((half, free))
    if half >= free:
        normal = np.sqrt(half) * np.linalg.qr(normal)[0]
    noise = np.zeros((2 * half, len(kept)))
    noise[:, ~kept] = np.concatenate([normal, -normal])
    # Of an odd number the last opposite is missing.
    return noise[:count]


def _numbers(table: Any) -> FloatArray:
    try:
        values = np.atleast_2d(np.asarray(table, dtype=float))
    except (TypeError, ValueError):
        values = np.full((1, 1), np.nan)
    if not np.isfinite(values).all():
        raise ValueError(
            "a column holds missing values or something else than numbers; use how='trees'"
        )
    return values


def _scores(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """The normal scores Φ⁻¹ of the ranks of values among the sorted columns; equal ones share one."""
    from scipy.special import ndtri

    ranks = [
        (np.searchsorted(own, column) + np.searchsorted(own, column, side="right")) / 2
        for own, column in zip(ordered.T, values.T, strict=True)
    ]
    count = len(ordered)
    return np.asarray(ndtri(np.clip(np.stack(ranks, axis=1), 0.5, count - 0.5) / count))


def _values(scores: FloatArray, ordered: FloatArray) -> FloatArray:
    """The values of the sorted columns that have these normal scores."""
    from scipy.special import ndtr

    places = np.minimum((ndtr(scores) * len(ordered)).astype(np.int64), len(ordered) - 1)
    return np.take_along_axis(ordered, places, axis=0)


def _steps(order: Any, columns: tuple[Hashable, ...]) -> list[IntArray]:
    """The numbers of the columns of each step; one step where there is no order."""
    if order is None:
        return [np.arange(len(columns))]
    named = [listed(part) for part in order]
    flat = [name for part in named for name in part]
    if sorted(map(str, flat)) != sorted(map(str, columns)) or set(flat) != set(columns):
        raise ValueError(f"order= must name each column once; the columns are {spell(columns)}")
    return [np.array([columns.index(name) for name in part]) for part in named]


def _energy(drawn: FloatArray, truth: FloatArray) -> float:
    """E‖Z - truth‖ - ½ E‖Z - Z'‖, over all pairs of different draws."""
    count = len(drawn)
    apart = np.linalg.norm(drawn[:, None] - drawn, axis=-1).sum() / (count * (count - 1))
    return float(np.linalg.norm(drawn - truth, axis=-1).mean() - apart / 2)
