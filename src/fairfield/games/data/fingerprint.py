"""What identifies a model and its data: the same words in every process."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

# What repr tells in full.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, np.generic)
# Libraries whose functions and classes do what their names say; others are still being edited.
_SETTLED = {"builtins", "numpy", "scipy", "sklearn"}


def told(held: Any) -> str:
    """A parameter in words that are the same in every process.

    >>> told([1, None, {"log": np.log1p}])
    "list(0=1, 1=None, 2=dict('log'=numpy.log1p))"
    """
    if _named(held):
        return f"{held.__module__}.{held.__qualname__}"
    if _is_data(held):
        return digest(held)
    inside = _inside(held)
    if inside is None:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(held), flags=re.IGNORECASE)
    parts = ", ".join(f"{name}={told(part)}" for name, part in inside.items())
    return f"{_kind(held)}({parts})"


def tells_all(held: Any) -> bool:
    """Whether what ``told`` says of a parameter is all there is to know.

    It is not for the functions, classes and objects of a user, which are known by name alone.

    >>> tells_all([np.log1p, 3]), tells_all(lambda x: x)
    (True, False)
    """
    if _named(held) or isinstance(held, _PLAIN):
        return _settled(held)
    if _is_data(held):
        return True
    inside = _inside(held)
    return inside is not None and _settled(held) and all(map(tells_all, inside.values()))


def digest(*held: Any) -> str:
    """A sha256 of arrays, sparse matrices, or DataFrames with their names and types.

    >>> digest(np.array([1.0])) == digest(np.array([1])), digest(np.array([1.0]))[:8]
    (False, 'fc6986bc')
    """
    seen = hashlib.sha256()
    for part in (part for each in held for part in _parts(each)):
        array = np.asarray(part)
        kind = getattr(part, "dtype", array.dtype)
        seen.update(f"{getattr(part, 'name', '')}{kind}{array.shape}".encode())
        seen.update(told(array.tolist()).encode() if array.dtype == object else array.tobytes())
    return seen.hexdigest()


def _parts(held: Any) -> list[Any]:
    """The plain arrays that make up an array, a sparse matrix or a DataFrame."""
    if hasattr(held, "columns"):
        return [part for name in held.columns for part in _parts(held[name])]
    if hasattr(held, "tocsr"):
        rows = held.tocsr()
        return [np.array(rows.shape), rows.data, rows.indices, rows.indptr]
    if hasattr(held, "cat"):
        # The order of the categories is the order of what a model makes of them.
        return [held, np.array(held.cat.ordered), held.cat.categories, held.cat.codes]
    return [held]


def _named(held: Any) -> bool:
    return hasattr(held, "__qualname__")


def _is_data(held: Any) -> bool:
    array = hasattr(held, "shape") and (hasattr(held, "dtype") or hasattr(held, "columns"))
    return array and not isinstance(held, np.generic)


def _kind(held: Any) -> str:
    kind = type(held)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _settled(held: Any) -> bool:
    home = held if _named(held) else type(held)
    return str(home.__module__).partition(".")[0] in _SETTLED


def _inside(held: Any) -> dict[str, Any] | None:
    """What makes up a container, or an estimator with all that it has learnt, by name."""
    if isinstance(held, dict):
        return {told(name): part for name, part in held.items()}
    if isinstance(held, (set, frozenset)):
        return {told(part): True for part in sorted(held, key=told)}
    if isinstance(held, (list, tuple)):
        return {str(i): part for i, part in enumerate(held)}
    if hasattr(held, "__dict__") and _settled(held):
        return dict(sorted(vars(held).items()))
    if hasattr(held, "get_params"):
        return dict(sorted(held.get_params(deep=False).items()))
    return None
