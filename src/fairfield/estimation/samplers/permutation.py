"""Semivalues by permutation sampling: the plain baseline.

Players enter in random order; who enters as number s+1 makes a marginal contribution to a
coalition of size s, drawn uniformly. So with p_s the share of the semivalue that falls on
size s,   φ_i = E[n p_s (F(S+i) - F(S))]   over orders (Castro, Gómez and Tejada, 2009).
"""

from __future__ import annotations

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.coalitions import coalitions_in
from fairfield.core.special import log_binomials
from fairfield.estimation.loop import Estimate
from fairfield.estimation.over_rows import weighing
from fairfield.estimation.received import Received, ends, keys_of
from fairfield.estimation.samplers.registry import sampler
from fairfield.evaluation.kept import pack
from fairfield.multilinear.row_errors import semivalue_coefficients
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

# From fewer orders a variance is not to be trusted.
TRUSTED = 100
# Up to so many players, every coalition may come to be known along random orders.
MOST_LISTED = 16


@sampler("permutation", "semivalue", "shapley", "banzhaf")
class Permutations(Received):
    """Estimates a semivalue from random orders, n - 1 coalitions each.

    ``shares[s]`` is the weight of all coalitions of size s = 0 … n-1 together.
    """

    # How many orders in a row depend on each other, as one and its reverse do.
    together = 1

    def __init__(self, problem: Problem, criterion: str, shares: FloatArray) -> None:
        super().__init__()
        self.players, self.shares = len(problem.game.players), shares
        self.seed = problem.options.seed
        # Two orders give a variance, and both ends belong to all orders.
        self.least = 2 + 2 * self.together * (self.players - 1)
        self._rng = np.random.default_rng(self.seed)
        self._orders = np.empty((0, self.players), dtype=np.int64)
        # The coalitions that were told, each where it came first.
        self._first: dict[bytes, int] = {}
        self._told = 0

    def whole(self) -> tuple[BoolArray, Any] | None:
        """All coalitions that orders come through, ∅ first, and their weights (m, n) in the values.

        None where they are too many to be listed.
        """
        if self.players > MOST_LISTED:
            return None
        every = coalitions_in(np.arange(2**self.players), self.players)
        each = self.shares / np.exp(log_binomials(self.players - 1)[np.arange(self.players)])
        return every, semivalue_coefficients(each)(every)

    @cached_property
    def _whole(self) -> tuple[BoolArray, Any] | None:
        return self.whole()

    @property
    def complete(self) -> bool:
        """Whether every coalition that orders come through is known."""
        return self._whole is not None and len(self._first) == len(self._whole[0])

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths along orders, and which of them came first."""
        super().tell(coalitions, worths, variances)
        if self._whole is not None:
            for at, key in enumerate(keys_of(coalitions), self._told):
                self._first.setdefault(key, at)
        self._told += len(coalitions)

    def ask(self, most: int) -> BoolArray:
        """Both ends first, then the coalitions along half as many orders again as so far.

        None once every coalition is known.
        """
        if self.complete:
            return np.empty((0, self.players), dtype=bool)
        known = len(self._orders)
        more = max(8, known // 2)
        orders = self._draw(more)
        self._orders = np.concatenate([self._orders, orders])
        coalitions = _entered(orders)[:, 1:-1].reshape(-1, self.players)
        if not known:
            coalitions = np.concatenate([ends(self.players), coalitions])
        return coalitions[:most]

    def _draw(self, count: int) -> IntArray:
        """So many random orders of the players."""
        return self._rng.permuted(np.tile(np.arange(self.players), (count, 1)), axis=1)

    def provenance(self) -> dict[str, Any]:
        """Orders so far and the seed they come from."""
        return {"sampler": "permutation", "seed": self.seed, "orders": len(self._orders)}

    def estimate(self, until: float = inf) -> Estimate:
        """The mean over whole orders; their contributions are independent draws."""
        worths, noise = self.worths(), self.noise()
        ends = {"empty": as_number(worths[..., 0]), "grand": as_number(worths[..., 1])}
        if self.complete:
            return self._exact(worths, noise, ends)
        inner = self.players - 1
        count = (worths.shape[-1] - 2) // inner if inner else 2 * self.together
        count -= count % self.together
        added = np.diff(self._along(worths, count), axis=-1) * (self.players * self.shares)
        by_player = np.empty_like(added)
        np.put_along_axis(
            by_player, np.broadcast_to(self._orders[:count], added.shape), added, axis=-1
        )
        values = by_player.mean(axis=-2)
        drawn = by_player.reshape(*by_player.shape[:-2], -1, self.together, self.players)
        apart = drawn.mean(axis=-2) - values[..., None, :]
        units = count // self.together
        covariance = apart.swapaxes(-1, -2) @ apart / (units * (units - 1))
        if noise is not None:
            covariance = covariance + self._shared_noise(self._along(noise, count))
        few = f"the error bars rest on {count} orders only, and are not to be trusted"
        return Estimate(
            values=values,
            covariance=covariance,
            method=f"permutation sampling, {count} orders",
            warnings=(few,) if units < TRUSTED else (),
            more=ends,
            linear=lambda: weighing(*self._weights(count)),
        )

    def _exact(
        self, worths: FloatArray, noise: FloatArray | None, ends: dict[str, Any]
    ) -> Estimate:
        """The mean over all orders, from the worths of all coalitions that they come through."""
        assert self._whole is not None
        every, weights = self._whole
        at = [self._first[key] for key in keys_of(every)]
        own = worths[..., at] - worths[..., :1]
        values = own @ weights
        covariance = np.zeros((*values.shape, self.players))
        if noise is not None:
            covariance = np.einsum(
                "...m,mi,mj->...ij", noise[..., at], weights, weights, optimize=True
            )
        method = "every coalition is known"
        return Estimate(
            values, covariance, method, more=ends, linear=lambda: weighing(every, weights)
        )

    def _weights(self, count: int) -> tuple[BoolArray, FloatArray]:
        """The coalitions along so many orders, one after the other, and their weights in the values."""
        orders = self._orders[:count]
        by_order = np.zeros((count, self.players + 1, self.players))
        rows, steps = np.arange(count)[:, None], np.arange(self.players)
        by_order[rows, steps, orders] -= self.players * self.shares / count
        by_order[rows, steps + 1, orders] += self.players * self.shares / count
        along = _entered(orders).reshape(-1, self.players)
        return along, by_order.reshape(-1, self.players)

    def _along(self, received: FloatArray, count: int) -> FloatArray:
        """What was received along so many orders, from ∅ to N: (*batch, count, n + 1)."""
        inner = self.players - 1
        inside = received[..., 2 : 2 + count * inner]
        inside = inside.reshape(*received.shape[:-1], count, inner)
        first_last = np.broadcast_to(received[..., None, :2], (*inside.shape[:-1], 2))
        return np.concatenate([first_last[..., :1], inside, first_last[..., 1:]], axis=-1)

    def _shared_noise(self, noise: FloatArray) -> FloatArray:
        """The covariance (*batch, n, n) that noise adds since orders share coalitions.

        Each of them moves the values by its noise times all that it weighs, while orders that
        are taken for independent count its parts one by one.
        """
        along, effect = self._weights(noise.shape[-2])
        which = np.unique(pack(along), return_inverse=True)[1].ravel()
        total = np.zeros((which.max() + 1, self.players))
        np.add.at(total, which, effect)
        noise = noise.reshape(*noise.shape[:-2], -1)
        of_each = np.empty((*noise.shape[:-1], len(total)))
        of_each[..., which] = noise
        together = np.einsum("...u,ui,uj->...ij", of_each, total, total, optimize=True)
        apart = np.einsum("...k,ki,kj->...ij", noise, effect, effect, optimize=True)
        return np.asarray(together - apart)


def _entered(orders: IntArray) -> BoolArray:
    """The coalitions along each order, from ∅ to N: (orders, n + 1, n)."""
    place = np.argsort(orders, axis=1)[:, None, :]  # when each player enters
    return np.asarray(place < np.arange(orders.shape[1] + 1)[:, None])
