"""The nodes of the trees of any library, in one form.

A split sends a missing value to the left if ``missing_left``, a number if it is at most the
threshold, and a category if it is listed, or if it is not, by ``listed_left``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import BoolArray, FloatArray


class Nodes(NamedTuple):
    """The nodes of all trees in a row; ``left`` and ``right`` are node numbers, -1 at a leaf.

    Those of a tree are numbered from ``roots[tree]`` to ``ends[tree]`` - 1.
    A leaf has one or several values, (nodes, values), which go to outputs of the model, the first
    to ``output[tree]`` and the others to the next ones.
    ``player`` is whose feature a node splits, at first the feature itself.
    ``share`` is a node's share of its parent's cover, the training weight that passed. A
    categorical split has a row of ``listed``, a bit per category, and ``listed_left`` is
    whether these go left; ``category`` is the number of that row, -1 at other nodes.
    """

    roots: NDArray[np.int64]
    ends: NDArray[np.int64]
    output: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    player: NDArray[np.int64]
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

    ``value`` is (nodes,), for the ``output`` of this number, or (nodes, values) for several from there
    on. ``categories`` maps a node to its listed categories and whether these go left.
    """

    left: Any
    right: Any
    feature: Any
    threshold: Any
    missing_left: Any
    value: Any
    cover: Any
    categories: Mapping[int, tuple[Sequence[int], bool]] = field(default_factory=dict)
    output: int = 0


def unfold(
    root: Mapping[str, Any], left: str, right: str
) -> tuple[list[Mapping[str, Any]], list[int], list[int]]:
    """The nodes of a nested tree, parents first, and the places of their children, -1 at a leaf.

    >>> unfold({"l": {"value": 1}, "r": {"value": 2}}, "l", "r")[1:]
    ([1, -1, -1], [2, -1, -1])
    """
    nodes: list[Mapping[str, Any]] = []
    places: list[list[int]] = []
    ahead = [(root, 0, 0)]
    while ahead:
        node, parent, side = ahead.pop()
        at = len(nodes)
        if at:
            places[parent][side] = at
        nodes.append(node)
        places.append([-1, -1])
        if left in node:
            ahead += [(node[right], at, 1), (node[left], at, 0)]
    return nodes, [each[0] for each in places], [each[1] for each in places]


def levels(nodes: Nodes, trees: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The nodes of some trees by their depth."""
    found, at = [], nodes.roots[trees]
    while len(at):
        found.append(at)
        inner = at[nodes.left[at] >= 0]
        at = np.concatenate([nodes.left[inner], nodes.right[inner]])
    return found


def _check_children(left: Any, right: Any, size: Any, offset: Any) -> None:
    """Refuse children outside of their tree, and nodes that two others have as a child."""
    children = np.stack([left, right])
    inside = (children > 0) & (children < size)
    if not inside.all() or (np.bincount((children + offset).ravel(), minlength=1) > 1).any():
        raise ValueError("the model is damaged: the children of its nodes do not make trees")


def join(trees: Sequence[Tree], outputs: int = 1) -> tuple[Nodes, FloatArray]:
    """The nodes of all trees, leaves centred tree by tree, and for each output the sum of the centres.

    A row reaches one leaf of each tree, so a constant may leave it; what remains does not
    lose digits to a large mean.
    """
    offsets = np.cumsum([0, *(len(tree.left) for tree in trees)])
    left, right, feature, threshold, missing_left, cover = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("left", "right", "feature", "threshold", "missing_left", "cover")
    )
    value = np.concatenate([np.reshape(tree.value, (len(tree.left), -1)) for tree in trees])
    output = np.array([tree.output for tree in trees])
    feature = feature.astype(np.int64)
    of = np.repeat(np.arange(len(trees)), np.diff(offsets))
    leaf = left < 0
    _check_children(left[~leaf], right[~leaf], np.diff(offsets)[of][~leaf], offsets[of][~leaf])
    left, right = (np.where(leaf, -1, child + offsets[of]) for child in (left, right))
    means = np.add.reduceat(np.where(leaf[:, None], value, 0.0), offsets[:-1])
    means /= np.bincount(of[leaf])[:, None]
    centres = np.zeros(outputs)
    np.add.at(centres, output[:, None] + np.arange(value.shape[1]), means)
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
        offsets[1:],
        output,
        left,
        right,
        feature,
        feature,
        threshold.astype(float),
        missing_left.astype(bool),
        np.where(leaf[:, None], value - means[of], 0.0),
        share,
        category,
        listed,
        np.array([on_left for _, _, on_left in sets], dtype=bool),
    )
    return nodes, centres
