"""The features behind the margin of a linear model, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.copies import lent
from fairfield.core.extension import Extension
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game
from fairfield.games.features.groups import Groups, group_columns
from fairfield.games.features.rows import Tabular, as_table, info_of_rows
from fairfield.games.outputs import Output, choose_output, classes_of, decision_quantity


class LinearGame(Game):
    """Σ_{i∈S} c_i x_i + Σ_{i∉S} c_i b̄_i + intercept: a linear model's margin at each row.

    ``model`` is a fitted linear model of scikit-learn (``coef_``, ``intercept_``), b̄ the
    mean of the background rows. A classifier's margin is its ``decision_function``, for the
    second of two classes or the one that ``output`` names. Every criterion gives feature i
    the value c_i (x_i - b̄_i), for any number of features.

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
    ) -> None:
        slopes, intercept, chosen = _line(model, output)
        if background is None:
            raise ValueError("no background was given; pass rows to take other values from")
        single, explained = as_table(rows)
        tabular = Tabular.of(explained, as_table(background, rows)[1])
        # A matrix of mixed columns holds places of values; decoded, it holds the values.
        values, others = (
            np.asarray(tabular.decode(matrix), dtype=float)
            for matrix in (tabular.rows, tabular.background)
        )
        if values.shape[1:] != slopes.shape:
            raise ValueError(
                f"rows of {values.shape[1]} columns were given; the model needs {len(slopes)}"
            )
        _compare(model, chosen, explained, values @ slopes + intercept)
        self.players, player_of = group_columns(tabular.columns, groups)
        self.batch = () if single else (len(explained),)
        mean = others.mean(axis=0)
        gains = slopes * (values - mean)
        owned = (player_of[:, None] == np.arange(len(self.players))).astype(float)
        self.gains = (gains @ owned).reshape((*self.batch, -1))
        self.base = float(mean @ slopes + intercept)
        alone = len(self.players) == len(player_of)
        shown = values[:, np.argsort(player_of)].reshape((*self.batch, -1)) if alone else None
        self.info = info_of_rows(explained, single, chosen.name, chosen.unit, shown)

    def worths(self, coalitions: BoolArray) -> FloatArray:
        return np.asarray(self.base + self.gains @ coalitions.T.astype(float))

    def extension(self) -> LinearExtension:
        return LinearExtension(self.gains, self.base)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "gains": digest(self.gains), "base": self.base}


class LinearExtension(Extension):
    """f(x) = base + Σ gain_i x_i."""

    method, degree = "closed form: linear", 1

    def __init__(self, gains: FloatArray, base: float) -> None:
        self.gains, self.base = gains, base
        self.players, self.batch = gains.shape[-1], gains.shape[:-1]

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
        return LinearExtension(self.gains.reshape(-1, self.players)[chosen], self.base)


def _compare(model: Any, chosen: Output, rows: Any, ours: FloatArray) -> None:
    """Refuse a model whose own answers are not its line: one with a link, say."""
    own = getattr(model, "decision_function", None) or model.predict
    found = np.asarray(own(lent(rows)), dtype=float).reshape(len(ours), -1)
    apart = np.abs(chosen.sign * found[:, chosen.column] - ours)
    if (apart > 1e-6 * max(1.0, np.abs(ours).max())).any():
        raise TypeError(f"{type(model).__name__} is not linear in its columns; use FeatureGame")


def _line(model: Any, output: Any) -> tuple[FloatArray, float, Output]:
    """The slopes and the intercept of the output that is asked for, and that output."""
    kind, classes = type(model).__name__, classes_of(model)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise TypeError(f"{kind} has no coef_ and intercept_; use FeatureGame")
    slopes = np.atleast_2d(np.asarray(model.coef_, dtype=float))
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=float), len(slopes))
    quantity = "prediction" if classes is None else decision_quantity(model, classes)
    if classes is not None and len(slopes) != (len(classes) if len(classes) > 2 else 1):
        raise TypeError(
            f"{kind} has {len(slopes)} lines for {len(classes)} classes; use FeatureGame"
        )
    chosen = choose_output(kind, output, quantity, classes, len(slopes))
    slope, intercept = slopes[chosen.column], float(intercepts[chosen.column])
    return chosen.sign * slope, chosen.sign * intercept, chosen
