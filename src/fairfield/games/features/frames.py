"""Two DataFrames with the same columns in the same dtypes, or a sentence why that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from fairfield.core.arrays import beside
from fairfield.core.coalitions import spell


def is_frame(table: Any) -> bool:
    """Whether this is a DataFrame, of any library."""
    # Asked of its class: pandas would make a Series of the dtypes just to say that it has them.
    return hasattr(type(table), "columns") and hasattr(type(table), "dtypes")


def in_pandas(table: Any) -> Any:
    """A frame of Polars, PyArrow or another library as one of pandas; anything else as it is."""
    if type(table).__name__ == "LazyFrame":
        table = table.collect()
    if not hasattr(table, "to_pandas"):
        return table
    return table.to_pandas() if hasattr(table, "columns") else table.to_numpy()


def as_given(given: Any) -> Callable[[Any], Any] | None:
    """What makes of rows in pandas or NumPy what these are in; None where they are in one of both."""
    library = type(given).__module__.partition(".")[0]
    if library == "torch":
        # Weights of one precision take no rows of another.
        dtype = given.dtype if given.is_floating_point() else None
        return lambda rows: beside(given, rows).to(dtype=dtype)
    if library == "polars" and is_frame(given):
        return lambda rows: import_module("polars").from_pandas(rows)
    if library == "pyarrow":
        return lambda rows: type(given).from_pandas(rows, preserve_index=False)
    return None


def same_frames(rows: Any, background: Any, names: Any = None) -> tuple[Any, Any]:
    """Two frames with the columns of the first, in its order.

    ``names`` are those of a model that knows them; other models take columns by their places, and
    which of two orders is theirs cannot be known.
    """
    import pandas as pd

    if not (is_frame(rows) and is_frame(background)):
        frame, other = (rows, background) if is_frame(rows) else (background, rows)
        if other.shape[1] != len(frame.columns):
            raise ValueError(
                f"rows and background have {rows.shape[1]} and {background.shape[1]} columns; "
                f"the model's are {spell(frame.columns)}"
            )
        named = in_dtypes(pd.DataFrame(other, columns=frame.columns), dict(frame.dtypes))
        return (rows, named) if frame is rows else (named, background)
    if not rows.columns.is_unique:
        twice = rows.columns[rows.columns.duplicated()][0]
        raise ValueError(f"rows have two columns {twice!r}; names of columns must differ")
    if set(rows.columns) != set(background.columns) or len(background.columns) != len(rows.columns):
        missing = [name for name in rows.columns if name not in background.columns]
        extra = [name for name in background.columns if name not in rows.columns]
        seen = [f"lacks {spell(missing)}"] * bool(missing)
        seen += [f"has {spell(extra)} besides"] * bool(extra)
        raise ValueError(
            "the columns of rows and background differ: the background "
            f"{' and '.join(seen) or 'has a column twice'}; give the same columns to both"
        )
    order = list(rows.columns)
    if order != list(background.columns) and (names is None or order != list(names)):
        raise ValueError(
            "rows and background have the same columns in another order; give both in the order of "
            "the model"
        )
    return rows, background[order]


def row_as_frame(row: Any, like: Any) -> Any:
    """A Series as a frame of one row, its cells in the dtypes that the other table has for them."""
    if not is_frame(like):
        return in_dtypes(row.to_frame().T, {})
    quick = _floats_as_frame(row, like) if row.index.equals(like.columns) else None
    return in_dtypes(row.to_frame().T, dict(like.dtypes)) if quick is None else quick


def _floats_as_frame(row: Any, like: Any) -> Any:
    """The same without a Series for each column; None of what has to be looked at one by one."""
    import pandas as pd

    dtypes, numbers = list(like.dtypes), row.to_numpy()
    plain = all(isinstance(each, np.dtype) and each.kind in "bif" for each in dtypes)
    if not plain or row.dtype != np.float64 or isinstance(row.name, tuple):
        return None
    labels = {"index": [0 if row.name is None else row.name], "columns": row.index}
    if all(each == row.dtype for each in dtypes):
        return pd.DataFrame(numbers[None].copy(), **labels)
    with np.errstate(invalid="ignore", over="ignore"):
        cast = [numbers[j : j + 1].astype(each) for j, each in enumerate(dtypes)]
        back = np.concatenate(cast, dtype=float)
    # Larger numbers than these may lose digits on the way back.
    if not (
        ((back == numbers) & (np.abs(numbers) < 2**53)) | np.isnan(numbers) & np.isnan(back)
    ).all():
        return None
    return pd.DataFrame(dict(enumerate(cast)), index=labels["index"]).set_axis(row.index, axis=1)


def in_dtypes(frame: Any, dtypes: Mapping[Hashable, Any]) -> Any:
    """A frame whose columns have these dtypes wherever that loses nothing."""
    import pandas as pd

    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    fitted = {
        j: _in_dtype(column, dtypes[name]) if name in dtypes else column.infer_objects()
        for j, (name, column) in enumerate(zip(frame.columns, columns, strict=True))
    }
    return pd.DataFrame(fitted, index=frame.index).set_axis(frame.columns, axis=1)


def _in_dtype(column: Any, dtype: Any) -> Any:
    """A column in this dtype if that loses nothing, else in one that holds its values.

    The mean of whole numbers may not be whole: cast to integers it would be another.
    """
    import pandas as pd

    if dtype in (object, column.dtype):
        return column.astype(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _in_categories(column, dtype, "other table")
    # Columns of objects count as texts, which they may hold.
    dates, texts = dtype.kind in "mM", pd.api.types.is_string_dtype(column.dtype)
    if texts and pd.api.types.is_numeric_dtype(dtype):
        column = _numbers(column, dtype)
    try:
        cast = column.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return column.infer_objects()
    if (texts and dates) or _same_values(cast, column):
        return cast
    return column.infer_objects()


def _in_categories(column: Any, dtype: Any, whose: str) -> Any:
    """A column as one of categories, refused where it holds another: that would become missing."""
    known = column.isna() | column.isin(dtype.categories)
    if not known.all():
        raise ValueError(
            f"column {column.name!r} holds {column[~known].tolist()[0]!r}, no category of the "
            f"{whose}; give both the same categories"
        )
    return column.astype(dtype)


def _numbers(column: Any, dtype: Any) -> Any:
    """The numbers in a column of objects or texts."""
    import pandas as pd

    try:
        return pd.to_numeric(column)
    except (TypeError, ValueError):
        strange = pd.to_numeric(column, errors="coerce").isna() & column.notna()
        raise ValueError(
            f"column {column.name!r} holds {column[strange].tolist()[0]!r}, no number, and has dtype "
            f"{dtype} in the other table; give both the same"
        ) from None


def _same_values(cast: Any, column: Any) -> bool:
    """Whether a column means the same in another dtype."""
    known = column.notna()
    # As objects: dtypes do not all compare with each other, nor all of their numbers exactly.
    same = cast[known].astype(object) == column[known].astype(object)
    return bool((cast.notna() == known).all() and same.all())


def join_columns(rows: Any, background: Any) -> Any:
    """The values of a column, explained rows first, in the dtype the model is to see."""
    import pandas as pd

    if rows.dtype != background.dtype and isinstance(background.dtype, pd.CategoricalDtype):
        rows = _in_categories(rows, background.dtype, "background")
    rows, background = _counted(rows, background.dtype), _counted(background, rows.dtype)
    joined = pd.concat([rows, background], ignore_index=True)
    if joined.dtype == object and object not in (rows.dtype, background.dtype):
        raise ValueError(
            f"column {rows.name!r} has dtype {rows.dtype} in the rows and {background.dtype} in the "
            "background; give both the same"
        )
    return joined


def _counted(column: Any, beside: Any) -> Any:
    """A column of booleans as 0 and 1 beside numbers, with which pandas makes objects of them."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if not is_bool_dtype(column.dtype) or is_bool_dtype(beside) or not is_numeric_dtype(beside):
        return column
    return column.astype(beside if isinstance(column.dtype, np.dtype) else "Int8")
