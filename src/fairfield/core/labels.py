"""Class labels from any source as plain arrays, so that equal labels compare equal.

Columns of DataFrames, categoricals and nullable arrays hold Python objects; a model names its
classes by NumPy scalars. Here they become whole numbers, booleans, numbers or text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import IntArray, on_host
from fairfield.core.runtime.notices import warn


def plain_labels(given: Any, what: str = "labels") -> NDArray[Any]:
    """Labels as an array of numbers, booleans or text, not of Python objects.

    Numbers among texts become text. A missing label (None, NaN, NA) among objects is refused;
    ``what`` names the labels in the error.

    >>> plain_labels(np.array([1, 2], dtype=object)).dtype.kind, plain_labels(["a", "b"]).tolist()
    ('i', ['a', 'b'])
    """
    labels = on_host(given, None)
    if labels.dtype != object:
        return np.asarray(labels)
    for place, label in enumerate(labels.ravel().tolist()):
        if is_missing(label):
            row = np.unravel_index(place, labels.shape)[0] if labels.ndim else 0
            raise ValueError(f"{what} holds {label} in row {row}; leave that row out")
    return np.array(labels.tolist())


def check_labels(y: NDArray[Any], y_test: NDArray[Any]) -> None:
    """Refuse labels that are missing, or that are text in one set and numbers in the other."""
    for name, labels in (("y", y), ("y_test", y_test)):
        if labels.dtype.kind == "f" and np.isnan(labels).any():
            row = np.argwhere(np.isnan(labels))[0, 0]
            raise ValueError(f"{name} holds nan in row {row}; leave that row out")
    if is_text(y) != is_text(y_test):
        kinds = ["text" if is_text(labels) else "numbers" for labels in (y, y_test)]
        raise ValueError(
            f"the labels of y are {kinds[0]}, those of y_test {kinds[1]}; make them of one kind"
        )


def warn_of_unseen(y: NDArray[Any], y_test: NDArray[Any]) -> None:
    """Warn of labels of the test rows that no training row has."""
    if y.ndim != 1 or y_test.ndim != 1 or is_text(y) != is_text(y_test):
        return
    unseen = ~np.isin(y_test, y)
    if unseen.any():
        names = sorted(set(y_test[unseen].tolist()))
        listed = ", ".join(map(repr, names[:3])) + (" and others" if len(names) > 3 else "")
        warn(
            f"{unseen.sum()} of {len(y_test)} test rows have a label that no training row has "
            f"({listed}), so no coalition can be right there; leave them out, or add such rows to X"
        )


def is_missing(label: Any) -> bool:
    """Whether this is None, NaN or pandas' NA, which does not even equal itself."""
    same = label == label
    if isinstance(same, np.ndarray):
        return False  # the labels of several outputs
    return label is None or not isinstance(same, (bool, np.bool_)) or not same


def is_text(labels: NDArray[Any]) -> bool:
    """Whether labels are texts (or other objects), which no number equals.

    >>> is_text(np.array(["1"])), is_text(np.array([True, False]))
    (True, False)
    """
    return labels.dtype.kind not in "biuf"


def positions(labels: Any, classes: Any) -> IntArray:
    """The position of each label among the classes, -1 where it is none of them.

    Numbers are equal by value, whatever their type; a text never equals a number.

    >>> positions([3.0, 5, "3"], classes=np.array([5, 3], dtype=object)).tolist()
    [1, 0, -1]
    >>> positions(["b"], classes=np.array(["a", "b"])).tolist()
    [1]
    """
    places = {label: place for place, label in enumerate(_listed(classes))}
    return np.array([places.get(label, -1) for label in _listed(labels)], dtype=np.int64)


def _listed(labels: Any) -> list[Any]:
    # A list of mixed labels stays as it is: in one array its numbers would become text.
    return list(labels) if isinstance(labels, (list, tuple)) else plain_labels(labels).tolist()
