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
from fairfield.estimation.at_points.draws import NO_TWINS, gathered

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
class Columns:
    """Draws as the columns of a regression: 1, (z_i - x_i)/√(x_i(1-x_i)), perhaps products of these.

    A draw counts its ``weights`` (m,) as often as its ``counts`` (m,) say. Columns of players
    without a slope to fit are 0; ``fixed`` (m,) is what slopes ``known`` from elsewhere explain.
    """

    x: FloatArray
    matrix: FloatArray
    weights: FloatArray
    counts: FloatArray
    fitted: BoolArray
    known: FloatArray
    fixed: FloatArray
    pairs: tuple[IntArray, IntArray] | None = None

    @cached_property
    def scale(self) -> FloatArray:
        """√(x(1-x)), 1 for players whose slope is not fitted."""
        return np.sqrt(np.where(self.fitted, self.x * (1 - self.x), 1.0))

    def with_products(self) -> Columns:
        """Beside these, the products of two players each."""
        first, second = np.triu_indices(len(self.x), 1)
        both = self.fitted[first] & self.fitted[second]
        first, second = first[both], second[both]
        single = self.matrix[:, 1:]
        matrix = np.concatenate([self.matrix, single[:, first] * single[:, second]], axis=1)
        return replace(self, matrix=matrix, pairs=(first, second))

    def fit(self, worths: FloatArray, guess: FloatArray) -> Slopes:
        """Weighted least squares, slopes shrunk to their ``guess`` (NaN: none)."""
        count, scale = len(self.x), self.scale
        single = slice(1, 1 + count)
        # Products are shrunk to 0 by one draw, slopes to their guess by a pair of draws; the ridge of
        # a column of zeros only keeps the matrix regular.
        ridge = np.ones(self.matrix.shape[1])
        ridge[0] = 0.0
        guessed = self.fitted & ~np.isnan(guess)
        ridge[single] = np.where(self.fitted, guessed / scale**2, 1.0)
        pull = np.zeros(len(ridge))
        pull[single] = np.where(guessed, guess / scale, 0.0)
        total = self.weights * self.counts
        # So little that it shows only where players never part, who then share their slope.
        ridge += ROUNDING * total.sum()
        centre = (worths @ total / total.sum())[..., None]
        seen = worths - centre - self.fixed
        # Aᵀ A of one matrix costs half of a product of two.
        root = np.sqrt(total)
        weighted = self.matrix * root[:, None]
        inverse = np.asarray(np.linalg.inv(weighted.T @ weighted + np.diag(ridge)), dtype=float)
        coefficients = ((seen * root) @ weighted + pull) @ inverse
        gradient = np.where(self.fitted, coefficients[..., single] / scale, guess)
        hessian = None
        if self.pairs is not None:
            first, second = self.pairs
            hessian = np.zeros((*coefficients.shape[:-1], count, count))
            found = coefficients[..., 1 + count :] / (scale[first] * scale[second])
            hessian[..., first, second] = hessian[..., second, first] = found
        return Slopes(
            self,
            coefficients[..., 0] + centre[..., 0],
            np.where(np.isnan(self.known), gradient, self.known),
            hessian,
            seen - coefficients @ self.matrix.T,
            inverse,
        )


