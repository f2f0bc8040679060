"""What identifies models and data as text and digests that are the same in every process."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

# Types whose repr is complete.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, np.generic)
# Libraries whose functions and classes are identified by name; other code may be edited.
_RELEASED = {"builtins", "numpy", "scipy", "sklearn"}


def text_of(parameter: Any) -> str:
    """A parameter as text that is the same in every process.

    >>> text_of([1, None, {"log": np.log1p}])
    "list(0=1, 1=None, 2=dict('log'=numpy.log1p))"
    """
    if _has_name(parameter):
        return f"{parameter.__module__}.{parameter.__qualname__}"
    if _is_data(parameter):
        return digest(parameter)
    parts = _parts_of(parameter)
    if parts is None:
        return re.sub(r" at 0x[0-9a-f]+", "", repr(parameter), flags=re.IGNORECASE)
    kind = type(parameter)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return f"{name}({', '.join(f'{key}={text_of(part)}' for key, part in parts.items())})"


def is_complete(parameter: Any) -> bool:
    """Whether :func:`text_of` covers everything that the parameter's behaviour depends on.

    It does not for the functions, classes and objects of a user, which only have a name.

    >>> is_complete([np.log1p, 3]), is_complete(lambda x: x)
    (True, False)
    """
    if _has_name(parameter) or isinstance(parameter, _PLAIN):
        return _is_released(parameter)
    if _is_data(parameter):
        return True
    parts = _parts_of(parameter)
    return parts is not None and _is_released(parameter) and all(map(is_complete, parts.values()))


def digest(*data: Any) -> str:
    """A sha256 of arrays, sparse matrices, or DataFrames with their names and types.

    >>> digest(np.array([1.0])) == digest(np.array([1])), digest(np.array([1.0]))[:8]
    (False, 'fc6986bc')
    """
    total = hashlib.sha256()
    for column in (column for each in data for column in _columns(each)):
        array = np.asarray(column)
        kind = getattr(column, "dtype", array.dtype)
        total.update(f"{getattr(column, 'name', '')}{kind}{array.shape}".encode())
        objects = array.dtype == object
        total.update(text_of(array.tolist()).encode() if objects else array.tobytes())
    return total.hexdigest()


def _columns(data: Any) -> list[Any]:
    """The plain arrays that make up an array, a sparse matrix or a DataFrame."""
    if hasattr(data, "columns"):
        return [column for name in data.columns for column in _columns(data[name])]
    if hasattr(data, "tocsr"):
        rows = data.tocsr()
        return [np.array(rows.shape), rows.data, rows.indices, rows.indptr]
    if hasattr(data, "cat"):
        # Models number categories in their order.
        return [data, np.array(data.cat.ordered), data.cat.categories, data.cat.codes]
    return [data]


def _has_name(parameter: Any) -> bool:
    return hasattr(parameter, "__qualname__")


def _is_data(parameter: Any) -> bool:
    typed = hasattr(parameter, "dtype") or hasattr(parameter, "columns")
    return typed and hasattr(parameter, "shape") and not isinstance(parameter, np.generic)


def _is_released(parameter: Any) -> bool:
    home = parameter if _has_name(parameter) else type(parameter)
    return str(home.__module__).partition(".")[0] in _RELEASED


def _parts_of(parameter: Any) -> dict[str, Any] | None:
    """The contents of a container, or of an estimator with its fitted attributes, by name."""
    if isinstance(parameter, dict):
        return {text_of(name): part for name, part in parameter.items()}
    if isinstance(parameter, (set, frozenset)):
        return {text_of(part): True for part in sorted(parameter, key=text_of)}
    if isinstance(parameter, (list, tuple)):
        return {str(i): part for i, part in enumerate(parameter)}
    if hasattr(parameter, "__dict__") and _is_released(parameter):
        return dict(sorted(vars(parameter).items()))
    if hasattr(parameter, "get_params"):
        return dict(sorted(parameter.get_params(deep=False).items()))
    return None
