"""The noise of answers: how far those for the same coalition differ, pooled over coalitions.

A few answers for each of a few coalitions say little of the noise of any one of them: two
answers leave one degree of freedom, and values in which a few coalitions weigh most then have
errors that are too small too often. So the variance of each is drawn towards that of all,

    v_S = v + b_S (s_S² - v),   b_S = τ²/(τ² + 2 (τ² + v²)/d_S),

with s_S² the variance among the d_S + 1 answers for S, v their mean and τ² the variance of
the true ones over coalitions, by its moments (linear Bayes). Where all are equally noisy, τ² is
near 0 and all answers tell of every coalition; one with a single answer has the noise of all. A
variance s_S² beyond what one in ten would have by chance stays as it is: were F(N), which weighs
most, noisier than the rest, its noise must not be shared out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairfield.core.arrays import FloatArray

# The chance of a variance that is not drawn towards the others.
OUTSTANDING = 0.1


def variances_of(answers: Sequence[Sequence[float]]) -> FloatArray:
    """The variance of one answer for each coalition; 0 where no coalition has two.

    >>> variances_of([[1.0, 3.0], [0.0, 2.0], [5.0]])
    array([2., 2., 2.])
    """
    own = np.array([np.var(each, ddof=1) if len(each) > 1 else 0.0 for each in answers])
    return pooled(own, np.array([len(each) - 1 for each in answers], dtype=float))


def pooled(own: FloatArray, free: FloatArray) -> FloatArray:
    """Variances (m,) with so many degrees of freedom (m,), drawn towards that of all."""
    from scipy.special import chdtri

    several = free > 0
    if not several.any():
        return np.zeros(len(own))
    d, s = free[several], own[several]
    mean = float(d @ s / d.sum())
    # E[s⁴] = (1 + 2/d) E[σ⁴]; what that exceeds mean² by is due to different noise, or to chance.
    fourth = float(d @ (s**2 / (1 + 2 / d)) / d.sum())
    spread = max(0.0, fourth - mean**2)
    trust = np.zeros(len(own))
    if spread > 0:
        trust[several] = spread / (spread + 2 * (spread + mean**2) / d)
    drawn = mean + trust * (own - mean)
    free = np.maximum(free, 1.0)
    return np.where(own > mean * chdtri(free, OUTSTANDING) / free, own, drawn)
