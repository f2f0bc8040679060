"""The features behind the margin of a linear model, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import lent
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game
from fairfield.games.features.background.weights import weighted_rows
from fairfield.games.features.groups import Groups, group_columns, shown_values
from fairfield.games.features.pipelines import Encoding, Inside, look_inside
from fairfield.games.features.rows import Tabular, as_table, batch_of_rows, info_of_rows
from fairfield.games.outputs import (
    Output,
    choose_outputs,
    classes_of,
    decision_quantity,
    explained,
)
from fairfield.games.trees.model import ELSEWHERE, quietly


class NoNumberError(ValueError):
    """A linear model would give no number, however it is asked."""


class LinearGame(Game):
    """Σ_{i∈S} c_i x_i + Σ_{i∉S} c_i b̄_i + intercept: a linear model's margin at each row.

    ``model`` is a fitted linear model of scikit-learn (``coef_``, ``intercept_``), or one behind
    transformers each of whose columns comes from one of the rows; b̄ is the mean of the background rows. A classifier's margin is its ``decision_function``, for the
    second of two classes or the one that ``output`` names; "all" has all of them, or all columns
    of a regression, in a last axis of the batch. Every criterion gives feature i the value c_i (x_i - b̄_i), for any number of features.

    >>> from types import SimpleNamespace as Model
    >>> line = Model(coef_=np.array([1.0, 2.0]), intercept_=0.5, predict=lambda X: X @ [1, 2] + 0.5)
    >>> LinearGame(line, [3.0, 3.0], [[1.0, 1.0], [3.0, 3.0]]).extension().gradient([0.5, 0.5])
    array([1., 2.])
    """

    def __init__(
        self,
        model: Any,
        rows: Any,
        background: Any,
        *,
        output: Any = None,
        groups: Groups | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        background, weights = weighted_rows(background, sample_weight)
        self._inside = inside = look_inside(model)
        self._slopes, self._intercepts, self._chosen = _lines(inside, output)
        if background is None:
            raise ValueError("no background was given; pass rows to take other values from")
        self._what = explained(self._chosen, output, classes_of(model))
        given, others = as_table(rows, background)[1], as_table(background, rows)[1]
        tabular = Tabular.of(given, others, model)
        self.columns = tabular.columns
        self.players, self._shown_by = group_columns(self.columns, groups)
        player_of = self._shown_by
        self._encode: Callable[[Any], FloatArray] = partial(_encoded, inside)
        if inside.transforms:
            self._encode = encoding = Encoding(inside, self._encode, given, others)
            player_of = player_of[np.maximum(encoding.owners, 0)]
        # A matrix of mixed columns holds places of values; decoded, it holds the values.
        values = self._finite(tabular.decode(tabular.background), "the background")
        if values.shape[1] != self._slopes.shape[1]:
            raise ValueError(
                f"rows of {values.shape[1]} columns were given; the model needs {self._slopes.shape[1]}"
            )
        self._mean, self._like = np.average(values, axis=0, weights=weights), others[:1]
        self._owned = (player_of[:, None] == np.arange(len(self.players))).astype(float)
        self._take(rows)

    def explaining(self, rows: Any) -> LinearGame:
        """The game of other rows, with what was read of the model and the background.

        >>> from types import SimpleNamespace as Model
        >>> line = Model(coef_=np.array([1.0, 2.0]), intercept_=0.5, predict=lambda X: X @ [1, 2] + 0.5)
        >>> game = LinearGame(line, [1.0, 1.0], background=[0.0, 0.0])
        >>> game.explaining([3.0, 1.0]).gains
        array([3., 2.])
        """
        other = copy(self)
        other._take(rows)
        return other

    def _take(self, rows: Any) -> None:
        """Take the rows to explain."""
        single, given = as_table(rows, self._like)
        tabular = Tabular.of(given, self._like, self._inside.whole)
        values = self._finite(tabular.decode(tabular.rows), "the rows")
        slopes, count = self._slopes, len(self.players)
        _compare(self._inside, self._chosen, given, values @ slopes.T + self._intercepts)
        self.batch = batch_of_rows(given, single, self._what)
        gains = (values - self._mean)[:, None] * slopes
        self.gains = (gains @ self._owned).reshape((*self.batch, -1))
        base = slopes @ self._mean + self._intercepts
        self.base = np.broadcast_to(base, (len(values), len(slopes))).reshape(self.batch)
        alone = count == len(self._shown_by)
        shown = shown_values(given, self._shown_by) if alone else None
        self.info = info_of_rows(given, single, self._what, shown)

    def _finite(self, table: Any, which: str) -> FloatArray:
        """The columns that the lines take, refused where a line would give no number."""
        values = self._encode(table)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = bad[0]
            name = (
                "of what its steps make" if self._inside.transforms else repr(self.columns[column])
            )
            raise NoNumberError(
                f"row {row} of {which} gives the linear model {values[row, column]} in column {column} "
                f"({name}); fill it in, or leave that row out"
            )
        return values

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray(self.base[..., None] + self.gains @ coalitions.T.astype(float))

    def extension(self) -> LinearExtension:
        return LinearExtension(self.gains, self.base)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "gains": digest(self.gains), "base": digest(self.base)}


class LinearExtension(Extension):
    """f(x) = base + Σ gain_i x_i."""

    method, degree = "closed form: linear", 1

    def __init__(self, gains: FloatArray, base: ArrayLike) -> None:
        self.players, self.batch = gains.shape[-1], gains.shape[:-1]
        self.gains, self.base = gains, np.broadcast_to(base, self.batch)

    def value(self, x: ArrayLike) -> FloatArray:
        return np.asarray(self.base + np.sum(self.gains * np.asarray(x), axis=-1))

    def gradient(self, x: ArrayLike) -> FloatArray:
        return np.broadcast_to(
            self.gains, np.broadcast_shapes(np.shape(x), self.gains.shape)
        ).copy()

    def hessian(self, x: ArrayLike) -> FloatArray:
        shape = np.broadcast_shapes(np.shape(x), self.gains.shape)
        return np.zeros((*shape, self.players))

    def rows(self, chosen: slice | NDArray[np.int64]) -> LinearExtension:
        return LinearExtension(
            self.gains.reshape(-1, self.players)[chosen], self.base.reshape(-1)[chosen]
        )


def _encoded(inside: Inside, rows: Any) -> FloatArray:
    """The numbers that the model inside sees of rows."""
    return np.asarray(inside.encoded(rows), dtype=float)


def _compare(inside: Inside, chosen: Sequence[Output], rows: Any, ours: FloatArray) -> None:
    """Refuse a model whose own outputs are not its lines, as one with a link."""
    if inside.line:
        return inside.check(lent(rows), chosen[0].sign * ours[:, 0])
    own = getattr(inside.whole, "decision_function", None) or inside.whole.predict
    found = np.asarray(quietly(own, lent(rows)), dtype=float).reshape(len(ours), -1)
    theirs = [each.sign * found[:, each.column] for each in chosen]
    apart = np.abs(np.transpose(theirs) - ours)
    if (apart > 1e-6 * max(1.0, np.abs(ours).max())).any():
        kind = type(inside.model).__name__
        raise TypeError(f"{kind} is not linear in its columns; {ELSEWHERE}")
    return None


def _lines(inside: Inside, output: Any) -> tuple[FloatArray, FloatArray, tuple[Output, ...]]:
    """The slopes and intercepts of the outputs that are asked for, and those outputs."""
    model = inside.model
    kind, classes = type(model).__name__, classes_of(model)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise TypeError(f"{kind} has no coef_ and intercept_; {ELSEWHERE}")
    slopes = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=float), len(slopes))
    quantity = "prediction" if classes is None else decision_quantity(model, classes)
    if classes is not None and len(slopes) != (len(classes) if len(classes) > 2 else 1):
        raise TypeError(f"{kind} has {len(slopes)} lines for {len(classes)} classes; {ELSEWHERE}")
    if inside.line:
        slope, shift = inside.line
        slopes, intercepts = slope * slopes, slope * intercepts + shift
        chosen: tuple[Output, ...] = (inside.calibrated(output),)
    else:
        chosen = choose_outputs(kind, output, quantity, classes, len(slopes))
    signs = np.array([each.sign for each in chosen])
    columns = [each.column for each in chosen]
    return signs[:, None] * slopes[columns], signs * intercepts[columns], chosen
