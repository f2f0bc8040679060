"""What the worths of some coalitions leave of a prior over games.

F = Σ_k v_k (a random game of kernel k) + noise; the shares v and the noise are those under which the
worths are likeliest, less Σ v_k/large_k, so that kernels that explain nothing get nothing. The
mean of what is left is Σ_j α_j k(·, S_j), a game with a closed form: each criterion reads it
(``mean_game.py``), and the variances of linear readings are known as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.prior.kernels import Alike, Kernel, Products, kernels

# Coalitions that the shares are chosen on, and that the posterior uses at most: m of them cost O(m³).
CHOOSING, FITTED = 400, 2000
# The prior variance of the mean worth, in units of the variance of the worths.
COMMON = 100.0
# Logarithms of the smallest and largest share of a kernel, and of the noise.
SHARES, NOISE = (-16.0, 7.0), (-25.0, 1.0)
# What keeps matrices regular.
ROUNDING = 1e-11
STEPS = 200
# Digits of worths, in units of their spread, from which shares are chosen.
DIGITS = 9
# Minus the log-likelihood of what cannot be computed.
UNLIKELY = 1e30
# Shares by which interactions may be larger than is likeliest, and how much less likely that may be.
WIDER, UNDECIDED = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001), 2.0
# Coalitions whose worths are predicted at a time, for the sake of memory.
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Factor:
    """The Cholesky factor of a covariance of worths (m, m), by which equations are solved.

    Where games are smooth a covariance has next to no rank: a product with its inverse does not even
    reproduce the worths, while what is solved for does.
    """

    lower: FloatArray

    @classmethod
    def of(cls, total: FloatArray) -> Factor:
        """That of a covariance, or of one a little larger if rounding leaves no factor."""
        more = 0.0
        while True:
            try:
                found = np.linalg.cholesky(total + more * np.eye(len(total)))
                return cls(np.asarray(found, dtype=float))
            except np.linalg.LinAlgError:
                more = max(10 * more, ROUNDING * float(np.diagonal(total).max()))

    def solve(self, right: FloatArray) -> FloatArray:
        """The product of the inverse and ``right`` (m, k)."""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve((self.lower, True), right))

    @cached_property
    def inverse(self) -> FloatArray:
        """The inverse (m, m), for the sake of its diagonal."""
        return self.solve(np.eye(len(self.lower)))


@dataclass(frozen=True)
class Posterior:
    """The games that some worths leave possible, for each game of a batch.

    ``shares`` (k,) are those of the kernels; ``alpha`` (games, m) are the weights of sections in
    units of ``scale`` (games,), ``factor`` is that of the covariance of the worths.
    Errors are those of ``wide``, the shares
    with as many more interactions as the worths do not speak against, and of its factor.
    """

    coalitions: BoolArray
    kernels: Sequence[Kernel]
    shares: FloatArray
    factor: Factor
    alpha: FloatArray
    centre: FloatArray
    scale: FloatArray
    wide: FloatArray
    wide_factor: Factor

    @property
    def inverse(self) -> FloatArray:
        """The inverse (m, m) of the covariance of the worths."""
        return self.factor.inverse

    def predict(self, coalitions: BoolArray) -> FloatArray:
        """The worths of coalitions (k, n) in the mean game, (games, k)."""
        parts = []
        for start in range(0, len(coalitions), AT_ONCE):
            alike = Alike.of(self.coalitions, coalitions[start : start + AT_ONCE])
            grams = [kernel.gram(alike) for kernel in self.kernels]
            parts.append(self.alpha @ total(grams, self.shares))
        return np.asarray(self.centre[:, None] + self.scale[:, None] * np.concatenate(parts, 1))


def posterior(
    coalitions: BoolArray,
    worths: FloatArray,
    noise: FloatArray | None = None,
    *,
    anywhere: bool = False,
) -> Posterior:
    """The posterior given worths (games, m) of coalitions (m, n), or of the first that can be afforded.

    ``noise`` (games, m) are the variances of noisy worths. The shares serve all games of a batch.
    """
    coalitions, worths = coalitions[:FITTED], worths[:, :FITTED]
    centre = np.median(worths, axis=1)
    scale = np.std(worths, axis=1)
    scale = np.where(scale > 0, scale, 1.0)
    seen = (worths - centre[:, None]) / scale[:, None]
    own = np.zeros(len(coalitions))
    if noise is not None:
        own = np.mean(noise[:, :FITTED] / scale[:, None] ** 2, axis=0)
    count = coalitions.shape[1]
    found = kernels(count, 0 if anywhere else len(coalitions))
    alike = Alike.of(coalitions, coalitions)
    some = np.unique(np.linspace(0, len(coalitions) - 1, CHOOSING).astype(int))
    grams = [kernel.gram(alike) for kernel in found]
    evidence = Evidence(
        [gram[np.ix_(some, some)] for gram in grams],
        np.array([*(kernel.large for kernel in found), 1.0]),
        *_alike(seen[:, some]),
        own[some],
    )
    shares = evidence.likeliest()
    sizes = coalitions[some].sum(axis=1)
    # Coalitions of nearly none or nearly all say little of interactions among the others.
    middle = evidence.of((sizes > 1) & (sizes < count - 1))
    wide = middle.widest(shares, np.array([isinstance(each, Products) for each in found]))
    unexplained = np.diag(shares[-1] + own + ROUNDING)
    factor, wider = (Factor.of(total(grams, each[:-1]) + unexplained) for each in (shares, wide))
    return Posterior(
        coalitions,
        found,
        shares[:-1],
        factor,
        factor.solve(seen.T).T,
        centre,
        scale,
        wide[:-1],
        wider,
    )


def _alike(seen: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Different games (k, m), and the share of each in a batch, but for rounding and signs.

    So games that differ in scale alone have the shares of one of them, to the last bit.
    """
    rounded = np.round(seen, DIGITS)
    first = np.take_along_axis(rounded, np.argmax(rounded != 0, axis=1)[:, None], axis=1)
    found, times = np.unique(np.where(first < 0, -rounded, rounded), axis=0, return_counts=True)
    return found, times / len(seen)


