"""Rows of a model's input as matrices that can be mixed cell by cell, and back.

Numbers stay numbers. Anything else (categories, texts, objects) is held as a pool of the
values of its column, and the matrix holds places in that pool; what the model sees has the
dtype that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, IntArray, is_sparse, on_host
from fairfield.core.game import GameInfo, Player, name_players
from fairfield.games.features.frames import (
    in_pandas,
    is_frame,
    join_columns,
    row_as_frame,
    same_frames,
)
from fairfield.games.outputs import Explained

Matrix = NDArray[Any]
Decode = Callable[[Matrix], Any]
# Cells that can be mixed, codes that agree where they are equal, and the way back to rows.
Cells = tuple[Matrix, IntArray, Decode]


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
    decode: Decode

    @classmethod
    def of(cls, rows: Any, background: Any, model: Any = None) -> Tabular:
        """From arrays or DataFrames of the same columns, two axes each, for a model or its method."""
        if is_frame(rows) or is_frame(background):
            owner = getattr(model, "__self__", model)
            known = getattr(owner, "feature_names_in_", None)
            rows, background = same_frames(rows, background, known)
            names, found = rows.columns, _of_frames(rows, background)
        else:
            names, found = range(rows.shape[1]), _of_arrays(rows, background)
        own, (cells, codes, decode) = len(rows), found
        return cls(tuple(names), cells[:own], cells[own:], codes[:own], codes[own:], decode)


def _of_arrays(rows: Matrix, background: Matrix) -> Cells:
    if rows.shape[1] != background.shape[1]:
        raise ValueError(
            f"rows have {rows.shape[1]} columns, the background {background.shape[1]}; "
            "give the columns of the model to both"
        )
    if _numeric(rows.dtype) and _numeric(background.dtype):
        return _of_numbers(np.concatenate([rows, background]), lambda matrix: matrix)
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

    return _of_pools(pools, decode)


def _of_frames(rows: Any, background: Any) -> Cells:
    import pandas as pd

    names, dtypes = rows.columns, {*rows.dtypes, *background.dtypes}
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and _numeric(dtype):
        values = np.concatenate([rows.to_numpy(), background.to_numpy()])
        return _of_numbers(values, lambda matrix: pd.DataFrame(matrix, columns=names, copy=False))
    pools = [join_columns(rows.iloc[:, j], background.iloc[:, j]) for j in range(len(names))]

    def decode(matrix: Matrix) -> Any:
        # As Series: pandas makes another dtype of bare arrays of texts.
        taken = {
            j: pd.Series(held.array.take(matrix[:, j]), dtype=held.dtype, copy=False)
            for j, held in enumerate(pools)
        }
        return pd.DataFrame(taken, copy=False).set_axis(names, axis=1)

    return _of_pools([np.asarray(held) for held in pools], decode)


def _of_numbers(values: Matrix, decode: Decode) -> Cells:
    codes = [np.unique(column, return_inverse=True)[1] for column in values.T]
    return np.ascontiguousarray(values), np.stack(codes, axis=1), decode


def _of_pools(pools: list[NDArray[Any]], decode: Decode) -> Cells:
    codes = np.stack([_places(held) for held in pools], axis=1)
    return codes, codes, decode


def info_of_rows(
    table: Any, single: bool, what: Explained, data: Any, advice: str = GameInfo.advice
) -> GameInfo:
    """How a game of the features of these rows is presented: what is explained, in which unit.

    ``data`` (rows, features) are the values to show.
    """
    labels = None if single else row_labels(table)
    if data is not None:
        own = data if what.outputs is None else np.repeat(data[:, None], len(what.outputs), axis=1)
        data = own[0] if single else own
    return GameInfo(
        labels,
        what.name,
        what.unit,
        data,
        noun="feature",
        row_noun="row",
        advice=advice,
        outputs=what.outputs,
        output_noun=what.noun,
    )


def batch_of_rows(table: Any, single: bool, what: Explained) -> tuple[int, ...]:
    """The axes of a game of the features of these rows: rows, unless one was given, and outputs."""
    rows = () if single else (len(table),)
    return rows if what.outputs is None else (*rows, len(what.outputs))


def row_labels(table: Any) -> tuple[Any, ...] | None:
    """The names of the rows of a DataFrame: its index."""
    return tuple(table.index.tolist()) if is_frame(table) else None


def row_players(table: Any, count: int) -> tuple[Player, ...]:
    """Rows as players: named by the index of a DataFrame if its names differ, else 0 … n-1."""
    labels = row_labels(table)
    return name_players(count if labels is None or len({*labels}) < count else labels)


def as_table(rows: Any, like: Any = None, absent: float = 0.0) -> tuple[bool, Any]:
    """Whether a single row was given, and an array or DataFrame of two axes.

    A sparse matrix becomes a dense one, with ``absent`` where it has no entry; frames of other
    libraries become those of pandas.
    """
    rows, like = in_pandas(rows), in_pandas(like)
    if is_frame(rows):
        return False, rows
    if hasattr(rows, "to_frame"):
        # A Series has one dtype for all its cells; the other table has those of its columns.
        return True, row_as_frame(rows, like)
    table = _filled(rows, absent) if is_sparse(rows) else on_host(rows, None)
    if table.ndim not in (1, 2):
        raise ValueError(
            f"rows of shape {table.shape} were given; give one row, or a table of rows and columns"
        )
    return table.ndim == 1, table[None] if table.ndim == 1 else table


def sparse_rows(rows: Any) -> Any:
    """The rows of a sparse matrix, two axes in a form that can be sliced; None of anything else."""
    if not is_sparse(rows):
        return None
    return (rows.reshape(1, -1) if rows.ndim == 1 else rows).tocsr()


def _filled(rows: Any, absent: float) -> Matrix:
    """A dense copy of a sparse matrix; an entry that is there stays, though it be 0."""
    entries = rows.tocoo(copy=True)
    entries.sum_duplicates()
    # Whole numbers have no way to say that one is missing.
    dtype = entries.dtype if absent == 0 else np.result_type(entries.dtype, np.float32)
    dense = np.full(rows.shape, absent, dtype=dtype)
    dense[entries.coords] = entries.data
    return dense


def replaced(draw: Any, given: Any, x: int, kept: BoolArray, rng: np.random.Generator) -> Any:
    """Rows drawn for explained row x, its own values back in the columns that are kept."""
    framed = hasattr(given, "iloc")
    drawn = draw(given.iloc[[x]] if framed else given[x].copy(), kept.copy(), rng)
    shape = np.shape(drawn)
    if len(shape) != 2 or shape[1] != len(kept) or not shape[0]:
        raise ValueError(
            f"the background function returned shape {shape}; it must return at least one row of "
            f"{len(kept)} columns"
        )
    if not framed:
        return np.where(kept, given[x], drawn)
    import pandas as pd

    own = given.iloc[np.full(shape[0], x)].reset_index(drop=True)
    table = pd.DataFrame(drawn, columns=None if hasattr(drawn, "columns") else own.columns)
    table = table[list(own.columns)].reset_index(drop=True)
    taken = {j: (own if keep else table).iloc[:, j] for j, keep in enumerate(kept)}
    return pd.DataFrame(taken).set_axis(own.columns, axis=1)


def _numeric(dtype: Any) -> bool:
    return bool(np.issubdtype(dtype, np.number) or np.issubdtype(dtype, np.bool_))


def _places(values: NDArray[Any]) -> IntArray:
    """Where each value stands first: equal values have equal places."""
    if _numeric(values.dtype):
        _, where, inverse = np.unique(values, return_index=True, return_inverse=True)
        return np.asarray(where[inverse], dtype=np.int64)
    first: dict[Any, int] = {}
    places = np.arange(len(values))
    for at, value in enumerate(values):
        try:
            # With the type, 1 is not True, and NaN, which is unequal to itself, not None.
            key = (type(value), value if value == value else "nan")
            places[at] = first.setdefault(key, at)
        except (TypeError, ValueError):
            continue  # unhashable, as a list: such a cell equals no other
    return places
