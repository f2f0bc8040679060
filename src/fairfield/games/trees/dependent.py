"""Path-dependent games at any points, in one walk down each tree: compiled loops.

At the point x a leaf of value v adds v · Π_i f_i to the extension, over the players i of its path:
f_i = s_i + (a_i - s_i) x_i, where a_i is 1 if the row satisfies all their splits and 0 if not, and s_i is
the product of the shares of the cover at these splits. Going down, a split of player i multiplies
the product by a ratio, f_i or, where they were split before, the new f_i to the earlier one; coming
back, it pays to player i the product above, times the derivative of the ratio, times the sum of the
leaves below. Nothing is divided by what may be zero. Pairs are paid the same with the derivatives of
the product above by each other player for the product. Rows are walked side by side, so that one
instruction serves several.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.games.trees.compiled import Int64s, compiled
from fairfield.games.trees.nodes import Nodes
from fairfield.games.trees.pairs import pair_place
from fairfield.games.trees.tables.groups import Bytes, branches

# Numbers of one level, points times rows, that are worked on together.
SIDE_BY_SIDE = 256


class Path(NamedTuple):
    """The way from a root to a node, an entry for each depth.

    ``player`` is whose feature was split last, ``earlier`` the depth at which they were split before,
    0 for never, and ``share`` the product of their shares. The others are (depth, points · rows):
    ``met``, 1 or 0, is whether a row satisfies all of their splits, ``ratio`` and ``slope`` are what the
    split multiplies and its derivative, ``product`` is Π f_i and ``below`` the sum of the leaves below
    that were visited, without what is above. For pairs ``derived`` is the derivative of the product by
    the player split last at each depth: (depth, depth, points · rows).
    """

    player: Int64s
    earlier: Int64s
    share: FloatArray
    met: FloatArray
    ratio: FloatArray
    slope: FloatArray
    product: FloatArray
    below: FloatArray
    derived: FloatArray


def walk(
    nodes: Nodes,
    depth: int,
    points: FloatArray,
    weights: FloatArray,
    order: int,
    rows: FloatArray,
    worth: FloatArray,
    values: FloatArray,
) -> None:
    """Add Σ w f(x) over points x of weights w to each row, and the derivatives to players or pairs.

    ``points`` (points, players, rows) has one player where all have the same; ``values`` (players or
    pairs, rows) are derivatives of ``order`` 1 or 2.
    """
    step = max(1, SIDE_BY_SIDE // len(weights))
    widest = int((nodes.ends - nodes.roots).max(initial=0))
    for low in range(0, rows.shape[1], step):
        some = np.ascontiguousarray(rows[:, low : low + step])
        width = some.shape[1]
        shape = (depth + 1, len(weights) * width)
        x = points[..., low : low + step].swapaxes(0, 1).reshape(-1, shape[1])
        player, earlier = np.empty((2, depth + 1), np.int64)
        met, ratio, slope, product, below = np.empty((5, *shape))
        derived = np.empty((depth + 1 if order == 2 else 0, *shape))
        share = np.empty(depth + 1)
        path = Path(player, earlier, share, met, ratio, slope, product, below, derived)
        path.product[0] = np.repeat(weights, width)
        goes, ahead = np.empty((widest, width), np.uint8), np.empty((2, depth + 1), np.int64)
        total, paid = np.zeros(shape[1]), np.zeros((len(values), shape[1]))
        _walk(nodes, path, order, some, np.ascontiguousarray(x), goes, ahead, total, paid)
        worth[low : low + step] += total.reshape(-1, width).sum(axis=0)
        values[:, low : low + step] += paid.reshape(len(paid), len(weights), width).sum(axis=1)


@compiled
def _walk(
    nodes: Nodes,
    path: Path,
    order: int,
    rows: FloatArray,
    points: FloatArray,
    goes: Bytes,
    ahead: Int64s,
    total: FloatArray,
    paid: FloatArray,
) -> None:
    """One walk down each tree; ``ahead`` has room for the node at each depth, and its next branch."""
    child, side = ahead[0], ahead[1]
    for tree in range(len(nodes.roots)):
        first = nodes.roots[tree]
        branches(nodes, tree, rows, 0, rows.shape[1], goes)
        level = 0
        child[0], side[0] = first, 0
        _set(path.below, 0, 0.0)
        while level >= 0:
            node = child[level]
            if nodes.left[node] < 0:
                _set(path.below, level, nodes.value[node, 0])
            elif side[level] < 2:
                right, level = side[level], level + 1
                side[level - 1] += 1
                child[level], side[level] = nodes.right[node] if right else nodes.left[node], 0
                _set(path.below, level, 0.0)
                _extend(path, level, nodes.player[node], nodes.share[child[level]])
                _meet(path, level, goes[node - first], right)
                _multiply(path, level, points)
                if order == 2:
                    _derive(path, level)
                continue
            if level:
                _pay(path, level, order, paid)
            level -= 1
        for r in range(len(total)):
            total[r] += path.product[0, r] * path.below[0, r]


@compiled
def _set(numbers: FloatArray, level: int, number: float) -> None:
    """The same number for all points and rows at one depth."""
    own = numbers[level]
    for r in range(len(own)):
        own[r] = number


@compiled
def _extend(path: Path, level: int, who: int, share: float) -> None:
    """Extend the path by a split of a player that keeps this share of the cover."""
    before = level - 1
    while before and path.player[before] != who:
        before -= 1
    path.player[level], path.earlier[level] = who, before
    path.share[level] = share * path.share[before] if before else share


@compiled
def _meet(path: Path, level: int, left: Bytes, right: int) -> None:
    """Which rows satisfy all splits of the player split last."""
    met, wrong, width = path.met[level], np.uint8(right), len(left)
    for low in range(0, len(met), width):
        some = met[low : low + width]
        for r in range(width):
            some[r] = left[r] ^ wrong
    if path.earlier[level]:
        before = path.met[path.earlier[level]]
        for r in range(len(met)):
            met[r] *= before[r]


@compiled
def _multiply(path: Path, level: int, points: FloatArray) -> None:
    """The ratio of the last split, its derivative, and the product."""
    before, share, met = path.earlier[level], path.share[level], path.met[level]
    x = points[path.player[level] if len(points) > 1 else 0]
    ratio, slope = path.ratio[level], path.slope[level]
    if not before:
        for r in range(len(met)):
            slope[r] = met[r] - share
        for r in range(len(met)):
            ratio[r] = share + x[r] * slope[r]
    elif path.share[before] == 0.0:
        # No training row came so far: both factors are x, or zero.
        for r in range(len(met)):
            slope[r], ratio[r] = 0.0, met[r]
    else:
        former, met_before = path.share[before], path.met[before]
        alone = share / former
        for r in range(len(met)):
            inverse = 1 / (former + x[r] * (1 - former))
            slope[r] = (met[r] * former - share * met_before[r]) * inverse * inverse
        for r in range(len(met)):
            changed = (share + x[r] * (met[r] - share)) / (former + x[r] * (1 - former))
            ratio[r] = changed if met_before[r] > 0 else alone
    above, product = path.product[level - 1], path.product[level]
    for r in range(len(met)):
        product[r] = above[r] * ratio[r]


@compiled
def _derive(path: Path, level: int) -> None:
    """The derivatives of the product by the player split at each depth above, and by the last."""
    ratio, slope, before = path.ratio[level], path.slope[level], path.earlier[level]
    for depth in range(1, level):
        above, product = path.derived[level - 1, depth], path.derived[level, depth]
        for r in range(len(ratio)):
            product[r] = above[r] * ratio[r]
    above, product = path.product[level - 1], path.derived[level, level]
    for r in range(len(ratio)):
        product[r] = above[r] * slope[r]
    if before:
        # The factor that was there before is still in the product.
        above = path.derived[level - 1, before]
        for r in range(len(ratio)):
            product[r] += above[r] * ratio[r]


@compiled
def _pay(path: Path, level: int, order: int, values: FloatArray) -> None:
    """Pay the player split last, or their pairs, and hand the leaves below to the node above."""
    who, below, onward = path.player[level], path.below[level], path.below[level - 1]
    ratio, slope = path.ratio[level], path.slope[level]
    for r in range(len(below)):
        onward[r] += ratio[r] * below[r]
    for r in range(len(below)):
        below[r] *= slope[r]
    if order == 1:
        above, paid = path.product[level - 1], values[who]
        for r in range(len(below)):
            paid[r] += above[r] * below[r]
        return
    for depth in range(1, level):
        other = path.player[depth]
        if other != who and not _split_again(path, depth, level):
            above = path.derived[level - 1, depth]
            paid = values[pair_place(max(who, other), min(who, other))]
            for r in range(len(below)):
                paid[r] += above[r] * below[r]


@compiled
def _split_again(path: Path, above: int, level: int) -> bool:
    """Whether the player split above this depth is split once more before the level."""
    last = level - 1
    while path.player[last] != path.player[above]:
        last -= 1
    return last > above
