"""Outputs of a tree model, as read from its library, and rows as its splits see them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, cast

import numpy as np

from fairfield.core.arrays import FloatArray, in_precision
from fairfield.games.outputs import Output
from fairfield.games.trees.nodes import Tree, join

ELSEWHERE = "FeatureGame explains any model"


@dataclass
class TreeModel:
    """Outputs of a model: ``start`` of each plus one leaf of each of its trees, with its sign.

    ``encode`` turns rows into the numbers that splits compare: categories into codes,
    missing values into NaN. ``raw`` is the library's own answer to rows as given, which what
    was read is compared with. Trees number the ``outputs`` from 0, as they are listed here. A model that does not keep the categories of its columns takes
    the codes of a frame. ``nodes`` are those of all trees, and ``intercept`` the constant
    beside them of each output.
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
        self.intercept += start


def picked(answers: Any, outputs: Sequence[Output]) -> FloatArray:
    """Some outputs of what a library returns for rows: (rows, outputs)."""
    numbers = np.asarray(answers, dtype=float)
    numbers = numbers.reshape(len(numbers), -1)
    return np.stack([each.sign * numbers[:, each.column] for each in outputs], axis=1)


def categorical(rows: Any) -> dict[Hashable, list[Any]]:
    """The categorical columns of a frame, and the categories that each lists."""
    names = getattr(rows, "columns", ())
    coded = (name for name in names if str(rows[name].dtype) == "category")
    return {name: list(rows[name].cat.categories) for name in coded}


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
    rows = rows.copy()
    for name, listed in zip(own, categories or own.values(), strict=True):
        codes = rows[name].cat.set_categories(listed).cat.codes.astype(float)
        rows[name] = codes.where(codes >= 0)
    return np.array(rows.to_numpy(dtype=float, na_value=np.nan))


def in_single(rows: Any) -> FloatArray:
    """Rows as numbers that a library rounds to single precision."""
    single = in_precision(as_numbers(rows), "float32")
    return cast(FloatArray, in_precision(single, "float64"))
