"""Rows of a model's input as matrices that can be mixed cell by cell, and rows again.

Numbers stay numbers. Anything else (categories, texts, objects) is held as a pool of the
values of its column, and the matrix holds places in that pool; what the model sees has the
dtype that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import IntArray
from fairfield.core.coalitions import spell
from fairfield.core.game import Player, name_players

Matrix = NDArray[Any]
Groups = Mapping[Player, Sequence[Any]] | Sequence[Hashable]


@dataclass(frozen=True)
class Tabular:
    """Explained rows and background rows in one form.

    ``rows`` (N, columns) and ``background`` (m, columns) may be mixed cell by cell;
    ``decode`` makes of such a matrix what the model takes. Two cells of a column hold the
    same value exactly where their codes agree.
    """

    columns: tuple[Hashable, ...]
    rows: Matrix
    background: Matrix
    row_codes: IntArray
    background_codes: IntArray
    decode: Callable[[Matrix], Any]

    @classmethod
    def of(cls, rows: Any, background: Any) -> Tabular:
        """From arrays or DataFrames of the same columns, two axes each."""
        if _is_frame(rows) or _is_frame(background):
            return cls._of_frames(*_same_frames(rows, background))
        if rows.shape[1] != background.shape[1]:
            raise ValueError(
                f"rows have {rows.shape[1]} columns, the background {background.shape[1]}; "
                "give the columns of the model to both"
            )
        names = tuple(range(rows.shape[1]))
        if _numeric(rows.dtype) and _numeric(background.dtype):
            return cls._of_numbers(names, np.concatenate([rows, background]), len(rows), _as_is)
        kinds = {rows.dtype.kind, background.dtype.kind}
        # NumPy makes texts of numbers beside texts.
        mixed = kinds & {*"US"} and kinds & {*"biufc"}
        everything = np.concatenate([rows, background], dtype=object if mixed else None)
        pools = list(everything.T)

        def decode(matrix: Matrix) -> Any:
            table = np.empty(matrix.shape, dtype=everything.dtype)
            for j, pool in enumerate(pools):
                table[:, j] = pool[matrix[:, j]]
            return table

        places = [_places(pool) for pool in pools]
        return cls._of_pools(names, places, len(rows), decode)

    @classmethod
    def _of_frames(cls, rows: Any, background: Any) -> Tabular:
        import pandas as pd

        names = tuple(rows.columns)
        dtypes = {*rows.dtypes, *background.dtypes}
        if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and _numeric(dtype):

            def wrap(matrix: Matrix) -> Any:
                return pd.DataFrame(matrix, columns=rows.columns, copy=False)

            values = np.concatenate([rows.to_numpy(), background.to_numpy()])
            return cls._of_numbers(names, values, len(rows), wrap)
        pools = [_pool(rows.iloc[:, j], background.iloc[:, j]) for j in range(len(names))]

        def decode(matrix: Matrix) -> Any:
            # As Series: pandas makes another dtype of bare arrays of texts.
            taken = {
                j: pd.Series(pool.array.take(matrix[:, j]), dtype=pool.dtype, copy=False)
                for j, pool in enumerate(pools)
            }
            return pd.DataFrame(taken, copy=False).set_axis(rows.columns, axis=1)

        places = [_places(np.asarray(pool)) for pool in pools]
        return cls._of_pools(names, places, len(rows), decode)

    @classmethod
    def _of_numbers(
        cls,
        names: tuple[Hashable, ...],
        values: Matrix,
        count: int,
        decode: Callable[[Matrix], Any],
    ) -> Tabular:
        codes = np.empty(values.shape, dtype=np.int64)
        for j, column in enumerate(values.T):
            codes[:, j] = np.unique(column, return_inverse=True)[1]
        values = np.ascontiguousarray(values)
        return cls(names, values[:count], values[count:], codes[:count], codes[count:], decode)

    @classmethod
    def _of_pools(
        cls,
        names: tuple[Hashable, ...],
        places: list[IntArray],
        count: int,
        decode: Callable[[Matrix], Any],
    ) -> Tabular:
        codes = np.stack(places, axis=1)
        return cls(names, codes[:count], codes[count:], codes[:count], codes[count:], decode)


def row_labels(table: Any) -> tuple[Any, ...] | None:
    """The names of the rows of a DataFrame: its index."""
    return tuple(table.index.tolist()) if _is_frame(table) else None


def row_players(table: Any, count: int) -> tuple[Player, ...]:
    """Rows as players: named by the index of a DataFrame if its names differ, else 0 … n-1."""
    labels = row_labels(table)
    return name_players(count if labels is None or len({*labels}) < count else labels)


def as_table(rows: Any, like: Any = None) -> tuple[bool, Any]:
    """Whether a single row was given, and an array or DataFrame of two axes."""
    if _is_frame(rows):
        return False, rows
    if hasattr(rows, "to_frame"):
        frame = rows.to_frame().T
        # A Series has one dtype for all its cells; the other table knows theirs.
        return True, _fitted(frame, dict(like.dtypes) if _is_frame(like) else {})
    table = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    if table.ndim not in (1, 2):
        raise ValueError(
            f"rows of shape {table.shape} were given; give one row, or a table of rows and columns"
        )
    return table.ndim == 1, table[None] if table.ndim == 1 else table


def group_columns(
    columns: tuple[Hashable, ...], groups: Groups | None
) -> tuple[tuple[Player, ...], IntArray]:
    """The players, and the number of each column's player.

    ``groups`` are {player: columns}, where columns in no group stay players of their own,
    or one label per column.

    >>> group_columns(("age", "red", "blue"), {"colour": ["red", "blue"]})
    (('colour', 'age'), array([1, 0, 0]))
    """
    if groups is None:
        return name_players(columns), np.arange(len(columns), dtype=np.int64)
    if isinstance(groups, Mapping):
        owner: dict[Hashable, Player] = {}
        for player, names in groups.items():
            for name in [names] if isinstance(names, str) else names:
                if name not in columns:
                    raise ValueError(
                        f"groups name a column {name!r}; the columns are {spell(columns)}"
                    )
                if name in owner:
                    raise ValueError(f"column {name!r} is in two groups; it has one player")
                owner[name] = player
        players = [*groups, *(name for name in columns if name not in owner)]
        labels = [owner.get(name, name) for name in columns]
    else:
        labels = list(groups)
        if len(labels) != len(columns):
            raise ValueError(
                f"groups have {len(labels)} labels for {len(columns)} columns; give one for each"
            )
        players = list(dict.fromkeys(labels))
    named = name_players(players)
    empty = [player for player in players if player not in labels]
    if empty:
        raise ValueError(f"groups give {empty[0]!r} no columns; a player needs at least one")
    return named, np.array([players.index(label) for label in labels], dtype=np.int64)


def _as_is(matrix: Matrix) -> Any:
    return matrix


def _is_frame(table: Any) -> bool:
    return hasattr(table, "columns") and hasattr(table, "dtypes")


def _numeric(dtype: Any) -> bool:
    return bool(np.issubdtype(dtype, np.number) or np.issubdtype(dtype, np.bool_))


def _same_frames(rows: Any, background: Any) -> tuple[Any, Any]:
    """Two frames with the columns of the first, in its order."""
    import pandas as pd

    if not (_is_frame(rows) and _is_frame(background)):
        frame, other = (rows, background) if _is_frame(rows) else (background, rows)
        if other.shape[1] != len(frame.columns):
            raise ValueError(
                f"rows and background have {rows.shape[1]} and {background.shape[1]} columns; "
                f"the model's are {spell(frame.columns)}"
            )
        named = _fitted(pd.DataFrame(other, columns=frame.columns), dict(frame.dtypes))
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
    return rows, background[list(rows.columns)]


def _fitted(frame: Any, dtypes: Mapping[Hashable, Any]) -> Any:
    """A frame whose columns have these dtypes wherever that loses nothing."""
    import pandas as pd

    columns = [frame.iloc[:, j] for j in range(frame.shape[1])]
    fitted = {
        j: _fitted_column(column, dtypes[name]) if name in dtypes else column.infer_objects()
        for j, (name, column) in enumerate(zip(frame.columns, columns, strict=True))
    }
    return pd.DataFrame(fitted, index=frame.index).set_axis(frame.columns, axis=1)


def _fitted_column(column: Any, dtype: Any) -> Any:
    """A column in this dtype if that loses nothing, else in one that holds its values.

    The mean of whole numbers may not be whole: cast to integers it would be another.
    """
    import pandas as pd

    if dtype in (object, column.dtype):
        return column.astype(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _in_categories(column, dtype, "other table")
    dates, texts = dtype.kind in "mM", _texts(column)
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


def _texts(column: Any) -> bool:
    """Whether a column may hold texts."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    return is_object_dtype(column.dtype) or is_string_dtype(column.dtype)


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


def _pool(rows: Any, background: Any) -> Any:
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


def _places(values: NDArray[Any]) -> IntArray:
    """Where each value stands first: equal values have equal places."""
    if _numeric(values.dtype):
        _, where, inverse = np.unique(values, return_index=True, return_inverse=True)
        return np.asarray(where[inverse], dtype=np.int64)
    first: dict[Any, int] = {}
    places = np.arange(len(values))
    for at, value in enumerate(values):
        try:
            # The type tells 1 from True and None from NaN, which is unequal to itself.
            key = (type(value), value if value == value else "nan")
            places[at] = first.setdefault(key, at)
        except (TypeError, ValueError):
            continue  # lists, say, cannot be looked up: such a cell is like no other
    return places
