"""Trees of any library in one form, and what all libraries need to bring theirs into it.

A split sends a missing value where ``missing_left`` says, a number to the left if it is at
most the threshold, a category to the left if it is listed, or if it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.coalitions import spell

Read: TypeAlias = Callable[[Any], FloatArray]

ELSEWHERE = "FeatureGame values the features of any model"


class Nodes(NamedTuple):
    """The nodes of all trees in a row; ``left`` and ``right`` are node numbers, -1 at a leaf.

    ``share`` is a node's share of its parent's cover, the training weight that passed. A
    categorical split has a row of ``listed``, a bit per category, and ``listed_left`` says
    where these go; ``category`` is the number of that row, -1 at other nodes.
    """

    roots: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: FloatArray
    missing_left: BoolArray
    value: FloatArray
    share: FloatArray
    category: NDArray[np.int64]
    listed: NDArray[np.uint64]
    listed_left: BoolArray


@dataclass(frozen=True)
class Tree:
    """One tree, node by node; children count from its root, -1 at a leaf.

    ``categories`` maps a node to its listed categories and whether these go left.
    """

    left: Any
    right: Any
    feature: Any
    threshold: Any
    missing_left: Any
    value: Any
    cover: Any
    categories: Mapping[int, tuple[Sequence[int], bool]] = field(default_factory=dict)


@dataclass(frozen=True)
class TreeModel:
    """One output of a model: ``intercept`` plus one leaf of each tree; ``meaning`` says which.

    ``encode`` turns rows into the numbers that splits compare: categories into codes,
    missing values into NaN. ``own_output`` is the library's own answer to rows as given.
    A model that does not know the categories of its columns takes the codes of a frame.
    """

    kind: str
    meaning: str
    nodes: Nodes
    intercept: float
    columns: int
    names: tuple[str, ...] | None
    encode: Read
    own_output: Read
    knows_categories: bool = True


def join(trees: Sequence[Tree]) -> tuple[Nodes, float]:
    """The nodes of all trees, leaves centred tree by tree, and the sum of the centres.

    A row reaches one leaf of each tree, so a constant may leave it; what remains does not
    lose digits to a large mean.
    """
    offsets = np.cumsum([0, *(len(tree.left) for tree in trees)])
    left, right, feature, threshold, missing_left, value, cover = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("left", "right", "feature", "threshold", "missing_left", "value", "cover")
    )
    of = np.repeat(np.arange(len(trees)), np.diff(offsets))
    leaf = left < 0
    left, right = (np.where(leaf, -1, child + offsets[of]) for child in (left, right))
    means = np.bincount(of[leaf], value[leaf]) / np.bincount(of[leaf])
    share = np.ones(len(leaf))
    first, second = left[~leaf], right[~leaf]
    # A part of the sum, not of the parent's cover: the two add up to 1 without rounding.
    total = cover[first].astype(float) + cover[second]
    share[first] = np.divide(cover[first], total, out=np.full_like(total, 0.5), where=total > 0)
    share[second] = 1 - share[first]
    category = np.full(len(leaf), -1)
    sets = [(node + at, *split) for tree, at in zip(trees, offsets, strict=False)
            for node, split in tree.categories.items()]  # fmt: skip
    widest = max((code for _, codes, _ in sets for code in codes), default=0)
    listed = np.zeros((len(sets), widest // 64 + 1), dtype=np.uint64)
    for row, (node, codes, _) in enumerate(sets):
        category[node] = row
        for code in codes:
            listed[row, code // 64] |= np.uint64(1) << np.uint64(code % 64)
    nodes = Nodes(
        offsets[:-1],
        left,
        right,
        feature.astype(np.int64),
        threshold.astype(float),
        missing_left.astype(bool),
        np.where(leaf, value - means[of], 0.0),
        share,
        category,
        listed,
        np.array([on_left for _, _, on_left in sets], dtype=bool),
    )
    return nodes, float(means.sum())


def choose(output: Any, labels: Sequence[Any]) -> int:
    """The position of the output that was asked for, by label or else by number.

    >>> choose("b", ["a", "b"])
    1
    """
    if output is None and len(labels) == 1:
        return 0
    for at, label in enumerate(labels):
        if output is not None and label == output:
            return at
    if isinstance(output, int | np.integer) and 0 <= output < len(labels):
        return int(output)
    asked = "none was picked" if output is None else f"output={output!r} was asked for"
    raise ValueError(f"the model has the outputs {spell(labels)}, and {asked}; pass one as output=")


def choose_class(output: Any, classes: Sequence[Any]) -> int:
    """The position of a class, the second of two where none was asked for."""
    return 1 if output is None and len(classes) == 2 else choose(output, classes)


def choose_margin(output: Any, width: int, classes: Sequence[Any] | None) -> tuple[int, float]:
    """Which of a boosted model's margins, and its sign: a binary model has one for two classes."""
    if isinstance(output, str) and output == "probability":
        raise ValueError(
            "output='probability' was asked for; the probability of a boosted model is not a "
            f"closed form, its raw margin is; leave out output= for the margin; {ELSEWHERE}"
        )
    labels = [] if classes is None else list(classes)
    if isinstance(output, str) and output == "margin" and output not in labels:
        output = None
    if classes is None:
        return choose(output, range(width)), 1.0
    chosen = choose_class(output, labels)
    return (chosen, 1.0) if width > 1 else (0, 1.0 if chosen else -1.0)


def margin_named(
    classes: Sequence[Any] | None, column: int, sign: float, *, log_odds: bool, as_is: bool = True
) -> str:
    """What a boosted model's margin is: log-odds of one of two classes, a number that is predicted.

    ``as_is``: whether a regression predicts its margin, or a function of it.

    >>> margin_named(["no", "yes"], 0, -1.0, log_odds=True), margin_named(None, 0, 1.0, log_odds=False)
    ('log-odds of class no', 'prediction')
    """
    if classes is None:
        return ("prediction" if as_is else "raw margin") + (
            f" of column {column}" if column else ""
        )
    if len(classes) > 2:
        return f"margin of class {classes[column]}"
    return f"{'log-odds' if log_odds else 'margin'} of class {classes[int(sign > 0)]}"


def own_answers(raw: Callable[[Any], Any], column: int, sign: float = 1.0) -> Read:
    """A library's function of rows, for one of its outputs."""

    def own(rows: Any) -> FloatArray:
        answers = np.asarray(raw(rows), dtype=float)
        return sign * answers.reshape(len(answers), -1)[:, column]

    return own


def categorical(rows: Any) -> dict[Hashable, list[Any]]:
    """The categorical columns of a frame, and the categories that each lists."""
    names = getattr(rows, "columns", ())
    coded = (name for name in names if str(rows[name].dtype) == "category")
    return {name: list(rows[name].cat.categories) for name in coded}


def as_numbers(rows: Any, categories: Sequence[Sequence[Any]] | None = None) -> FloatArray:
    """Rows as numbers, (rows, columns); a category becomes its place in the list of them.

    ``categories`` are those of the categorical columns of a frame, in order; its own where
    the model does not know them.
    """
    if not hasattr(rows, "columns"):
        return np.array(rows, dtype=float)
    own = categorical(rows)
    rows = rows.copy()
    for name, listed in zip(own, categories or own.values(), strict=True):
        codes = rows[name].cat.set_categories(listed).cat.codes.astype(float)
        rows[name] = codes.where(codes >= 0)
    return np.array(rows.to_numpy(dtype=float, na_value=np.nan))


def in_single(rows: Any) -> FloatArray:
    """Rows as numbers that a library rounds to single precision."""
    return as_numbers(rows).astype(np.float32).astype(float)
