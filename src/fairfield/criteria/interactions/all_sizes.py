"""Interactions of all sizes up to an order.

Dividends, and what sums them up: k-SII, Shapley–Taylor and FSII add up to F(N) - F(∅); FSII and
FBII are the polynomial Σ_{|A|≤k} I(A) Π_{i∈A} z_i nearest to F in weighted squares of all
coalitions (Tsai, Yeh, Ravikumar, JMLR 2023).
"""

from __future__ import annotations

from math import comb, factorial

import numpy as np
from numpy.polynomial import Polynomial

from fairfield.core.arrays import FloatArray
from fairfield.core.extension import Extension, legendre, taylor
from fairfield.criteria.interactions.criterion import register
from fairfield.criteria.interactions.diagonal import Diagonal, Rule


@register
class Dividends(Diagonal):
    """g(0) = Σ_{B⊆A} (-1)^|A∖B| F(B)."""

    name = "moebius"
    meaning = "What the players add together when nobody else is there: Harsanyi's dividend."
    every_size = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        return np.zeros(1), np.ones(1)


@register
class AggregatedShapley(Diagonal):
    """Σ_{|A∪B|≤k} B_|B| SII(A∪B), with Bernoulli's numbers: k-SII.

    SII summed over the B of one size is ∫ g^(b)/b!, so its sum is Euler and Maclaurin's:
    ∫ g + Σ_b B_b/b! [g^(b-1)(1) - g^(b-1)(0)]. Bordt, von Luxburg, AISTATS 2023.
    """

    name = "k_sii"
    meaning = "Shapley's interactions, less what larger coalitions among them count again."
    every_size = True
    adds_up = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        from scipy.special import bernoulli

        if size == order:
            return legendre(degree)
        at, shares = legendre(2 * degree)
        for b, number in enumerate(bernoulli(order - size)[1:], start=1):
            ends = taylor(degree, 1.0, b - 1)[1] - taylor(degree, 0.0, b - 1)[1]
            shares = shares + number / b * ends
        return at, shares


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
    adds_up = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        if size < order:
            return np.zeros(1), np.ones(1)
        at, shares = legendre(degree + order - 1)
        return at, shares * order * (1 - at) ** (order - 1)


@register
class FaithfulShapley(Diagonal):
    """∫ w(t) g(t) dt, for coalitions of k players with the Beta(k, k) density: FSII.

    The weights are Shapley's kernel, which binds the fit to F(∅) and F(N). In dividends of the
    coalitions S ⊇ A, with a = |A| and s = |S|, it is Σ_S c(s) times them, where

        c(s) = (-1)^(k-a) a C(k,a) (k+a-1)!/k! · (s-1)!/(s+k-1)! · Π_{a<j≤k} (s-j),

    which is ∫ w(t) t^(s-a) dt with w(t) ∝ t⁻¹ (d/dt)^(k-a) t^k (1-t)^(k-1).
    """

    name = "fsii"
    meaning = "The polynomial of the given order nearest to the worths, in Shapley's weights."
    every_size = True
    adds_up = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        scale = size * comb(order, size) * factorial(order + size - 1)
        # t^k (1-t)^(k-1), differentiated, without the factor t that all its terms have.
        kernel = Polynomial([0, 1]) ** order * Polynomial([1, -1]) ** (order - 1)
        density = Polynomial(kernel.deriv(order - size).coef[1:])
        at, shares = legendre(degree + order + size - 2)
        return at, shares * density(at) * scale / (factorial(order) * factorial(order - 1))


@register
class FaithfulBanzhaf(Diagonal):
    """Σ_{b≤k-a} (-½)^b g^(b)(½)/b!: FBII.

    All coalitions weigh alike, so the fit is f's Taylor polynomial about ½, sorted by its powers
    of z. Its constant is not F(∅).
    """

    name = "fbii"
    meaning = "The polynomial of the given order nearest to the worths, all coalitions alike."
    every_size = True

    def rule(self, size: int, order: int, degree: int) -> Rule:
        if size == order:
            return np.array([0.5]), np.ones(1)
        slopes = [(-0.5) ** b * taylor(degree, 0.5, b)[1] for b in range(order - size + 1)]
        return legendre(2 * degree)[0], np.sum(slopes, axis=0)

    def baseline(self, extension: Extension, order: int) -> FloatArray:
        at, shares = self.rule(0, order, extension.degree)
        points = [np.full(extension.players, t) for t in at]
        return np.asarray(sum(w * extension.value(x) for x, w in zip(points, shares, strict=True)))
