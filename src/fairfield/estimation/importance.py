"""log Z from draws that were made for something else: importance sampling.

    Z = Σ_S exp(E(S)) = E[exp(E(S))/q(S)],   S drawn from q

E is F/T plus the log prior, q any law that the draws have. Each draw is one worth, where
annealing needs those of all neighbours at every step. But where q is far from p a few draws
decide, Z comes out too small and its error too; their effective number says so. A mode that q
never draws is missed unseen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray
from fairfield.estimation.pool import effective_size

# From fewer effective draws neither log Z nor its error is to be trusted.
FEW_EFFECTIVE = 100


@dataclass(frozen=True)
class Weighed:
    """log Z, what each draw adds to its error (m,), and how many draws of p tell as much."""

    log_z: float
    shifts: FloatArray
    effective: float


def weighed(logs: FloatArray, counts: FloatArray) -> Weighed:
    """log Z from E - log q (m,) of coalitions that were drawn so many times (m,)."""
    top = float(np.max(logs, initial=-np.inf, where=counts > 0))
    weights = np.where(counts > 0, np.exp(np.minimum(logs - top, 0.0)), 0.0)
    draws = counts.sum()
    mean = float(counts @ weights / draws)
    shifts = (weights / mean - 1) / draws
    return Weighed(top + float(np.log(mean)), shifts, effective_size(weights, counts))
