"""Outputs of a tree model, as read from its library, and rows as its splits see them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass
from typing import Any, cast

import numpy as np

from fairfield.core.arrays import FloatArray, elsewhere, in_precision, on_host
from fairfield.core.coalitions import spell
from fairfield.evaluation.threads import Overlapping
from fairfield.games.outputs import Output
from fairfield.games.trees.nodes import Tree, join

ELSEWHERE = "FeatureGame explains any model"
# Rows on which what was read is compared with the model's own output.
COMPARED = 256


@dataclass
class TreeModel:
    """Outputs of a model: ``start`` of each plus one leaf of each of its trees, with its sign.

    ``encode`` turns rows into the numbers that splits compare: categories into codes,
    missing values into NaN. ``raw`` is the library's own answer to rows as given, which what
    was read is compared with. Trees number the ``outputs`` from 0, as they are listed here. A
    model that does not keep the categories of its columns takes the codes of a frame. ``nodes``
    are those of all trees, and ``intercept`` the constant beside them of each output.
    """

    model: Any
    outputs: tuple[Output, ...]
    trees: InitVar[Sequence[Tree]]
    start: InitVar[float | Sequence[float]]
    columns: int
    names: tuple[str, ...] | None
    encode: Callable[[Any], FloatArray]
    raw: Callable[[Any], Any]
    keeps_categories: bool = True

    def __post_init__(self, trees: Sequence[Tree], start: float | Sequence[float]) -> None:
        self.kind = type(self.model).__name__
        self.nodes, self.intercept = join(trees, len(self.outputs))
        split = self.nodes.feature[self.nodes.left >= 0]
        if split.size and not 0 <= split.min() <= split.max() < self.columns:
            raise ValueError("the model is damaged: it splits on columns that it does not have")
        self.intercept += start
        # The dtypes of rows that were compared, and the columns in which values were missing.
        self.forms: set[Any] = set()
        self.gaps = np.zeros(self.columns, dtype=bool)

    def seen(
        self, table: Any, sparse: Any = None, like: Any = None, *, trusting: bool = False
    ) -> Any:
        """Rows as the splits see them, (columns, rows); those on a device stay there.

        The first of them are compared with the model's own output, for the ``sparse`` matrix
        itself where the rows were given as one. ``trusting`` leaves that out where rows of these
        dtypes were compared before, and rows with a missing value wherever one is missing.
        Categories must be those of the table that these rows are ``like``.
        """
        if elsewhere(table):
            from fairfield.games.trees.device.tables import DeviceRows

            self.seen(on_host(table[:COMPARED], None), like=like, trusting=trusting)
            return DeviceRows(self, table)
        form = None if sparse is not None else _form(table)
        if form not in self.forms:
            self._check_categories(table, like)
        rows = np.ascontiguousarray(self.encode(table).T)
        missing = np.isnan(rows)
        known = trusting and form in self.forms and not np.isinf(rows).any()
        if known and not (missing.any(axis=1) & ~self.gaps).any():
            return rows
        self._compare(rows, table if sparse is None else sparse)
        if form is not None:
            self.forms.add(form)
            self.gaps |= missing[:, :COMPARED].any(axis=1)
        return rows

    def _compare(self, rows: FloatArray, given: Any) -> None:
        """Refuse trees whose outputs for the first rows are not the model's own."""
        from fairfield.games.trees.worths import add_outputs

        first = np.ascontiguousarray(rows[:, :COMPARED])
        own = picked(quietly(self.raw, given[:COMPARED]), self.outputs)
        ours = np.tile(self.intercept, (first.shape[1], 1))
        add_outputs(self.nodes, first, ours)
        apart = np.abs(ours - own).max(axis=1)
        # A library may add up its trees in single precision, rounding once for each.
        largest = np.maximum.reduceat(np.abs(self.nodes.value).max(axis=1), self.nodes.roots)
        rounding = 4 * np.finfo(np.float32).eps * np.sqrt(len(largest))
        if not apart.max() <= rounding * (np.abs(self.intercept).max() + largest.sum()):
            worst = apart.argmax()
            raise ValueError(
                f"the {self.kind} was not read as it is: its output for row {worst} is {own[worst]}, "
                f"and that of the trees that were read {ours[worst]}; {ELSEWHERE}"
            )

    def check_columns(
        self, table: Any, what: str, others: tuple[Hashable, ...] | None = None
    ) -> None:
        """A table has as many columns as the model and, where both have names, the same names."""
        if np.ndim(table) != 2 or not len(table) or table.shape[1] != self.columns:
            raise ValueError(
                f"{what} of shape {tuple(np.shape(table))} were given; the {self.kind} needs at least one "
                f"row of {self.columns} columns"
            )
        names = names_of(table)
        for expected, whose in ((self.names, f"the {self.kind}"), (others, "the rows")):
            if names is None or expected is None:
                continue
            # LightGBM writes the blanks of a name as underscores.
            seen, wanted = ([str(n).replace(" ", "_") for n in each] for each in (names, expected))
            differ = [f"{a} for {b}" for a, b in zip(seen, wanted, strict=True) if a != b]
            if differ:
                raise ValueError(
                    f"the columns of {what} are not those of {whose}: {spell(differ)}; give the same "
                    "columns in the same order"
                )

    def _check_categories(self, rows: Any, others: Any) -> None:
        """Codes mean the same in both tables."""
        if self.keeps_categories:
            return
        known = categorical(others)
        differ = [name for name, own in categorical(rows).items() if known.get(name, own) != own]
        if differ:
            raise ValueError(
                f"rows and background list different categories in {spell(differ)}, and the "
                f"{self.kind} does not keep those it was fitted to; give both that dtype"
            )


