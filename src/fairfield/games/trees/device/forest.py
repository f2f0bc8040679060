"""Tree games whose rows are on a device.

What is read along the diagonal (Shapley, Banzhaf and other semivalues, pairs) and both ends of it
are found there, from tables that are made on the host; all else is worked out on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, beside, check_double, elsewhere
from fairfield.core.extension import Extension
from fairfield.games.trees.compiled import Int64s
from fairfield.games.trees.device.tables import DeviceDiagonal
from fairfield.games.trees.extension import AlongDiagonal, Forest, TreeExtension
from fairfield.games.trees.tables.diagonal import NO_POINTS
from fairfield.games.trees.tables.look_up import FEW


def device_table(rows: Any, like: Any) -> tuple[bool, Any]:
    """Whether a single row was given, and rows of two axes on the device of one of the two."""
    if not elsewhere(rows):
        if any(hasattr(rows, name) for name in ("columns", "to_frame", "tocsr")):
            raise ValueError(
                f"a {type(rows).__name__} was given beside an array on a device; give both as arrays"
            )
        rows = beside(like, np.array(rows, dtype=float))
    check_double(rows)
    return rows.ndim == 1, rows[None, ...] if rows.ndim == 1 else rows


@dataclass(frozen=True)
class DeviceForest(Forest):
    """Trees with a background on a device, which in another process is on the host."""

    background: Any

    @cached_property
    def diagonal(self) -> Any:  # what it works on is not shared among threads
        return DeviceDiagonal(self.nodes, self.degree, self.background)

    @cached_property
    def on_host(self) -> Forest:
        """The same with its background on the host."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return Forest(**{**own, "background": np.asarray(self.background)})

    def outputs(self, rows: Any) -> FloatArray:
        if rows.shape[1] <= FEW:
            return super().outputs(np.asarray(rows))
        found = np.zeros((len(self.intercept), 1, rows.shape[1]))
        left = self.diagonal.add(rows, NO_POINTS, NO_POINTS, 0, found, over=None)
        rest = Forest.outputs(self.only(left), np.asarray(rows)) if len(left) else self.intercept
        return found[:, 0].T + rest

    def worths(self, rows: Any, coalitions: BoolArray) -> FloatArray:
        return self.on_host.worths(np.asarray(rows), coalitions)

    def __reduce__(self) -> Any:
        return Forest, tuple(getattr(self.on_host, each.name) for each in fields(self))


class DeviceExtension(AlongDiagonal):
    """The extensions of rows on a device, :class:`DeviceRows`, and of a :class:`DeviceForest`.

    ``closed`` makes the same of a forest on the host.
    """

    forest: DeviceForest
    method, together = TreeExtension.method, TreeExtension.together

    def __init__(
        self,
        closed: Callable[[Forest], AlongDiagonal],
        forest: Any,
        rows: Any,
        batch: tuple[int, ...],
    ) -> None:
        self._closed, self.forest, self.explained, self.batch = closed, forest, rows, batch
        self.players, self.degree = forest.players, max(1, int(forest.degree.max(initial=0)))

    @cached_property
    def _on_host(self) -> AlongDiagonal:
        return self._closed(self.forest.on_host)

    @property
    def offset(self) -> FloatArray:
        return self._on_host.offset

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        return self._on_host.working_as(self).centred(x)

    def hessian(self, x: ArrayLike) -> FloatArray:
        return self._on_host.working_as(self).hessian(x)

    def rows(self, chosen: slice | Int64s) -> Extension:
        return self._on_host.working_as(self).rows(chosen)

    def paid(self, at: FloatArray, shares: FloatArray, order: int) -> FloatArray:
        n, rows = self.players, self.explained
        count = n if order == 1 else n * (n - 1) // 2
        values = np.zeros((len(self.forest.intercept), count, rows.shape[1]))
        left = self.forest.diagonal.add(rows, at, shares, order, values, over=None)
        paid = values.transpose(2, 0, 1).reshape(len(values) * rows.shape[1], count)
        if len(left):
            rest = self._closed(self.forest.on_host.only(left))
            paid = paid + rest.working_as(self).paid(at, shares, order)
        return paid