def without_own(alpha: FloatArray, inverse: FloatArray, twins: IntArray) -> FloatArray:
    """What predictions of worths (…, m) leave that are made without each, and without its ``twins`` (m,).

    ``alpha`` are the worths times the ``inverse`` of their covariance.
    """
    own = np.diagonal(inverse)
    cross = np.where(twins == np.arange(len(twins)), 0.0, inverse[np.arange(len(twins)), twins])
    whole = own * own[twins] - cross**2
    return np.asarray((own[twins] * alpha - cross * alpha[..., twins]) / whole)


def total(grams: Sequence[FloatArray], shares: FloatArray) -> FloatArray:
    """COMMON + Σ_k v_k K_k."""
    found = np.full_like(grams[0], COMMON)
    for gram, share in zip(grams, shares, strict=True):
        found += share * gram
    return found


def inverted(covariance: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """The Cholesky factor of a covariance and the inverse, if there is one: half the work of inverting alone."""
    from scipy.linalg.lapack import dpotrf, dpotri

    if not len(covariance):
        return covariance, covariance
    root, failed = dpotrf(covariance, clean=0)
    if failed:
        return root, None
    upper = np.triu(dpotri(root)[0])
    return root, upper + np.triu(upper, 1).T


@dataclass(frozen=True)
class Evidence:
    """How likely worths (games, m) are under shares of kernels (k,) and of noise, the last.

    The games have ``weights`` (games,), which sum to 1.
    """

    grams: Sequence[FloatArray]
    large: FloatArray
    seen: FloatArray
    weights: FloatArray
    noise: FloatArray

    def of(self, some: BoolArray) -> Evidence:
        """That of some of the coalitions."""
        grams = [gram[np.ix_(some, some)] for gram in self.grams]
        return Evidence(grams, self.large, self.seen[:, some], self.weights, self.noise[some])

    def against(self, shares: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log-likelihood, less the log of a prior of the shares; and its slopes."""
        covariance = total(self.grams, shares[:-1])
        covariance[np.diag_indices_from(covariance)] += shares[-1] + self.noise + ROUNDING
        root, inverse = inverted(covariance)
        if inverse is None:  # too little noise for the digits of the worths
            return UNLIKELY, np.zeros_like(shares)
        alpha = self.seen @ inverse
        weighted = self.weights[:, None] * alpha
        height = np.vdot(self.seen, weighted) / 2 + np.log(np.diagonal(root)).sum()
        slope = inverse - alpha.T @ weighted
        moments = np.array([*(np.vdot(slope, gram) for gram in self.grams), np.trace(slope)])
        return height + float(np.sum(shares / self.large)), moments / 2 + 1 / self.large

    def likeliest(self) -> FloatArray:
        """The shares, by quasi-Newton steps in their logarithms."""
        from scipy.optimize import minimize

        def against(logs: FloatArray) -> tuple[float, FloatArray]:
            height, slopes = self.against(np.exp(logs))
            return height, slopes * np.exp(logs)

        start = np.log(np.append(0.1 * self.large[:-1], 1e-3))
        bounds = [*([SHARES] * len(self.grams)), NOISE]
        limit = {"maxiter": STEPS}
        best = minimize(against, start, jac=True, method="L-BFGS-B", bounds=bounds, options=limit)
        return np.where(best.x > SHARES[0] + 1, np.exp(best.x), 0.0)

    def widest(self, shares: FloatArray, which: BoolArray) -> FloatArray:
        """The shares with as much more of some kernels as the worths do not speak against."""
        height = self.against(shares)[0]
        for more in WIDER:
            wide = shares.copy()
            wide[:-1] += more * which / which.sum()
            if self.against(wide)[0] <= height + UNDECIDED:
                return wide
        return shares
