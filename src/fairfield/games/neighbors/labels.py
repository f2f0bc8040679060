"""Labels of training and test rows, as numbers that can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.labels import is_text, plain_labels, positions, warn_of_unseen
from fairfield.games.neighbors.worth import Task


def read_labels(y: Any, y_test: Any, task: Task | None) -> tuple[Task, NDArray[Any], NDArray[Any]]:
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
    warn_of_unseen(labels, targets)
    _, codes = np.unique(np.concatenate([labels, targets]), return_inverse=True)
    return task, codes[: len(labels)], codes[len(labels) :]


def length_of(given: Any, name: str) -> int:
    """How many rows there are, at least one."""
    try:
        count = int(given.shape[0]) if hasattr(given, "shape") else len(given)
    except (IndexError, TypeError) as error:
        raise ValueError(f"{name} is one {type(given).__name__}; give one entry per row") from error
    if not count:
        raise ValueError(f"{name} has no rows; at least one is needed")
    return count
