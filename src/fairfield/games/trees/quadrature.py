"""Path-dependent games along the diagonal, in one walk down each tree: compiled loops.

At the point (t, …, t) a leaf of value v adds v · Π_i f_i to the extension, over the players i of its
path: f_i = s_i + (1 - s_i) t where the row satisfies all their splits and s_i (1 - t) where it does
not, s_i being the product of the shares of the cover at these splits. The derivative by x_i is that
product times u_i, which is (1 - s_i) / f_i or -1 / (1 - t). Going down, a split multiplies the
product by the ratio of its player's new factor to the earlier one; coming back, it pays the sum
of the leaves below it times what it changed in u_i. Pairs are paid that times u_j, for each other
player j above. Rows are walked side by side, so that one instruction serves several.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.groups import Bytes
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.tables import pair_place
from fairfield.games.trees.terms import Int64s, compiled
from fairfield.games.trees.worths import goes_left

# Rows that are walked side by side.
TOGETHER = 64


class Path(NamedTuple):
    """The way from a root to a node, an entry for each depth.

    ``player`` is whose feature was split last, ``earlier`` the depth at which they were split before,
    0 for never, and ``share`` the product of their shares. ``met`` is whether each row satisfies all
    of their splits; ``product`` and ``below``, (depth, points, rows), are Π f_i and the sum over the
    leaves below that were visited.
    """

    player: Int64s
    earlier: Int64s
    share: FloatArray
    met: Bytes
    product: FloatArray
    below: FloatArray


@compiled
def walk(
    nodes: Nodes,
    trees: Int64s,
    depth: int,
    at: FloatArray,
    weights: FloatArray,
    order: int,
    rows: FloatArray,
    values: FloatArray,
) -> None:
    """Add Σ w ∂f(t, …, t) over points t of weights w to each player or pair: (…, rows)."""
    child, side = np.empty((2, depth + 1), np.int64)
    for low in range(0, rows.shape[1], TOGETHER):
        some = np.ascontiguousarray(rows[:, low : low + TOGETHER])
        paid = values[:, low : low + TOGETHER]
        count, points = some.shape[1], len(at)
        path = Path(
            np.empty(depth + 1, np.int64),
            np.empty(depth + 1, np.int64),
            np.empty(depth + 1),
            np.empty((depth + 1, count), np.uint8),
            np.empty((depth + 1, points, count)),
            np.empty((depth + 1, points, count)),
        )
        for q in range(points):
            path.product[0, q] = weights[q]
        for tree in trees:
            level = 0
            child[0], side[0] = nodes.roots[tree], 0
            path.below[0] = 0.0
            while level >= 0:
                node = child[level]
                if nodes.left[node] < 0:
                    path.below[level] = nodes.value[node] * path.product[level]
                elif side[level] < 2:
                    _go_down(nodes, node, side[level], level + 1, path, at, some)
                    child[level + 1] = nodes.right[node] if side[level] else nodes.left[node]
                    side[level] += 1
                    level += 1
                    side[level] = 0
                    path.below[level] = 0.0
                    continue
                if level:
                    _pay(path, level, at, order, paid)
                    path.below[level - 1] += path.below[level]
                level -= 1


@compiled
def _go_down(
    nodes: Nodes, node: int, right: int, level: int, path: Path, at: FloatArray, rows: FloatArray
) -> None:
    """Extend the path from a node to its left or right child, which is at this level."""
    who, before = nodes.player[node], level - 1
    while before and path.player[before] != who:
        before -= 1
    path.player[level], path.earlier[level] = who, before
    share = nodes.share[nodes.right[node] if right else nodes.left[node]]
    numbers, met = rows[nodes.feature[node]], path.met[level]
    for r in range(len(met)):
        met[r] = goes_left(nodes, node, numbers[r]) != right
    if not before:
        path.share[level] = share
        for q in range(len(at)):
            inside, outside = share + (1 - share) * at[q], share * (1 - at[q])
            parent, product = path.product[level - 1, q], path.product[level, q]
            for r in range(len(met)):
                product[r] = parent[r] * (inside if met[r] else outside)
        return
    former, met_before = path.share[before], path.met[before]
    whole = former * share
    path.share[level] = whole
    for r in range(len(met)):
        met[r] &= met_before[r]
    for q in range(len(at)):
        factor = former + (1 - former) * at[q]
        still, no_more = (whole + (1 - whole) * at[q]) / factor, whole * (1 - at[q]) / factor
        parent, product = path.product[level - 1, q], path.product[level, q]
        for r in range(len(met)):
            ratio = still if met[r] else (no_more if met_before[r] else share)
            product[r] = parent[r] * ratio


@compiled
def _pay(path: Path, level: int, at: FloatArray, order: int, values: FloatArray) -> None:
    """Pay what the split above this level changed in its player's derivative."""
    before, who = path.earlier[level], path.player[level]
    share, met = path.share[level], path.met[level]
    former = path.share[before] if before else 1.0
    changed = np.empty(len(met))
    for q in range(len(at)):
        lost = -1 / (1 - at[q])
        inside = (1 - share) / (share + (1 - share) * at[q])
        earlier = (1 - former) / (former + (1 - former) * at[q])
        below = path.below[level, q]
        if before:
            met_before = path.met[before]
            for r in range(len(met)):
                slope = inside if met[r] else (lost if met_before[r] else earlier)
                changed[r] = (slope - earlier) * below[r]
        else:
            for r in range(len(met)):
                changed[r] = (inside if met[r] else lost) * below[r]
        if order == 1:
            paid = values[who]
            for r in range(len(met)):
                paid[r] += changed[r]
            continue
        for above in range(1, level):
            other = path.player[above]
            if other == who or _split_again(path, above, level):
                continue
            share_above, met_above = path.share[above], path.met[above]
            slope_in = (1 - share_above) / (share_above + (1 - share_above) * at[q])
            paid = values[pair_place(max(who, other), min(who, other))]
            for r in range(len(met)):
                paid[r] += (slope_in if met_above[r] else lost) * changed[r]


@compiled
def _split_again(path: Path, above: int, level: int) -> bool:
    """Whether the player split above this depth is split once more before the level."""
    return bool((path.player[above + 1 : level] == path.player[above]).any())
