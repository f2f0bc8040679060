"""What functions of others are handed: copies, which they may write into."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


def lent(table: Any) -> Any:
    """A copy of rows or labels, of any library; the thing itself where it has no copies.

    >>> import numpy as np
    >>> ours = np.array([3, 1, 2])
    >>> lent(ours).sort()
    >>> ours.tolist()
    [3, 1, 2]
    """
    if isinstance(table, list | tuple):
        return deepcopy(table)  # their own copies share the rows
    for name in ("clone", "copy"):  # PyTorch's and Polars' word for it, and everyone else's
        if hasattr(table, name):
            return getattr(table, name)()
    return table
