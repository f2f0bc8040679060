"""The extension of games that are sums of maxima, F(S) = Σ_{i∈S} a_i + Σ_d max_{i∈S} W_id.

The maximum over no player is 0, and weights may have any sign.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fairfield.coalitions import IntArray
from fairfield.games.checks import flat_points, slabs
from fairfield.multilinear import Extension, FloatArray


class MaximaExtension(Extension):
    """linear · x + Σ_d E max_{i∈S} W_id.

    With the players of column d in falling order of W and R_k the mean maximum over those
    from the k-th on, R_k = x_k W_k + (1 - x_k) R_{k+1} and R_{n+1} = 0,

        ∂_k f = Π_{j<k} (1 - x_j) (W_k - R_{k+1}),
        ∂_kl f = -Π_{j<l, j≠k} (1 - x_j) (W_l - R_{l+1})   for k < l.
    """

    method = "closed form: maxima"

    def __init__(self, linear: FloatArray, weights: FloatArray) -> None:
        self.linear = linear
        self.players = self.degree = len(linear)
        self.order = np.argsort(-weights.T, axis=1, kind="stable")
        self.places = np.argsort(self.order, axis=1)
        self.sizes = np.take_along_axis(weights.T, self.order, axis=1)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        value, gradient = at @ self.linear, np.tile(self.linear, (len(at), 1))
        for columns in slabs(len(self.sizes), self.players):
            sizes, order, places = self.sizes[columns], self.order[columns], self.places[columns]
            for some in slabs(len(at), sizes.size):
                joins = at[some][:, order]
                tails = _mean_maxima(joins, sizes)
                value[some] += tails[..., 0].sum(axis=-1)
                slopes = sizes - tails[..., 1:]
                slopes[..., 1:] *= np.cumprod(1 - joins[..., :-1], axis=-1)
                gradient[some] += _by_player(slopes, places)
        return value.reshape(lead), gradient.reshape(*lead, self.players)

    def hessian(self, x: ArrayLike) -> FloatArray:
        at, lead = flat_points(x, self.players)
        hessian = np.zeros((*at.shape, self.players))
        for point, out in zip(at, hessian, strict=True):
            for order, sizes in zip(self.order, self.sizes, strict=True):
                joins = point[order]
                last = sizes - _mean_maxima(joins[None, None], sizes)[0, 0, 1:]
                stays_out = np.tile(1 - joins, (self.players, 1))
                np.fill_diagonal(stays_out, 1.0)
                products = np.ones_like(stays_out)
                np.cumprod(stays_out[:, :-1], axis=1, out=products[:, 1:])
                pairs = np.triu(products * last, 1)
                out[np.ix_(order, order)] -= pairs + pairs.T
        return hessian.reshape(*lead, self.players, self.players)

    def shapley(self) -> FloatArray:
        """Σ_{l≥k} (W_l - W_{l+1}) / l for the k-th player: the first l share W_l - W_{l+1}."""
        drops = -np.diff(self.sizes, axis=1, append=0.0) / np.arange(1, self.players + 1)
        shares = np.cumsum(drops[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(self.linear + _by_player(shares[None], self.places)[0])


def _by_player(in_order: FloatArray, places: IntArray) -> FloatArray:
    """Numbers (k, D, n) in the order of each column, summed per player: (k, n)."""
    total = np.zeros((len(in_order), places.shape[1]))
    for column, place in enumerate(places):
        total += in_order[:, column, place]
    return total


def _mean_maxima(joins: FloatArray, sizes: FloatArray) -> FloatArray:
    """R_1 … R_{n+1} per column, for players in falling order: (k, D, n + 1).

    R_k - (1 - x_k) R_{k+1} = x_k W_k is one triangular system with two diagonals over all
    columns, whose solution by substitution is the recursion itself.
    """
    from scipy.linalg.blas import dtbsv

    bands = np.zeros((*joins.shape, 2))
    bands[..., 1:, 0] = joins[..., :-1] - 1
    right = (joins * sizes).ravel()
    tails = np.zeros((*joins.shape[:-1], joins.shape[-1] + 1))
    tails[..., :-1] = dtbsv(1, bands.reshape(-1, 2).T, right, diag=1).reshape(joins.shape)
    return tails
