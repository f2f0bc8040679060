"""The players who own the rows of a data set."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.core.arrays import IntArray
from fairfield.core.game import Player, name_players
from fairfield.core.labels import is_missing
from fairfield.games.features.rows import row_players


def split_off(column: Any, X: Any, X_test: Any) -> tuple[Any, Any, Any]:
    """X and X_test without the column that names the groups, and that column."""
    known = list(getattr(X, "columns", ()))
    if column not in known:
        raise ValueError(
            f"groups={column!r} is no column of X, which "
            + (f"has {', '.join(map(str, known[:12]))}" if known else f"is {type(X).__name__}")
            + "; name a column of a DataFrame, or give one label per row"
        )
    if hasattr(X_test, "columns"):
        X_test = X_test.drop(columns=column, errors="ignore")
    return X.drop(columns=column), X_test, X[column]


def owners(groups: Any, X: Any, rows: int) -> tuple[tuple[Player, ...], IntArray]:
    """The players, and which of them owns each row: groups sorted by name, or single rows.

    >>> owners(["b", "a", "b"], None, 3)
    (('a', 'b'), array([1, 0, 1]))
    """
    if groups is None:
        return row_players(X, rows), np.arange(rows)
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        raise ValueError(
            f"groups have shape {labels.shape}; give one label for each of {rows} rows"
        )
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise ValueError(f"row {row} has the group {label!r}; every row needs a group")
    try:
        names, owner = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError("groups mix labels that cannot be sorted; make them all strings") from None
    return name_players(names.tolist()), owner.astype(np.int64)