def _form(table: Any) -> Any:
    """The dtypes of rows; None where these do not say what the cells are."""
    if not hasattr(table, "columns"):
        return table.dtype if table.dtype.kind in "biuf" else None
    dtypes = tuple(table.dtypes)
    # Two dtypes that list the same categories in another order are equal; their codes are not.
    listed = (tuple(each.categories) for each in dtypes if hasattr(each, "categories"))
    return None if object in dtypes else (*dtypes, *listed)


def same_columns(table: Any, other: Any) -> bool:
    """Whether two tables are arrays, or frames with the same names of columns."""
    framed = hasattr(table, "columns")
    if framed != hasattr(other, "columns"):
        return False
    return not framed or bool(table.columns.equals(other.columns))


def names_of(table: Any) -> tuple[Hashable, ...] | None:
    """The names of the columns of a frame."""
    return tuple(table.columns) if hasattr(table, "columns") else None


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X (has|does not have valid) feature names")
        yield


# Filters of warnings belong to the whole process.
_QUIET = Overlapping(_quiet)


def quietly(function: Callable[[Any], Any], rows: Any) -> Any:
    """What a model returns for rows without scikit-learn's warning that only one of both has names."""
    _QUIET.enter()
    try:
        return function(rows)
    finally:
        _QUIET.leave()


def picked(answers: Any, outputs: Sequence[Output]) -> FloatArray:
    """Some outputs of what a library returns for rows: (rows, outputs)."""
    numbers = np.asarray(answers, dtype=float)
    numbers = numbers.reshape(len(numbers), -1)
    return np.stack([each.sign * numbers[:, each.column] for each in outputs], axis=1)


def categorical(rows: Any) -> dict[Hashable, list[Any]]:
    """The categorical columns of a frame, and the categories that each lists."""
    if not hasattr(rows, "columns"):
        return {}
    dtypes = list(rows.dtypes)
    if not any(hasattr(each, "categories") for each in dtypes):
        return {}  # without the names, which take as long as all else for a single row
    pairs = zip(rows.columns, dtypes, strict=True)
    return {name: list(each.categories) for name, each in pairs if hasattr(each, "categories")}


def as_numbers(rows: Any, categories: Sequence[Sequence[Any]] | None = None) -> FloatArray:
    """Rows as numbers, (rows, columns); a category becomes its place in the list of them.

    ``categories`` are those of the categorical columns of a frame, in order; its own where
    the model does not keep them.
    """
    if not hasattr(rows, "columns"):
        return cast(FloatArray, in_precision(rows, "float64"))
    own = categorical(rows)
    if categories and len(categories) != len(own):
        raise ValueError(
            f"the model was fitted to {len(categories)} categorical columns, and the rows have "
            f"{len(own)}; give each of them the dtype 'category'"
        )
    if own:
        rows = rows.copy()
    for name, listed in zip(own, categories or own.values(), strict=True):
        codes = rows[name].cat.set_categories(listed).cat.codes.astype(float)
        rows[name] = codes.where(codes >= 0)
    return np.array(rows.to_numpy(dtype=float, na_value=np.nan))


def in_single(rows: Any) -> FloatArray:
    """Rows as numbers that a library rounds to single precision."""
    single = in_precision(as_numbers(rows), "float32")
    return cast(FloatArray, in_precision(single, "float64"))
