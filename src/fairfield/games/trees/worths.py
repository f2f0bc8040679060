"""The outputs of trees, worths by their definition, and the length of paths: compiled loops."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes


@compiled
def goes_left(nodes: Nodes, node: int, number: float) -> bool:
    """Whether a row whose feature is this number takes the left branch."""
    if number != number:
        return bool(nodes.missing_left[node])
    which = nodes.category[node]
    if which < 0:
        return bool(number <= nodes.threshold[node])
    listed = False
    if 0 <= number < 64 * nodes.listed.shape[1]:
        code = np.int64(number)
        listed = bool((nodes.listed[which, code >> 6] >> np.uint64(code & 63)) & np.uint64(1))
    return bool(listed == nodes.listed_left[which])


def extent(nodes: Nodes) -> tuple[Int64s, Int64s]:
    """The most splits on a path of each tree, and the most players."""
    deepest, most = np.zeros((2, len(nodes.roots)), np.int64)
    _extent(nodes, np.empty((4, len(nodes.left) + 1), np.int64), deepest, most)
    return deepest, most


@compiled
def _extent(nodes: Nodes, stack: Int64s, deepest: Int64s, most: Int64s) -> None:
    path, ahead, depths, lengths = stack[0], stack[1], stack[2], stack[3]
    for tree in range(len(nodes.roots)):
        ahead[0], depths[0], lengths[0], top = nodes.roots[tree], 0, 0, 1
        while top:
            top -= 1
            node, depth, length = ahead[top], depths[top], lengths[top]
            deepest[tree], most[tree] = max(deepest[tree], depth), max(most[tree], length)
            if nodes.left[node] >= 0:
                at, who = 0, nodes.player[node]
                while at < length and path[at] != who:
                    at += 1
                path[at] = who
                for child in (nodes.left[node], nodes.right[node]):
                    ahead[top], depths[top], lengths[top] = child, depth + 1, max(length, at + 1)
                    top += 1


@compiled
def add_outputs(nodes: Nodes, rows: FloatArray, outputs: FloatArray) -> None:
    """Each row walks down each tree: (rows, outputs)."""
    for tree in range(len(nodes.roots)):
        for r in range(rows.shape[1]):
            node = nodes.roots[tree]
            while nodes.left[node] >= 0:
                left = goes_left(nodes, node, rows[nodes.feature[node], r])
                node = nodes.left[node] if left else nodes.right[node]
            for v in range(nodes.value.shape[1]):
                outputs[r, nodes.output[tree] + v] += nodes.value[node, v]


@compiled
def add_worths(
    nodes: Nodes,
    rows: FloatArray,
    background: FloatArray,
    coalitions: BoolArray,
    worths: FloatArray,
) -> None:
    """The definition: each background row walks down each tree, with row i's numbers on S.

    Rows that take the same branches walk together.
    """
    size = background.shape[1]
    order = np.arange(size)
    stack = np.empty((len(nodes.left) + 1, 3), np.int64)
    for i, m in np.ndindex(worths.shape):
        if i and not coalitions[m].any():
            worths[i, m] = worths[0, m]  # no feature of the row counts
            continue
        for root in nodes.roots:
            stack[0], top = (root, 0, size), 1
            while top:
                top -= 1
                node, low, high = stack[top]
                left, right = nodes.left[node], nodes.right[node]
                if left < 0:
                    worths[i, m] += nodes.value[node, 0] * (high - low) / size
                    continue
                column = nodes.feature[node]
                middle = low
                if coalitions[m, nodes.player[node]]:
                    middle = high if goes_left(nodes, node, rows[column, i]) else low
                else:
                    for at in range(low, high):
                        if goes_left(nodes, node, background[column, order[at]]):
                            order[at], order[middle] = order[middle], order[at]
                            middle += 1
                if low < middle:
                    stack[top] = (left, low, middle)
                    top += 1
                if middle < high:
                    stack[top] = (right, middle, high)
                    top += 1


@compiled
def add_dependent_worths(
    nodes: Nodes, rows: FloatArray, coalitions: BoolArray, worths: FloatArray
) -> None:
    """The definition: outsiders take both branches, each by its share of the cover."""
    stack = np.empty(len(nodes.left) + 1, np.int64)
    weight = np.empty(len(nodes.left) + 1)
    for i, m in np.ndindex(worths.shape):
        for root in nodes.roots:
            stack[0], weight[0], top = root, 1.0, 1
            while top:
                top -= 1
                node, reach = stack[top], weight[top]
                left, right = nodes.left[node], nodes.right[node]
                column = nodes.feature[node]
                if left < 0:
                    worths[i, m] += reach * nodes.value[node, 0]
                elif coalitions[m, nodes.player[node]]:
                    stack[top] = left if goes_left(nodes, node, rows[column, i]) else right
                    top += 1
                else:
                    stack[top], weight[top] = left, reach * nodes.share[left]
                    stack[top + 1], weight[top + 1] = right, reach * nodes.share[right]
                    top += 2
