"""Columns as regressors: a worth is the R² of the least-squares fit on a coalition's columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.checks import numbers, whole
from fairfield.core.fingerprint import digest
from fairfield.core.game import Game, GameInfo, Traits, name_players
from fairfield.games.data.pivoting import share, share_tables
from fairfield.games.features.frames import in_pandas

Rows = slice | IntArray
# What the others leave of a column's variance, below which products are summed with more digits.
NEARLY_COLLINEAR = 1e-5
# So many numbers of windows are worked on at once.
WORKED_ON = 2**23


class RegressionGame(Game):
    """R² of the least-squares regression, with intercept, of y on the columns of a coalition.

    F(S) = 1 - Σ(y - ŷ_S)² / Σ(y - mean y)², so that F(∅) = 0. The players are the columns of ``X``,
    named by those of a DataFrame. All 2^n regressions are found by pivoting, one column after another,
    at a few operations each; so values are exact to 25 columns. Columns that depend on others linearly
    explain nothing beyond them.

    ``window`` makes it a batch of games, one for each ``window`` rows in a row, every ``step`` rows,
    labelled by the last of them. Where their tables do not fit into memory together, they are
    computed block by block.

    >>> X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0], [4, 1]])
    >>> game = RegressionGame(X, 3 * X[:, 0] + X[:, 1])
    >>> game.worths(np.array([[False, False], [True, True]])).round(6).tolist()
    [0.0, 1.0]
    """

    def __init__(self, X: Any, y: Any, *, window: int | None = None, step: int = 1) -> None:
        table = in_pandas(X)
        self.X, self.y = numbers(table, "X", 2), numbers(y, "y")
        rows, count = self.X.shape
        if len(self.y) != rows or rows < 2:
            raise ValueError(
                f"X has {rows} rows and y {len(self.y)}; give the same number to both, at least 2"
            )
        self.window = rows if window is None else whole("window", window, 2)
        self.step = whole("step", step)
        if self.window > rows:
            raise ValueError(f"window={self.window} is longer than the {rows} rows of X")
        self.players = name_players(list(getattr(table, "columns", range(count))))
        ends = np.arange(self.window - 1, rows, self.step)
        if window is not None:
            self.batch = (len(ends),)
        index = getattr(table, "index", None)
        # A day is named by its date.
        labels = [str(end if index is None else index[end]) for end in ends]
        labels = [label.removesuffix(" 00:00:00") for label in labels]
        self.info = GameInfo(
            labels=tuple(labels) if self.batch else None,
            worth_name="R²",
            noun="column",
            row_noun="window",
            advice="leave columns out",
        )
        self.traits = Traits(opaque=False)
        self._starts = ends - self.window + 1
        self._products = self._correlations()

    def worths(self, coalitions: BoolArray) -> FloatArray:
        """By solving for each coalition; ``table`` is faster where many are wanted."""
        found = np.empty((len(self._products), len(coalitions)))
        for at, coalition in enumerate(np.asarray(coalitions, dtype=bool)):
            chosen = [*np.flatnonzero(coalition), -1]
            some = self._products[np.ix_(range(len(found)), chosen, chosen)]
            found[:, at] = share(some) if coalition.any() else 0.0
        return found.reshape((*self.batch, len(coalitions)))

    def table(self, progress: bool | None = None) -> FloatArray:
        """All 2^n worths of every window."""
        return self.tables(slice(None)).reshape((*self.batch, -1))

    def tables(self, games: Rows) -> FloatArray:
        """All 2^n worths of some windows: (windows, 2^n)."""
        return share_tables(self._products[games])

    def describe(self) -> dict[str, Any]:
        data = digest(self.X, self.y)
        return {**super().describe(), "data": data, "window": self.window, "step": self.step}

    def _correlations(self) -> NDArray[np.floating[Any]]:
        """The correlations of columns and y in each window: (windows, n + 1, n + 1).

        A column that does not vary has none; where columns nearly depend on each other these are long
        doubles, since pivoting loses as many digits as the others leave little of a column.
        """
        joint = np.column_stack([self.X, self.y])
        windows = sliding_window_view(joint, self.window, axis=0)[self._starts]
        found = np.empty((len(windows), joint.shape[1], joint.shape[1]))
        step = max(1, WORKED_ON // windows[0].size)
        for start in range(0, len(windows), step):
            found[start : start + step] = _correlated(windows[start : start + step], np.float64)
        flat = np.flatnonzero(found[:, -1, -1] == 0)
        if len(flat):
            label = "" if self.info.labels is None else f" in window {self.info.labels[flat[0]]}"
            raise ValueError(
                f"y is constant{label}, so there is nothing to explain; leave that out"
            )
        if np.linalg.eigvalsh(found[:, :-1, :-1])[:, 0].min() > NEARLY_COLLINEAR:
            return found
        exact = [_correlated(each[None], np.longdouble)[0] for each in windows]
        return np.array(exact)


def _correlated(windows: FloatArray, dtype: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Correlations (k, c, c) of rows (k, c, rows), 0 where a column does not vary."""
    apart = windows.astype(dtype)
    size = np.abs(apart).max(axis=-1, keepdims=True)
    apart -= apart.mean(axis=-1, keepdims=True)
    length = np.sqrt((apart**2).sum(axis=-1, keepdims=True))
    # What rounding leaves of a constant does not vary.
    varies = length > 1e-14 * size * np.sqrt(windows.shape[-1])
    apart = np.where(varies, apart, 0) / np.where(varies, length, 1)
    return np.asarray(apart @ apart.swapaxes(-1, -2))
