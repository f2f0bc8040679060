"""What each test row adds to a score, for errors over test rows.

Accuracy, log-loss, squared and absolute errors are means over rows. R² and the area under the ROC curve
are not; they move, to first order, like the mean of their influences (DeLong's for the area).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.data.scoring import scored_part, scores_as_usual

# From a fitted model, X and y to a number for each row, whose mean is the score.
RowScorer: TypeAlias = Callable[[Any, Any, Any], FloatArray]


def row_scorers(model: Any, scorings: list[Any], y: Any) -> list[RowScorer] | None:
    """A row scorer for every scoring, or None where one of them has none, or there is one row.

    >>> from sklearn.linear_model import Ridge
    >>> row_scorers(Ridge(), [None, "neg_mean_squared_error"], np.arange(3.0)) is None
    False
    >>> row_scorers(Ridge(), [None, "max_error"], np.arange(3.0)) is None
    True
    """
    from sklearn.base import is_classifier

    found = []
    for each in scorings:
        name = each
        if each is None and scores_as_usual(scored_part(model)):
            name = "accuracy" if is_classifier(model) else "r2"
        scorer = _SCORERS.get(name) if isinstance(name, str) else None
        if scorer is None or y.ndim != 1 or len(y) < 2:
            return None
        if scorer is _area and len(np.unique(y)) != 2:
            return None
        found.append(scorer)
    return found


def _hits(model: Any, X: Any, y: Any) -> FloatArray:
    return np.asarray(model.predict(X) == y, dtype=float)


def _log_likelihood(model: Any, X: Any, y: Any) -> FloatArray:
    shares = np.asarray(model.predict_proba(X))
    own = shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    least = np.finfo(shares.dtype).eps
    return np.asarray(np.log(np.clip(own, least, 1 - least)), dtype=float)


def _squared(model: Any, X: Any, y: Any) -> FloatArray:
    return np.asarray(-((model.predict(X) - y) ** 2), dtype=float)


def _absolute(model: Any, X: Any, y: Any) -> FloatArray:
    return np.asarray(-np.abs(model.predict(X) - y), dtype=float)


def _explained(model: Any, X: Any, y: Any) -> FloatArray:
    """1 - e²/V + (mean e²/V²)((y - mean y)² - V), with V the variance of y."""
    wrong, spread = -_squared(model, X, y), (y - y.mean()) ** 2
    whole = spread.mean()
    if not whole:  # R² of a constant is 0 or 1 by convention
        return np.zeros(len(y))
    return np.asarray(1 - wrong / whole + wrong.mean() / whole**2 * (spread - whole))


def _area(model: Any, X: Any, y: Any) -> FloatArray:
    """The area plus (its part by this row - area) / (share of the row's class)."""
    from scipy.stats import rankdata

    if hasattr(model, "decision_function"):
        heights = np.asarray(model.decision_function(X))
    else:
        heights = np.asarray(model.predict_proba(X))[:, 1]
    upper = y == np.unique(y)[1]
    ranks, above, below = rankdata(heights), heights[upper], heights[~upper]
    parts = np.empty(len(y))
    parts[upper] = (ranks[upper] - rankdata(above)) / len(below)
    parts[~upper] = 1 - (ranks[~upper] - rankdata(below)) / len(above)
    area, share = parts[upper].mean(), np.where(upper, upper.mean(), 1 - upper.mean())
    return np.asarray(area + (parts - area) / share)


_SCORERS: dict[str, RowScorer] = {
    "accuracy": _hits,
    "neg_log_loss": _log_likelihood,
    "neg_mean_squared_error": _squared,
    "neg_mean_absolute_error": _absolute,
    "r2": _explained,
    "roc_auc": _area,
}
