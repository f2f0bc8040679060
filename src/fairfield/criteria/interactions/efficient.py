"""Interactions of all sizes up to an order that add up to F(N) - F(∅): k-SII, Shapley–Taylor."""

from __future__ import annotations

import numpy as np

from fairfield.core.extension import legendre, taylor
from fairfield.core.special import bernoulli
from fairfield.criteria.interactions.criterion import register
from fairfield.criteria.interactions.diagonal import Diagonal, Rule, joined


@register
class AggregatedShapley(Diagonal):
    """Σ_{|A∪B|≤k} B_|B| SII(A∪B), with Bernoulli's numbers: k-SII.

    SII summed over the B of one size is ∫ g^(b)/b!, so its sum is Euler and Maclaurin's:
    ∫ g + Σ_b B_b/b! [g^(b-1)(1) - g^(b-1)(0)]. Bordt, von Luxburg, AISTATS 2023.
    """

    name = "k_sii"
    meaning = "Shapley's interactions, less what larger coalitions among them count again."
    every_size = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        numbers = bernoulli(order - size)
        parts = [legendre(degree)]
        if size < order:
            # Values at the ends are read there, slopes from points between them.
            parts.append((np.array([0.0, 1.0]), numbers[1] * np.array([-1.0, 1.0])))
        for b in range(2, len(numbers), 2):
            at, start = taylor(degree, 0.0, b - 1)
            parts.append((at, numbers[b] / b * (taylor(degree, 1.0, b - 1)[1] - start)))
        return joined(parts)


@register
class ShapleyTaylor(Diagonal):
    """k ∫ (1-t)^(k-1) g(t) dt for coalitions of k players, g(0) for smaller ones.

    Sundararajan, Dhamdhere, Agarwal, ICML 2020.
    """

    name = "stii"
    meaning = (
        "What players add in a random order: by themselves when alone, up to the order; "
        "all the rest is shared among coalitions of that order."
    )
    every_size = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        if size < order:
            return np.zeros(1), np.ones(1)
        at, shares = legendre(degree + order - 1)
        return at, shares * order * (1 - at) ** (order - 1)
