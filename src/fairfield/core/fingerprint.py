"""What identifies models and data as text and digests that are the same in every process."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

from fairfield.core.code import code_parts

# Types whose repr is complete.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, np.generic)
# Libraries whose functions and classes are identified by name; other code may be edited.
_RELEASED = {"builtins", "numpy", "scipy", "sklearn"}


def text_of(parameter: Any, above: tuple[Any, ...] = ()) -> str:
    """A parameter as text that is the same in every process.

    ``above`` are those that it is a part of.

    >>> text_of([1, None, {"log": np.log1p}])
    "list(0=1, 1=None, 2=dict('log'=numpy.log1p))"
    """
    if any(parameter is each for each in above):
        return "itself"
    if _has_name(parameter):
        code = code_of(parameter, above)  # a user's module may be __main__ or have its name
        home = "" if code else f"{parameter.__module__}."
        return f"{home}{parameter.__qualname__}{code}"
    if _is_data(parameter):
        return digest(parameter)
    kind, inside = type(parameter), (*above, parameter)
    parts = _parts_of(parameter)
    if parts is None:
        shown = re.sub(r" at 0x[0-9a-f]+", "", repr(parameter), flags=re.IGNORECASE)
        return f"{shown}{code_of(parameter, above)}"
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    own = code_of(kind, above)
    return (
        f"{name}{own}({', '.join(f'{key}={text_of(part, inside)}' for key, part in parts.items())})"
    )


def code_of(function: Any, above: tuple[Any, ...] = ()) -> str:
    """A digest of a user's function or class and all it depends on; "" for those of libraries.

    It depends on the version of Python, which compiles: :func:`without_code` leaves it out.

    >>> one, other = (lambda S: S.sum(axis=1) * 2), (lambda S: S.sum(axis=1) * 3)
    >>> code_of(one) == code_of(other), code_of(np.log1p)
    (False, '')
    """
    parts = code_parts(function)
    if parts is None:
        return ""
    inside = (*above, function)
    text = "; ".join(f"{name}: {text_of(part, inside)}" for name, part in sorted(parts.items()))
    return f"<code {hashlib.sha256(text.encode()).hexdigest()[:16]}>"


def without_code(description: Any) -> Any:
    """A description without the digests of code in it, which differ between versions of Python.

    >>> without_code({"function": "team", "code": code_of(lambda S: 1), "scoring": ["<code 0>"]})
    {'function': 'team', 'scoring': ['']}
    """
    if isinstance(description, dict):
        return {k: without_code(each) for k, each in description.items() if k != "code"}
    if isinstance(description, list):
        return [without_code(each) for each in description]
    return (
        re.sub(r"<code [0-9a-f]+>", "", description)
        if isinstance(description, str)
        else description
    )


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
