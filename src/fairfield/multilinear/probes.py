"""Weights with the probe of each player in turn, multiplied out on the device of a table.

With P_l, P_h the weights of the low and of the high players, each followed by the weights
with the probe of one of them, the small matrix P_h M P_lᵀ of a table M holds the table
folded by all factors, with one player's probe, and with the probes of a low and a high
player. On a device a product with many columns takes no longer than one with a single
column: what takes time is reading a large M, and it is read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairfield.core.arrays import FloatArray, beside, on_host
from fairfield.multilinear import folding
from fairfield.multilinear.worth_matrix import WorthMatrix


def probed(matrix: WorthMatrix, factors: FloatArray, probe: FloatArray) -> FloatArray:
    """The table folded, and folded with each player's probe in turn: (games, k, n + 1)."""
    corner = on_host(_across(matrix, factors, probe)[1])
    return np.concatenate([corner[..., 0], corner[..., 0, 1:]], axis=-1)


def pairs(
    matrix: WorthMatrix, factors: FloatArray, probe: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """w_hᵀ M, M w_l, and the table with the probes of a low and a high player."""
    tables, corner, above = _across(matrix, factors, probe)
    of_low, _ = matrix.products(above[..., 0, :], None)
    return on_host(of_low), on_host(tables[..., 0, :]), on_host(corner[..., 1:, 1:])


def _across(matrix: WorthMatrix, factors: FloatArray, probe: FloatArray) -> tuple[Any, Any, Any]:
    """M P_lᵀ, (games, k, low + 1, 2^high), P_h M P_lᵀ, (games, k, low + 1, high + 1), and P_h."""
    xp, sides = matrix.namespace, _sides(matrix, factors, probe)
    below = next(sides)
    lead, k, rows, width = below.shape
    _, tables = matrix.products(None, xp.reshape(below, (lead, k * rows, width)))
    tables = xp.reshape(tables, (tables.shape[0], k, rows, tables.shape[2]))
    # Made while the device works on the table.
    above = next(sides)
    return tables, tables @ xp.matrix_transpose(above), above


def _sides(matrix: WorthMatrix, factors: FloatArray, probe: FloatArray) -> Iterator[Any]:
    """P_l, then P_h, (1 or games, k, players + 1, ·), multiplied out beside the table.

    Products over half the players of a side are computed on the host.
    """
    xp, probe = matrix.namespace, np.broadcast_to(probe, factors.shape)
    for some in (slice(0, matrix.low), slice(matrix.low, None)):
        own = folding.with_probes(factors[..., some, :], probe[..., some, :])
        halves = folding.Halves(own, own.shape[-2] // 2)
        low, high = halves.low, halves.high
        packed = beside(matrix.entries, np.concatenate([low, high], axis=-1))
        low, high = packed[..., : low.shape[-1]], packed[..., low.shape[-1] :]
        product = high[..., :, None] * low[..., None, :]
        yield xp.reshape(product, (*product.shape[:-2], product.shape[-2] * product.shape[-1]))
