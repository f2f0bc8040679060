"""Verdicts on the paper's statements and proofs."""

from __future__ import annotations

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import WRONG, Claim, holds

EXACT = 1e-9
VOTING = ([3 / 4, 1 / 4, 1 / 4], [4 / 6, 1 / 6, 1 / 6])


def maximum_entropy(above: float, slope: float, rate: float) -> Claim:
    return Claim(
        "App. A",
        "p(S) ∝ exp(F(S)/T) has the largest entropy of all laws with its mean payoff; 1/T = −∂H/∂μ",
        "derived",
        f"other laws have at most {above:+.1g} more; −∂H/∂μ is {slope:.6f}, 1/T is {rate:.6f}",
        holds(above <= 0 and abs(slope - rate) < 1e-4),
        "100 random laws near p with the same mean worth; the slope by a difference quotient",
    )


def positive_temperature(
    rates: FloatArray, least: float, low: float, mean: float, most: float
) -> Claim:
    """1/T at average payoffs from the mean worth of all coalitions up to the largest worth.

    ``least`` is the smallest average payoff of a law that grows with the payoff, ``low`` is 1/T
    at one a little below the mean worth.
    """
    return Claim(
        "Sec. 1",
        "p(S) is to grow with the payoff F(S); with the average payoff known as μ, the law has a temperature T > 0",
        "T > 0",
        f"1/T from {rates.min():.3g} to {rates.max():.3g} at {len(rates)} μ that laws which grow with the payoff can have",
        holds(bool(rates.min() > 0 and least > mean - EXACT)),
        "such laws are mixtures of uniform ones on the best k coalitions, whose average payoffs are "
        f"{least:.3g} to {most:.3g}; the mean worth of all coalitions is {mean:.3g}. For a μ a little below it, which none of them has, "
        f"1/T is {low:.3g}: the derivation of App. A allows T < 0 as well, where bad coalitions are likelier than good ones",
    )  # fmt: skip


def independent(error: float) -> Claim:
    return Claim(
        "Def. 1",
        "for players that are independent the best conceivable decoupling error could be zero",
        "0",
        f"{abs(error):.1g} for an additive game",
        holds(abs(error) < EXACT),
    )


def elbo(bound: float, entropy: float, expected: float) -> Claim:
    """How far log Z − ELBO is from KL(q‖p), ∇H from log((1 − x)/x), ∇f from mean contributions."""
    return Claim(
        "Sec. 4.1 and 4.2, App. F",
        "log Z − ELBO = KL(q‖p) ≥ 0; ∇H = log((1 − x)/x); ∇f is the mean contribution under q",
        "derived",
        f"largest differences {bound:.1g}, {entropy:.1g}, {expected:.1g}",
        holds(max(bound, entropy, expected) < 1e-6),
        "at a random x; sums over all coalitions, ∇H by a difference quotient",
    )


def equilibrium(residual: float) -> Claim:
    return Claim(
        "Sec. 4.2",
        "the equilibrium condition x* = σ(∇f(x*)/T)",
        "derived",
        f"largest residual {residual:.1g}, where no single change lowers the error",
        holds(residual < EXACT),
    )


def one_step(apart: float) -> Claim:
    return Claim(
        "Sec. 4.3",
        "the 1-step variational value from ½ is Banzhaf's value",
        "equal",
        f"largest difference {apart:.1g}",
        holds(apart < EXACT),
    )


def line_integral(single: float, pairs: float) -> Claim:
    return Claim(
        "Sec. 4.3, App. D",
        "Shapley's value, and Shapley's interaction of any coalition, is an integral along the diagonal",
        "equal",
        f"largest difference {single:.1g}, of pairs {pairs:.1g}",
        holds(max(single, pairs) < EXACT),
    )


def less_weight(weights: FloatArray) -> Claim:
    middle = weights[len(weights) // 2]
    return Claim(
        "Sec. 2",
        "Shapley gives less weight to n/2-sized coalitions",
        "less",
        f"weight {middle:.2g} at n/2, {weights.max():.2g} at the ends (n = {len(weights)})",
        holds(bool(middle <= weights.min() and middle < weights.max())),
    )


def probabilistic(apart: float) -> Claim:
    return Claim(
        "Sec. 4.3",
        "the 1-step value from any x is a probabilistic value, p^i(S) = q(S; x with x_i = 0)",
        "equal",
        f"largest difference {apart:.1g} (`ff.probabilistic_value`)",
        holds(apart < EXACT),
    )


def axioms(violation: float) -> Claim:
    return Claim(
        "Theorem 1",
        "from a uniform start all K-step values satisfy null player, marginalism and symmetry",
        "satisfied",
        f"K = 1 to 5: largest violation {violation:.1g}",
        holds(violation < EXACT),
    )


def additive(one: float, two: float) -> Claim:
    return Claim(
        "Sec. 4.4",
        "the 1-step value from ½ also satisfies additivity",
        "satisfied",
        f"violation {one:.1g}; of two steps {two:.2g}",
        holds(one < EXACT),
    )


def own_marginalism(one: float, two: float) -> Claim:
    return Claim(
        "App. B, remark",
        "marginalism “requires a player's payoffs to depend only on his own marginal contributions”",
        "required",
        f"others' contributions changed: the 1-step value moves by {one:.1g}, the 2-step value by {two:.2g}",
        holds(two < EXACT),
        "this is Young's axiom, which the remark cites; the paper's own definition asks less, that all "
        "players' contributions be the same, and only that holds beyond one step",
    )


def proof_of_symmetry(printed: float, corrected: float) -> Claim:
    return Claim(
        "App. E, proof of Theorem 1",
        "the value of i′ is the sum with Π over j′ ∈ N − S′ − i",
        "printed",
        f"so computed it is {printed:.2g} off; with N − S′ − i′ {corrected:.1g}",
        holds(printed < EXACT, WRONG),
        "a slip in the second equation of the proof, where i′ must stand for i; the proof is right with it",
    )


def voting_game(found: FloatArray) -> Claim:
    return Claim(
        "App. F",
        "weights 2, 1, 1, quota 3: Banzhaf's values follow the flips 3 : 1 : 1, Shapley's do not",
        "3/4, 1/4, 1/4; 4/6, 1/6, 1/6",
        "; ".join(", ".join(f"{v:.4f}" for v in values) for values in found),
        holds(bool(np.abs(found - np.array(VOTING)).max() < EXACT)),
    )
