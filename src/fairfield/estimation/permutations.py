"""Semivalues by permutation sampling: the plain baseline.

Players enter in random order; who enters as number s+1 makes a marginal contribution to a
coalition of size s, drawn uniformly. So with p_s the share of the semivalue that falls on
size s,   φ_i = E[n p_s (F(S+i) - F(S))]   over orders (Castro, Gómez and Tejada, 2009).
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.loop import Estimate
from fairfield.evaluation.kept import pack
from fairfield.results.valuation import as_number

# From fewer orders a variance is not to be trusted.
TRUSTED = 100


class Permutations:
    """Estimates a semivalue from random orders, n - 1 coalitions each.

    ``shares[s]`` is the weight of all coalitions of size s = 0 … n-1 together.
    """

    def __init__(self, players: int, shares: FloatArray, seed: int) -> None:
        self.players, self.shares, self.seed = players, shares, seed
        # Two orders give a variance, and both ends belong to all orders.
        self.least = 2 + 2 * (players - 1)
        self._rng = np.random.default_rng(seed)
        self._orders = np.empty((0, players), dtype=np.int64)
        self._worths: list[FloatArray] = []
        self._noise: list[FloatArray] = []

    def ask(self, most: int) -> BoolArray:
        """Both ends first, then the coalitions along half as many orders again as so far."""
        known = len(self._orders)
        more = max(8, known // 2)
        orders = self._rng.permuted(np.tile(np.arange(self.players), (more, 1)), axis=1)
        self._orders = np.concatenate([self._orders, orders])
        entered = np.argsort(orders, axis=1)[:, None, :]  # when each player enters
        along = entered < np.arange(1, self.players)[:, None]
        coalitions = along.reshape(-1, self.players)
        if not known:
            ends = np.repeat([[False], [True]], self.players, axis=1)
            coalitions = np.concatenate([ends, coalitions])
        return coalitions[:most]

    def provenance(self) -> dict[str, Any]:
        """Orders so far and the seed they come from."""
        return {"sampler": "permutation", "seed": self.seed, "orders": len(self._orders)}

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths; they come in the order of the proposal."""
        self._worths.append(worths)
        if variances is not None:
            self._noise.append(variances)

    def estimate(self, until: float = inf) -> Estimate:
        """The mean over whole orders; their contributions are independent draws."""
        worths = np.concatenate(self._worths, axis=-1)
        empty, grand = worths[..., 0], worths[..., 1]
        count = (worths.shape[-1] - 2) // max(self.players - 1, 1) if self.players > 1 else 2
        batch = worths.shape[:-1]
        inside = worths[..., 2 : 2 + count * (self.players - 1)]
        inside = inside.reshape(*batch, count, self.players - 1)
        ends = [np.broadcast_to(end[..., None, None], (*batch, count, 1)) for end in (empty, grand)]
        path = np.concatenate([ends[0], inside, ends[1]], axis=-1)
        added = np.diff(path, axis=-1) * (self.players * self.shares)
        by_player = np.empty_like(added)
        np.put_along_axis(
            by_player, np.broadcast_to(self._orders[:count], added.shape), added, axis=-1
        )
        values = by_player.mean(axis=-2)
        apart = by_player - values[..., None, :]
        covariance = apart.swapaxes(-1, -2) @ apart / (count * (count - 1))
        if self._noise:
            covariance = covariance + self._shared_noise(count)
        few = f"the error bars rest on {count} orders only, and are not to be trusted"
        return Estimate(
            values=values,
            stderr=np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)),
            covariance=covariance,
            method=f"permutation sampling, {count} orders",
            warnings=(few,) if count < TRUSTED else (),
            more={"empty": as_number(empty), "grand": as_number(grand)},
        )

    def _shared_noise(self, count: int) -> FloatArray:
        """The covariance (*batch, n, n) that noise adds since orders share coalitions.

        Each of them moves the values by its noise times all that it weighs, while orders that
        are taken for independent tell of its parts one by one.
        """
        orders, inner = self._orders[:count], self.players - 1
        weights = np.broadcast_to(self.players * self.shares / count, orders.shape)
        entered = np.argsort(orders, axis=1)[:, None, :]
        along = (entered < np.arange(self.players + 1)[:, None]).reshape(-1, self.players)
        by_order = np.zeros((count, self.players + 1, self.players))
        rows, steps = np.arange(count)[:, None], np.arange(self.players)
        by_order[rows, steps, orders] -= weights
        by_order[rows, steps + 1, orders] += weights
        effect = by_order.reshape(-1, self.players)
        which = np.unique(pack(along), return_inverse=True)[1].ravel()
        total = np.zeros((which.max() + 1, self.players))
        np.add.at(total, which, effect)
        noise_of_all = np.concatenate(self._noise, axis=-1)
        inside = noise_of_all[..., 2 : 2 + count * inner].reshape(
            *noise_of_all.shape[:-1], count, inner
        )
        ends = np.broadcast_to(noise_of_all[..., None, :2], (*noise_of_all.shape[:-1], count, 2))
        noise = np.concatenate([ends[..., :1], inside, ends[..., 1:]], axis=-1)
        noise = noise.reshape(*noise_of_all.shape[:-1], -1)
        of_each = np.empty((*noise_of_all.shape[:-1], len(total)))
        of_each[..., which] = noise
        together = np.einsum("...u,ui,uj->...ij", of_each, total, total, optimize=True)
        return np.asarray(
            together - np.einsum("...k,ki,kj->...ij", noise, effect, effect, optimize=True)
        )
