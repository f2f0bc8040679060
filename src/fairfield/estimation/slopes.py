"""The multilinear extension, estimated from coalitions drawn at a point x.

Under q_x the functions Π_{i∈A} (z_i - x_i) are orthogonal, and

    F(z) = f(x) + Σ_i ∂_i f(x) (z_i - x_i) + Σ_{i<j} ∂_ij f(x) (z_i - x_i)(z_j - x_j) + …

So least squares of the worths on z - x estimates the value and the gradient of f at x, all
players from the same draws; columns of products, where there are draws enough for them,
estimate the Hessian and take its noise out of the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray

# Products of players are fitted where this many draws fall on each column, and no more
# columns than this: their cost grows with the square.
DRAWS_PER_COLUMN = 2
MOST_COLUMNS = 512
# A draw that alone decides a slope has no residual; its leverage is taken to be a little less.
ALMOST = 1 - 1e-6
ROUNDING = 1e-12
# Leverages below this need no correction where only the curvature is wanted.
SMALL = 0.05


@dataclass(frozen=True)
class Slopes:
    """What least squares says of the extension at x, for one game or a batch on the same draws.

    ``left`` (*batch, m) is what the fit leaves of the worths, ``design`` its columns (m, k): 1,
    then (z - x)/√(x(1-x)), 0 for a player drawn only in or only out, then products. What only
    errors need, O(m k²), is found when it is asked for.
    """

    x: FloatArray
    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray | None
    left: FloatArray
    design: FloatArray
    inverse: FloatArray
    fitted: BoolArray
    weights: FloatArray
    counts: FloatArray

    @property
    def columns(self) -> FloatArray:
        """(z - x)/√(x(1-x)) of the players: (m, n)."""
        return self.design[:, 1 : 1 + len(self.x)]

    @cached_property
    def _reach(self) -> FloatArray:
        """How much a worth of weight 1 moves each coefficient: (m, k)."""
        return np.asarray(self.design @ self.inverse)

    @cached_property
    def reach(self) -> FloatArray:
        """How much a worth moves each slope, nearly w_j (z_j - x)/(m x(1-x)): (m, n)."""
        single = self._reach[:, 1 : 1 + len(self.x)] / _spread(self.x, self.fitted)
        return single * np.where(self.fitted, self.weights[:, None], 0.0)

    @cached_property
    def residuals(self) -> FloatArray:
        """r_j/√(1 - h_j), h_j the leverage of a draw: (*batch, m).

        So a fit that bends to its draws does not look better than it is (HC2; MacKinnon and
        White, 1985).
        """
        return self._corrected(self.left)

    def _corrected(self, left: FloatArray) -> FloatArray:
        leverage = self.weights * np.einsum("jk,jk->j", self._reach, self.design)
        return np.asarray(left / np.sqrt(1 - np.minimum(leverage, ALMOST)))

    def influence(self) -> FloatArray:
        """ψ_j, what each draw adds to the error of the gradient: (*batch, m, n)."""
        return self.residuals[..., None] * self.reach

    def level_influence(self) -> FloatArray:
        """What each draw adds to the error of the value f(x): (*batch, m)."""
        return np.asarray(self.residuals * self.weights * self._reach[:, 0])

    def covariance(self) -> FloatArray:
        """Cov ĝ = Σ_j ψ_j ψ_jᵀ over the draws: (*batch, n, n)."""
        games = self.residuals.reshape(-1, len(self.counts))
        root = np.sqrt(self.counts)[:, None] * self.reach
        found = np.stack([(r[:, None] * root).T @ (r[:, None] * root) for r in games])
        return np.asarray(found.reshape((*self.residuals.shape[:-1], *found.shape[1:])))

    def curvature(self) -> FloatArray:
        """√D ∇²f √D, D = diag x(1-x), as well as it is known: (*batch, n, n).

        The fitted Hessian; without one the moments E r (z_i - x_i)(z_j - x_j), all shrunk by
        the share of their squares that is not noise (James and Stein).
        """
        if self.hessian is not None:
            root = np.sqrt(self.x * (1 - self.x))
            return np.asarray(root[:, None] * self.hessian * root)
        games = self.left.reshape(-1, len(self.counts))
        found = np.stack([self._moments(r) for r in games])
        return np.asarray(found.reshape((*self.left.shape[:-1], *found.shape[1:])))

    def _moments(self, left: FloatArray) -> FloatArray:
        columns, each = self.columns, self.weights * self.counts
        total = each.sum()
        effective = total**2 / (each @ self.weights)
        # A draw on the rare side of a player has the largest leverage, (1-x)/x over draws.
        x = self.x[self.fitted]
        rarest = np.max((1 - x) / x, initial=1.0), np.max(x / (1 - x), initial=1.0)
        small = (1 + len(x) + max(rarest)) / effective < SMALL
        residuals = left if small else self._corrected(left)
        moments: FloatArray = (each * residuals * columns.T) @ columns / total
        np.fill_diagonal(moments, 0.0)
        # The noise of all pairs i ≠ j together: Σ_ij c_i² c_j² = (Σ c²)² - Σ c⁴. A column has
        # two values, so c² = 1 + tc with t = (1 - 2x)/√(x(1-x)), and c⁴ = 1 + t² + (2t + t³)c.
        skew = np.where(self.fitted, (1 - 2 * self.x) / _spread(self.x, self.fitted), 0.0)
        squares = self.fitted.sum() + columns @ skew
        fourths = np.sum(self.fitted + skew**2) + columns @ (2 * skew + skew**3)
        pairs = squares**2 - fourths
        noise = (self.counts * (self.weights * residuals) ** 2) @ pairs / total**2
        size = np.sum(moments**2)
        return moments * max(0.0, 1 - float(noise / size)) if size > 0 else moments

    def spread(self) -> float:
        """Σ_i x_i(1-x_i) Var ĝ_i over the batch: what a choice between fits makes small."""
        each = self.counts * self.residuals**2
        return float(np.sum(each @ (self.reach**2 @ (self.x * (1 - self.x)))))


def slopes(
    coalitions: BoolArray | FloatArray,
    worths: FloatArray,
    x: FloatArray,
    *,
    weights: FloatArray | None = None,
    counts: FloatArray | None = None,
    guess: FloatArray | None = None,
    known: FloatArray | None = None,
    products: bool = True,
) -> Slopes:
    """f, ∇f and where possible ∇²f at x from the worths (*batch, m) of coalitions (m, n).

    ``counts`` tells how often each coalition was drawn, ``weights`` what one draw counts
    (q_x over the law it came from; 1 without). A player drawn only in or only out has no
    slope: NaN, or the ``guess`` (n,), which counts like one pair of draws and so takes
    over from few (NaN: none). Slopes ``known`` from elsewhere (n,), NaN where not, are kept.
    ``products`` permits columns for pairs of players, used where they make the error of the
    gradient smaller. Cost: O(m n²), with products O(m n⁴).
    """
    times = np.ones(len(coalitions)) if counts is None else counts
    share = np.ones(len(coalitions)) if weights is None else weights
    design = _Design.of(coalitions, x, share, times, known)
    expected = np.full(len(x), np.nan) if guess is None else guess
    found = design.fit(worths, expected)
    count = len(x)
    columns = 1 + count + count * (count - 1) // 2
    if not products or columns > min(MOST_COLUMNS, len(coalitions) // DRAWS_PER_COLUMN):
        return found
    second = design.with_products().fit(worths, expected)
    return second if second.spread() < found.spread() else found


@dataclass(frozen=True)
class _Design:
    """Columns 1, (z_i - x_i)/√(x_i(1-x_i)) and perhaps products of these, with the draws' weights.

    Columns of players without a slope to fit are 0; ``fixed`` (m,) is what known slopes explain.
    """

    x: FloatArray
    columns: FloatArray
    weights: FloatArray
    counts: FloatArray
    fitted: BoolArray
    known: FloatArray
    fixed: FloatArray
    pairs: tuple[IntArray, IntArray] | None = None

    @classmethod
    def of(
        cls,
        coalitions: BoolArray | FloatArray,
        x: FloatArray,
        weights: FloatArray,
        counts: FloatArray,
        known: FloatArray | None,
    ) -> _Design:
        given = np.full(len(x), np.nan) if known is None else known
        used = (weights * counts > 0) * 1.0
        inside = used @ coalitions
        fitted = (inside > 0) & (inside < used.sum()) & (x > 0) & (x < 1) & np.isnan(given)
        columns = np.ones((len(coalitions), 1 + len(x)))
        np.subtract(coalitions, x, out=columns[:, 1:])
        columns[:, 1:] *= fitted / _spread(x, fitted)
        slopes = np.nan_to_num(given)
        fixed = coalitions @ slopes - x @ slopes
        return cls(x, columns, weights, counts, fitted, given, fixed)

    def with_products(self) -> _Design:
        first, second = np.triu_indices(len(self.x), 1)
        both = self.fitted[first] & self.fitted[second]
        first, second = first[both], second[both]
        single = self.columns[:, 1:]
        columns = np.concatenate([self.columns, single[:, first] * single[:, second]], axis=1)
        return replace(self, columns=columns, pairs=(first, second))

    def fit(self, worths: FloatArray, guess: FloatArray) -> Slopes:
        count, scale = len(self.x), _spread(self.x, self.fitted)
        single = slice(1, 1 + count)
        # Products are shrunk to 0 by one draw, slopes to their guess by a pair of draws; the ridge of
        # a column of zeros only keeps the matrix regular.
        ridge = np.ones(self.columns.shape[1])
        ridge[0] = 0.0
        leaning = self.fitted & ~np.isnan(guess)
        ridge[single] = np.where(self.fitted, leaning / scale**2, 1.0)
        pull = np.zeros(len(ridge))
        pull[single] = np.where(leaning, guess / scale, 0.0)
        total = self.weights * self.counts
        # So little that it shows only where players never part, who then share their slope.
        ridge += ROUNDING * total.sum()
        centre = (worths @ total / total.sum())[..., None]
        seen = worths - centre - self.fixed
        # Aᵀ A of one matrix costs half of a product of two.
        root = np.sqrt(total)
        weighted = self.columns * root[:, None]
        inverse = np.asarray(np.linalg.inv(weighted.T @ weighted + np.diag(ridge)), dtype=float)
        coefficients = ((seen * root) @ weighted + pull) @ inverse
        gradient = coefficients[..., single] / scale
        gradient = np.where(self.fitted, gradient, guess)
        return Slopes(
            self.x,
            coefficients[..., 0] + centre[..., 0],
            np.where(np.isnan(self.known), gradient, self.known),
            self._hessian(coefficients, scale),
            seen - coefficients @ self.columns.T,
            self.columns,
            inverse,
            self.fitted,
            self.weights,
            self.counts,
        )

    def _hessian(self, coefficients: FloatArray, scale: FloatArray) -> FloatArray | None:
        if self.pairs is None:
            return None
        count = len(self.x)
        first, second = self.pairs
        hessian = np.zeros((*coefficients.shape[:-1], count, count))
        found = coefficients[..., 1 + count :] / (scale[first] * scale[second])
        hessian[..., first, second] = hessian[..., second, first] = found
        return hessian


def _spread(x: FloatArray, fitted: BoolArray) -> FloatArray:
    """√(x(1-x)), 1 for players whose slope is not fitted."""
    return np.sqrt(np.where(fitted, x * (1 - x), 1.0))
