"""Functions of SciPy, which is imported when one of them is first called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from fairfield.core.arrays import FloatArray


def expit(logits: ArrayLike) -> FloatArray:
    """σ(θ) = 1/(1 + exp(-θ)), to full relative accuracy on both sides."""
    from scipy.special import expit

    return np.asarray(expit(logits))


def logit(probability: ArrayLike) -> FloatArray:
    """log(p/(1 - p)), infinite at 0 and 1."""
    from scipy.special import logit

    return np.asarray(logit(probability))


def log_binomials(count: int) -> FloatArray:
    """log C(n, s) of all sizes s = 0 … n."""
    from scipy.special import gammaln

    size = np.arange(count + 1)
    return np.asarray(gammaln(count + 1) - gammaln(size + 1) - gammaln(count - size + 1))


def brentq(function: Callable[[float], float], low: float, high: float, xtol: float) -> float:
    """A root of the function between two points at which its signs differ."""
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=xtol))
