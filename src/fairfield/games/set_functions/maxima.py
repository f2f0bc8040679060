"""The extension of games that are sums of maxima, F(S) = Σ_{i∈S} a_i + Σ_d max_{i∈S} W_id.

The maximum over no player is 0, and weights may have any sign.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray, beside, on_host, slabs
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension

# In place of a probability of 0 to stay out, so that one can divide by it; two of them
# make a probability of 1e-300, which adds nothing.
NEVER = 1e-150


class MaximaExtension(Extension):
    """linear · x + Σ_d E max_{i∈S} W_id.

    With the players of column d in falling order of W, the k-th of them is the largest
    one in with probability x_k P_k, where P_k = Π_{j<k} (1 - x_j), so

        f = Σ_k x_k P_k W_k,
        ∂_k f = P_k W_k - Σ_{l>k} x_l P_l W_l / (1 - x_k),
        ∂_kl f = -∂_l f / (1 - x_k)   for k < l.

    The weights may be an array of any library; the work is done on its device.
    """

    method = "closed form: maxima"

    def __init__(self, linear: FloatArray, weights: Any) -> None:
        self.linear = linear
        self.players = self.degree = len(linear)
        xp = self._namespace = array_api_compat.array_namespace(weights)
        columns = xp.permute_dims(weights, (1, 0))
        # Sorted by the negative: a descending sort keeps ties in falling order of players.
        self.order = xp.argsort(-columns, axis=1, stable=True)
        self.places = xp.argsort(self.order, axis=1)
        self.sizes = xp.take_along_axis(columns, self.order, axis=1)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        xp = self._namespace
        at, lead = flat_points(x, self.players)
        value, gradient = at @ self.linear, np.tile(self.linear, (len(at), 1))
        for columns in self._slabs(self.sizes.shape[0], self.players):
            for some in self._slabs(len(at), self.sizes[columns, :].shape[0] * self.players):
                means, slopes, chances = self._by_rank(at[some], columns)
                slopes = xp.where(chances > NEVER, slopes, xp.zeros_like(slopes))
                places = xp.broadcast_to(self.places[columns, :][None, ...], slopes.shape)
                value[some] += on_host(means)
                found = xp.take_along_axis(slopes, places, axis=2)
                gradient[some] += on_host(xp.sum(found, axis=1))
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def _by_rank(self, at: FloatArray, columns: slice) -> tuple[Any, Any, Any]:
        """Terms of f from some columns, with ∂_k f and P_k by column and rank, at points (k, n)."""
        xp, sizes, order = self._namespace, self.sizes[columns, :], self.order[columns, :]
        joins = xp.take(beside(sizes, at), xp.reshape(order, (-1,)), axis=1)
        joins = xp.reshape(joins, (at.shape[0], *order.shape))
        stays = xp.clip(1 - joins, NEVER, None)
        chances = xp.cumulative_prod(stays, axis=2, include_initial=True)[..., :-1]
        first = chances * sizes
        terms = joins * first
        # Summed from the end: all less those up to k would lose digits.
        sums = xp.cumulative_sum(xp.flip(terms, axis=2), axis=2, include_initial=True)
        later = xp.flip(sums, axis=2)
        return xp.sum(later[..., 0], axis=1), first - later[..., 1:] / stays, chances

    def _slabs(self, rows: int, size: int) -> Any:
        """Slices of a size that fits the cache; on a device, all at once."""
        return slabs(rows, size) if isinstance(self.sizes, np.ndarray) else [slice(0, rows)]

    def hessian(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        hessian = np.zeros((*at.shape, self.players))
        for column in range(self.sizes.shape[0]):
            _, slopes, _ = self._by_rank(at, slice(column, column + 1))
            order = on_host(self.order[column, :], np.int64)
            for point, slope, out in zip(at, on_host(slopes[:, 0, :]), hessian, strict=True):
                stays = np.maximum(1 - point[order], NEVER)
                pairs = np.triu(slope / stays[:, None], 1)
                out[np.ix_(order, order)] -= pairs + pairs.T
        return hessian.reshape(*lead, self.players, self.players)

    def shapley(self) -> FloatArray:
        """Σ_{l≥k} (W_l - W_{l+1}) / l for the k-th player: the first l share W_l - W_{l+1}."""
        sizes, places = on_host(self.sizes), on_host(self.places, np.int64)
        drops = -np.diff(sizes, axis=1, append=0.0) / np.arange(1, self.players + 1)
        shares = np.cumsum(drops[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(self.linear + np.take_along_axis(shares, places, axis=1).sum(axis=0))
