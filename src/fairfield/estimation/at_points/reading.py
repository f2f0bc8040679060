"""The extension of a game at any x, read off the draws of a pool.

Least squares over all draws, weighted for x. Players nearly always in or out are drawn so rarely
on the other side that least squares cannot fit them; their slopes come from pairs
F(S+i) - F(S), a draw and its flip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.estimation.at_points.draws import effective_size, log_law
from fairfield.estimation.at_points.pool import NEARLY_CERTAIN, Pool, is_rare
from fairfield.estimation.at_points.slopes import Slopes, slopes

# Of so many pairs and more the spread is known.
FEW_PAIRS = 3


@dataclass(frozen=True)
class Reading:
    """The extension of one game at x, as the pool has it.

    ``pairs`` (n,) counts the pairs that slopes come from, ``variances`` (n,) are the errors they
    show, and those of ∅ and N; ``repeated`` (m,) is how much more the noise of a worth weighs where its coalition
    counts more than once; ``thin`` are players whose slope rests on next to no draws, ``effective``
    is the number of draws at x itself that would serve as well; ``besides`` (m, n) is what each worth
    weighs in slopes that come from pairs, ∅ and N in all; ``twins`` (k, 2) are draws that were made together; ``oddest`` is
    what a coalition that was not seen may leave.
    """

    slopes: Slopes
    hessian: FloatArray
    pairs: FloatArray
    variances: FloatArray
    thin: BoolArray
    effective: float
    repeated: FloatArray
    besides: FloatArray
    twins: IntArray
    oddest: float = 0.0

    @property
    def weights(self) -> FloatArray:
        """What the worth of each coalition weighs in the gradient, (m, n)."""
        return self.slopes.columns.counts[:, None] * self.slopes.reach + self.besides

    @cached_property
    def beside(self) -> FloatArray:
        """The variance (n,) of slopes that come from pairs; of others, what the fit leaves out."""
        columns = self.slopes.columns
        # Draws and pairs that all agree say nothing of one not seen, which may be as odd as any.
        oddest = np.abs(self.slopes.residuals)
        unseen = oddest.max(initial=0.0) / (self.pairs + 1)
        beside = np.where(self.pairs > 0, np.maximum(self.variances, unseen**2), 0.0)
        near = oddest.max(initial=self.oddest, where=columns.counts > 0) / max(self.effective, 1.0)
        return np.where(columns.fitted, (near / columns.scale) ** 2 + self.variances, beside)

    def covariance(self) -> FloatArray:
        """The covariance of the gradient (n, n)."""
        noise = (self.slopes.reach.T * self.repeated) @ self.slopes.reach
        return self.slopes.covariance(self.twins) + np.diag(self.beside) + noise

    def spread(self) -> float:
        """Σ_i x_i(1-x_i) Var ĝ_i: what a choice between readings makes small."""
        x = self.slopes.columns.x
        return self.slopes.spread() + float(self.beside @ (x * (1 - x)))


@dataclass(frozen=True)
class Control:
    """A game G like the one drawn, whose extension is known: f = f_G + f_(F-G).

    ``left`` (m,) is F - G on the draws; where a coalition was seen only once, by what was fitted
    without it: one more draw of a coalition that was seen twice would be of one that G is fitted to.
    ``oddest`` is the largest that was ever left so, as one that is not seen yet may be.
    """

    left: FloatArray
    oddest: float
    extension: Extension


def read(
    pool: Pool,
    x: FloatArray,
    game: int = 0,
    guess: FloatArray | None = None,
    control: Control | None = None,
) -> Reading:
    """The extension of a game at x; ``guess`` serves for slopes that no draw shows.

    With a ``control`` only what it leaves of the worths is read from the draws.
    """
    guess = np.zeros(pool.players) if guess is None else guess
    if control is None:
        return _read(pool, x, pool.worths[game], game, guess)
    game_of = control.extension
    value, gradient, hessian = game_of.value(x), game_of.gradient(x), game_of.hessian(x)
    found = _read(pool, x, control.left, game, guess - gradient)
    both = found.slopes.value + value, found.slopes.gradient + gradient
    own = replace(found.slopes, value=both[0], gradient=both[1])
    more = found.hessian + hessian
    return replace(found, slopes=own, hessian=more, oddest=control.oddest)


def _read(pool: Pool, x: FloatArray, worths: FloatArray, game: int, guess: FloatArray) -> Reading:
    # ∅ and N are known, and no matter of the luck of draws: they may be unlike all others.
    weights, ends, counts = pool.weights(x), np.flatnonzero(pool.ends), pool.counts.copy()
    counts[ends] = 0.0
    effective = effective_size(weights, counts)
    rare = is_rare(x, effective)
    known, variances, pairs, crossed, besides = _from_pairs(pool, x, worths, game, rare)
    thin = np.isnan(known) & (rare | (effective < 2 * pool.players))
    found = slopes(
        pool.inside,
        worths,
        x,
        weights=weights,
        counts=counts,
        guess=np.where(thin, guess, np.nan),
        known=known,
    )
    fitted, scale = found.columns.fitted, found.columns.scale
    hessian = np.where(fitted[:, None] & fitted, found.curvature() / np.outer(scale, scale), 0.0)
    left, steps = found.left[ends], found.columns.matrix[ends, 1:][:, : len(x)] / scale
    found, gained = found.beside(ends, np.exp(log_law(pool.inside[ends], x)))
    both = (left[:, None] * gained).T @ steps
    hessian = hessian + both - np.diag(np.diagonal(both))
    besides[ends] += gained
    variances = variances + pool.noise[game, ends] @ gained**2
    # Residuals measure noise as if every draw had its own.
    repeated = pool.noise[game] * (counts**2 - counts)
    twins = pool.twins[(counts[pool.twins] > 0).all(axis=1)]
    facts = pairs, variances, thin, effective, repeated, besides, twins
    return Reading(found, hessian + crossed, *facts)


def _from_pairs(
    pool: Pool, x: FloatArray, worths: FloatArray, game: int, rare: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Slopes of rare players, NaN elsewhere; their variances, numbers of pairs, ∂_ij f and weights."""
    count = pool.players
    known = np.full(count, np.nan)
    variances, sizes = np.zeros(count), np.zeros(count)
    crossed, besides = np.zeros((count, count)), np.zeros((len(worths), count))
    own, errors = pool.pairs[pool.pairs[:, 0] == game], pool.noise[game]
    certain = np.minimum(x, 1 - x) < NEARLY_CERTAIN
    spread = np.where(certain, 1.0, x * (1 - x))
    for i in np.flatnonzero(rare):
        _, _, inside, outside, laws = own[own[:, 1] == i].T
        if len(laws) < FEW_PAIRS:
            continue
        others = np.arange(count) != i
        own_laws, times = np.unique(laws, return_counts=True)
        points, shares = pool.points[own_laws][:, others], times / len(laws)
        rows = pool.coalitions[inside][:, others]
        mixture = np.logaddexp.reduce(log_law(rows, points) + np.log(shares)[:, None], axis=0)
        weights = np.exp(log_law(rows, x[others]) - mixture)
        total, size = weights.sum(), effective_size(weights, np.ones(len(weights)))
        if size < FEW_PAIRS:
            continue
        gains = worths[inside] - worths[outside]
        known[i] = weights @ gains / total
        apart = weights * (gains - known[i]) / total
        variances[i], sizes[i] = apart @ apart * size / (size - 1), size
        for side, sign in ((inside, 1), (outside, -1)):
            # Pairs that share a coalition share its noise.
            together = np.bincount(side, weights / total, len(worths))
            besides[:, i] += sign * together
            variances[i] += errors @ together**2 - errors[side] @ (weights / total) ** 2
        columns = np.where(certain[others], 0.0, (rows - x[others]) / spread[others])
        moments = apart @ columns
        noise = (apart**2 @ columns**2).sum()
        kept = max(0.0, 1 - noise / (moments @ moments)) if moments.any() else 0.0
        crossed[i, others] = crossed[others, i] = kept * moments
    return known, variances, sizes, crossed, besides