@dataclass(frozen=True)
class Slopes:
    """What least squares says of the extension at x, for one game or a batch on the same draws.

    ``left`` (*batch, m) is what the fit leaves of the worths. Where coalitions e were ``added`` since, with columns
    a_e and b_e, coefficients c are c + Σ_e (F_e - c·a_e) b_e. What only errors need, O(m k²) for k columns, is
    found when it is asked for.
    """

    columns: Columns
    value: FloatArray
    gradient: FloatArray
    hessian: FloatArray | None
    left: FloatArray
    inverse: FloatArray
    added: tuple[FloatArray, FloatArray] | None = None

    def beside(self, certain: IntArray, chances: FloatArray) -> tuple[Slopes, FloatArray]:
        """With coalitions of one game that were not fitted, but are known, and have such chances under q_x.

        What is left of one is r at a single z: f gains r q_x(z), whose coefficients are r q_x(z) times the
        columns of z, since these are orthogonal. Returns what the gradient gains of each, too, (k, n).
        """
        count, scale = len(self.columns.x), self.columns.scale
        single, rows = slice(1, 1 + count), self.columns.matrix[certain]
        weighed = chances[:, None] * rows
        gained, left = self.left[certain] @ weighed, self.left.copy()
        left[certain] = 0.0
        found = replace(
            self,
            value=self.value + gained[0],
            gradient=self.gradient + gained[single] / scale,
            left=left,
            added=(rows, weighed),
        )
        return found, weighed[:, single] / scale

    @cached_property
    def _moved(self) -> FloatArray:
        """The same of coefficients as they are now."""
        if self.added is None:
            return self._reach
        rows, weighed = self.added
        return np.asarray(self._reach - (self._reach @ rows.T) @ weighed)

    @cached_property
    def _reach(self) -> FloatArray:
        """How much a worth of weight 1 moves each coefficient: (m, k)."""
        return np.asarray(self.columns.matrix @ self.inverse)

    @cached_property
    def reach(self) -> FloatArray:
        """How much a worth moves each slope, nearly w_j (z_j - x)/(m x(1-x)): (m, n)."""
        columns = self.columns
        single = self._moved[:, 1 : 1 + len(columns.x)] / columns.scale
        return single * np.where(columns.fitted, columns.weights[:, None], 0.0)

    @cached_property
    def residuals(self) -> FloatArray:
        """r_j/√(1 - h_j), h_j the leverage of a draw: (*batch, m).

        So a fit that bends to its draws does not look better than it is (HC2; MacKinnon and
        White, 1985).
        """
        columns = self.columns
        leverage = columns.weights * np.einsum("jk,jk->j", self._reach, columns.matrix)
        return np.asarray(self.left / np.sqrt(1 - np.minimum(leverage, ALMOST)))

    def influence(self) -> FloatArray:
        """ψ_j, what each draw adds to the error of the gradient: (*batch, m, n)."""
        return self.residuals[..., None] * self.reach

    def level_influence(self) -> FloatArray:
        """What each draw adds to the error of the value f(x): (*batch, m)."""
        return np.asarray(self.residuals * self.columns.weights * self._moved[:, 0])

    def covariance(self, pairs: IntArray = NO_TWINS) -> FloatArray:
        """Cov ĝ = Σ_j ψ_j ψ_jᵀ over the draws, twins as one: (*batch, n, n)."""
        return gathered(self.influence(), self.columns.counts, pairs)

    def curvature(self) -> FloatArray:
        """√D ∇²f √D, D = diag x(1-x), of one game, as well as it is known: (n, n).

        The fitted Hessian; without one the moments E r (z_i - x_i)(z_j - x_j), all shrunk by
        the share of their squares that is not noise (James and Stein).
        """
        at, fitted = self.columns, self.columns.fitted
        if self.hessian is not None:
            root = np.sqrt(at.x * (1 - at.x))
            return np.asarray(root[:, None] * self.hessian * root)
        single, each = at.matrix[:, 1 : 1 + len(at.x)], at.weights * at.counts
        total = each.sum()
        effective = total**2 / (each @ at.weights)
        # A draw on the rare side of a player has the largest leverage, (1-x)/x over draws.
        x = at.x[fitted]
        rarest = np.max((1 - x) / x, initial=1.0), np.max(x / (1 - x), initial=1.0)
        small = (1 + len(x) + max(rarest)) / effective < SMALL
        residuals = self.left if small else self.residuals
        moments: FloatArray = (each * residuals * single.T) @ single / total
        np.fill_diagonal(moments, 0.0)
        # The noise of all pairs i ≠ j together: Σ_ij c_i² c_j² = (Σ c²)² - Σ c⁴. A column has
        # two values, so c² = 1 + tc with t = (1 - 2x)/√(x(1-x)), and c⁴ = 1 + t² + (2t + t³)c.
        skew = np.where(fitted, (1 - 2 * at.x) / at.scale, 0.0)
        squares = fitted.sum() + single @ skew
        fourths = np.sum(fitted + skew**2) + single @ (2 * skew + skew**3)
        pairs = squares**2 - fourths
        noise = (at.counts * (at.weights * residuals) ** 2) @ pairs / total**2
        size = np.sum(moments**2)
        return moments * max(0.0, 1 - float(noise / size)) if size > 0 else moments

    def spread(self) -> float:
        """Σ_i x_i(1-x_i) Var ĝ_i over the batch: what a choice between fits makes small."""
        x, each = self.columns.x, self.columns.counts * self.residuals**2
        return float(np.sum(each @ (self.reach**2 @ (x * (1 - x)))))


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
    draws, count = coalitions.shape
    weights = np.ones(draws) if weights is None else weights
    counts = np.ones(draws) if counts is None else counts
    guess = np.full(count, np.nan) if guess is None else guess
    known = np.full(count, np.nan) if known is None else known
    used = (weights * counts > 0) * 1.0
    inside = used @ coalitions
    fitted = (inside > 0) & (inside < used.sum()) & (x > 0) & (x < 1) & np.isnan(known)
    given = np.nan_to_num(known)
    fixed = coalitions @ given - x @ given
    matrix = np.ones((draws, 1 + count))
    columns = Columns(x, matrix, weights, counts, fitted, known, fixed)
    np.subtract(coalitions, x, out=matrix[:, 1:])
    matrix[:, 1:] *= fitted / columns.scale
    found = columns.fit(worths, guess)
    most = min(MOST_COLUMNS, draws // DRAWS_PER_COLUMN)
    if not products or 1 + count + count * (count - 1) // 2 > most:
        return found
    second = columns.with_products().fit(worths, guess)
    return second if second.spread() < found.spread() else found
