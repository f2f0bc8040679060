"""The extension of a mean game: what the variational criteria read of the prior over games."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.core.extension import Extension
from fairfield.estimation.prior.at_points import AtPoint, at_point, shared
from fairfield.estimation.prior.kernels import Kernel
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.prior.posterior import COMMON, ROUNDING


class MeanExtension(Extension):
    """The extension of one mean game, whose covariance is that of the games that are left possible.

    A gradient costs O(mn) for m coalitions, a Hessian O(mn²), a covariance O(m²n).
    """

    method = "a prior over games"
    dense = 2**62  # never differences of gradients

    def __init__(self, mean: MeanGame, game: int) -> None:
        self.game, found = game, mean.posterior
        self.coalitions, self.posterior = found.coalitions, found
        self.players = self.degree = found.coalitions.shape[1]
        self.alpha, self.scale = found.alpha[game], float(found.scale[game])
        self.centre = float(found.centre[game]) + self.scale * COMMON * float(self.alpha.sum())
        self.variance = self.scale**2 * float(mean.calibration[game])

    def _at(self, x: ArrayLike, shares: FloatArray) -> list[tuple[float, AtPoint]]:
        return [(share, at_point(each, np.asarray(x))) for each, share in self._used(shares)]

    def _used(self, shares: FloatArray) -> list[tuple[Kernel, float]]:
        used = zip(self.posterior.kernels, shares.tolist(), strict=True)
        return [(each, share) for each, share in used if share > 0]

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        value, gradient = self.centre, np.zeros(self.players)
        for share, each in self._at(x, self.posterior.shares):
            value += self.scale * share * float(self.alpha @ each.means(self.coalitions))
            gradient += self.scale * share * (self.alpha @ each.slopes(self.coalitions))
        return np.asarray(value), gradient

    def hessian(self, x: ArrayLike) -> FloatArray:
        found = np.zeros((self.players, self.players))
        for share, each in self._at(x, self.posterior.shares):
            found += self.scale * share * each.curvature(self.coalitions, self.alpha)
        return found

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths (k,) of coalitions (k, n)."""
        return np.asarray(self.posterior.predict(coalitions)[self.game])

    def covariance(self, steps: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
        """That of Σ_k A_k ∇f(x_k), for points x_k and matrices A_k."""
        sections, wide = self._sections(steps, self.posterior.wide), self.posterior.wide
        prior = np.zeros((self.players, self.players))
        for x, left in steps:
            for y, right in steps:
                for each, share in self._used(wide):
                    prior += share * left @ shared(each, x, y) @ right.T
        least = ROUNDING * np.diagonal(prior)
        found = prior - sections.T @ self.posterior.wide_factor.solve(sections)
        place = np.diag_indices_from(found)
        found[place] = np.maximum(found[place], least)
        return np.asarray(self.variance * found)

    def weights(self, steps: Sequence[tuple[FloatArray, FloatArray]]) -> FloatArray:
        """What each worth weighs in it, (m, n)."""
        return self.posterior.factor.solve(self._sections(steps, self.posterior.shares))

    def _sections(
        self, steps: Sequence[tuple[FloatArray, FloatArray]], shares: FloatArray
    ) -> FloatArray:
        total = np.zeros(self.coalitions.shape)
        for x, matrix in steps:
            for share, each in self._at(x, shares):
                total += share * each.slopes(self.coalitions) @ matrix.T
        return total
