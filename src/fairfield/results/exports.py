"""Values as shap's users plot them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import shap

REMAINDER = "(remainder)"
# A remainder below this share of the outputs and values is rounding.
ROUNDING = 1e-9


def remainder(
    values: NDArray[np.float64], empty: ArrayLike, grand: ArrayLike
) -> NDArray[np.float64]:
    """F(N) - F(∅) - Σ values of each game, 0 where that is but rounding.

    >>> remainder(np.array([[1e9, -1e9], [1.0, 2.0]]), 0.0, [1e-7, 4.0]).tolist()
    [0.0, 1.0]
    """
    low, high = np.asarray(empty, dtype=float), np.asarray(grand, dtype=float)
    rest = high - low - values.sum(axis=-1)
    scale = np.abs(low) + np.abs(high) + np.abs(values).sum(axis=-1)
    return np.where(np.abs(rest) > ROUNDING * scale, rest, 0.0)


def explanation(
    players: Sequence[object],
    values: NDArray[np.float64],
    empty: ArrayLike,
    grand: ArrayLike,
    data: NDArray[Any] | None = None,
    stderr: NDArray[np.float64] | None = None,
) -> shap.Explanation:
    """A ``shap.Explanation`` whose base value and values sum to F(N).

    Where the values do not sum to F(N) - F(∅), as those of a criterion that is not
    efficient, the rest is a last entry named "(remainder)". Bounds are 95 % intervals.
    """
    if values.ndim > 2:
        raise ValueError(
            f"values of shape {values.shape} were given; shap draws one game, or a batch of one axis"
        )
    try:
        import shap
    except ImportError as reason:
        raise ImportError("to_shap needs shap: pip install shap") from reason
    names = [str(player) for player in players]
    rest = remainder(values, empty, grand)
    error = None if stderr is None else 1.96 * stderr
    about: dict[str, Any] = {}
    if rest.any():
        names.append(REMAINDER)
        values = _with_column(values, rest)
        error = None if error is None else _with_column(error, np.zeros(rest.shape))
        if data is not None:
            shown = _with_column(data.astype(object), np.full(rest.shape, "", dtype=object))
            about["display_data"] = shown
            # Colours need numbers; the remainder has none.
            numbers = np.issubdtype(data.dtype, np.number)
            data = _with_column(data, np.full(rest.shape, np.nan)) if numbers else shown
    if error is not None:
        about |= {"lower_bounds": values - error, "upper_bounds": values + error}
    low = np.asarray(empty, dtype=float)
    base = low if values.ndim > 1 else float(low)
    return shap.Explanation(values, base_values=base, data=data, feature_names=names, **about)


def _with_column(table: NDArray[Any], column: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([table, column[..., None]], axis=-1)
