"""The mean squared error of a mean of predictions, in closed form.

With e_i the errors of model i on the test rows and G_ij = e_i·e_j, the squared error of the mean
of the models S is Σ_{i,j∈S} G_ij / |S|², and 0 here for no models. Since
1/s² = ∫₀¹ -log u u^(s-1) du, its multilinear extension is an integral of products,

    Q(x) = ∫₀¹ -log u · E[u^|S| Σ_{i,j∈S} G_ij] / u du,    E[u^|S| ·] = Π_j (1 - x_j + x_j u) ·

with a_i = x_i u / (1 - x_i + x_i u) in the place of x_i on the right. What is integrated beside
-log u is a polynomial of degree n - 1, so n points are exact. A gradient costs O(n³).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import BoolArray, FloatArray, slabs
from fairfield.core.checks import flat_points
from fairfield.core.extension import Extension, legendre


def squared_errors(gram: FloatArray, weights: FloatArray, coalitions: BoolArray) -> FloatArray:
    """The squared error of the weighted mean of each coalition, 0 of none: (m,)."""
    found = np.zeros(len(coalitions))
    for some in slabs(len(coalitions), len(weights)):
        inside = coalitions[some].astype(float)
        total = inside @ weights
        found[some] = np.vecdot(inside @ gram, inside) / np.where(total, total, 1.0) ** 2
    return found


class MeanErrorExtension(Extension):
    """The extension of a constant plus the squared error of the mean of models that count alike."""

    method = "closed form: mean predictions"
    dense = 48  # a Hessian takes two gradients for each player

    def __init__(self, gram: FloatArray, constant: float = 0.0) -> None:
        self.gram, self.constant = gram, constant
        self.players = self.degree = len(gram)

    @property
    def offset(self) -> FloatArray:
        return np.asarray(self.constant)

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        at, lead = flat_points(x, self.players)
        found = [self._at(point) for point in at]
        value = np.array([each for each, _ in found]).reshape(lead)
        return value, np.array([each for _, each in found]).reshape(*lead, self.players)

    def _at(self, x: FloatArray) -> tuple[float, FloatArray]:
        u, shares = logarithmic(self.players)
        factors = 1 - x + np.outer(u, x)  # (points, n)
        a, own = np.outer(u, x) / factors, np.diag(self.gram)
        logs = np.log(factors)
        beside = a @ self.gram - a * own
        whole = np.vecdot(a, own + beside)
        value = np.exp(logs.sum(axis=1)) * whole
        # In the derivative by x_i the factor of player i is u when in, and 1 when out.
        others = whole[:, None] - a * (own + 2 * beside)
        joined = u[:, None] * (2 * beside + own) - (1 - u)[:, None] * others
        slopes = np.exp(logs.sum(axis=1, keepdims=True) - logs) * joined
        return float(shares / u @ value), shares / u @ slopes


@lru_cache
def logarithmic(points: int) -> tuple[FloatArray, FloatArray]:
    """Points u of (0, 1) and weights for ∫₀¹ -log u g(u) du, exact for degrees below ``points``.

    >>> u, shares = logarithmic(3)
    >>> [round(float(shares @ u**k) * (k + 1) ** 2, 12) for k in range(3)]
    [1.0, 1.0, 1.0]
    """
    u, shares = legendre(2 * points - 1)
    degree = np.arange(1, points)
    # The means of -log u times Legendre's polynomials are 1 and (-1)^j / (j (j + 1)).
    means = np.append(1.0, (-1.0) ** degree / (degree * (degree + 1)))
    terms = np.polynomial.legendre.legvander(2 * u - 1, points - 1)
    return u, shares * (terms @ ((2 * np.arange(points) + 1) * means))
