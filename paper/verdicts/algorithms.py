"""Verdicts on what the paper says of its algorithms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import FloatArray
from paper.claims import CODE, WRONG, Claim, holds

# Low and high temperatures, in units of the worths' standard deviation.
SHORT, LONG = 1e-4, 1000.0


@dataclass(frozen=True)
class Swing:
    """Alg. 1 after 1000 steps: its last two x_1 and its error, and the errors of two solvers."""

    temperature: float
    before: float
    last: float
    error: float
    symmetric: float
    best: float

    @property
    def settled(self) -> bool:
        """Whether the last step moved nothing."""
        return abs(self.last - self.before) < 1e-6


def convergence(swings: list[Swing]) -> Claim:
    stuck = [each for each in swings if not each.settled]
    return Claim(
        "Sec. 4.2",
        "“one can easily show that x^k will converge to some stationary point”",
        "converges",
        f"settles at {len(swings) - len(stuck)} of {len(swings)} temperatures"
        + "".join(f"; T = {s.temperature:g}: {s.before:.3f}, {s.last:.3f}, …" for s in stuck),
        holds(not stuck, WRONG),
        "full-gradient steps without damping alternate between two points once T is low enough "
        "(F = 1[S ≠ ∅] − 0.2|S|, three players); coordinate steps and Anderson's method with a safeguard "
        "settle. When it happens: Beyond the paper",
    )


def full_gradient(
    sequential: FloatArray, together: FloatArray, symmetric: FloatArray, errors: FloatArray
) -> Claim:
    """Marginals of two equal players: by Alg. 2, by the last step of Alg. 1, and where equal ones settle.

    ``errors`` are those of the first and of the last of them.
    """
    kept, broken = float(np.ptp(together)), float(np.ptp(sequential))
    return Claim(
        "Sec. 4.2",
        "full-gradient steps are suggested since their values satisfy the axioms; sequential ones need not",
        "in words",
        f"two equal players: Alg. 1 keeps them {kept:.1g} apart, Alg. 2 {broken:.2g}",
        holds(kept < 1e-9 < broken),
        f"worths −20, 2, 2, 2 at T = 1: Alg. 2 settles at {sequential[0]:.5f}, {sequential[1]:.5f}, error "
        f"{errors[0]:.3f}, the symmetric solution is {symmetric[0]:.5f}, error {errors[1]:.3f}: the smallest "
        "decoupling error and symmetry exclude each other here; Alg. 1 alternates for ever",
    )


def stationary_only(fair: float, other: float) -> Claim:
    return Claim(
        "Sec. 4.2",
        "“one can only ensure reaching a stationary solution”, not the best conceivable error",
        "granted",
        f"Alg. 1 from ½ ends with an error of {fair:.3f}, from .99 with {other:.3f}",
        holds(fair > other + 1e-6),
        "F = 1[S = N] − 0.3|S|, three players, T = .05; `starts=8` finds the better one",
    )


def start_matters(one: float, many: float) -> Claim:
    """How far apart marginals are from two starts, at most: after one step, and after many."""
    return Claim(
        "Sec. 4.2",
        "after one step x⁰ matters greatly to the output, after many it is a stationary point",
        "in words",
        f"from .1 and .9: {one:.2g} apart after one step, {many:.1g} after 1000",
        holds(one > 0.1 and many < 1e-6),
        "marginals of random games at T = 3, high enough for a single stationary point; at low ones starts "
        "may end in several",
    )


def hot(spread: float, apart: float, banzhaf: float) -> Claim:
    return Claim(
        "Discussion, 1)",
        "as T → ∞ all players have equal importance",
        "equal",
        f"at T = {LONG:g} marginals are within {spread:.1g} of each other",
        holds(spread < 1e-2),
        "so the marginals x*; the index itself, T·logit x*, tends to Banzhaf's values, which are not "
        f"equal: within {apart:.1g} of them there, while they spread over {banzhaf:.2g}",
    )


def cold(undecided: float) -> Claim:
    return Claim(
        "Discussion, 1)",
        "as T → 0 a player has either 0 or 1 importance (assuming no ties)",
        "0 or 1",
        f"at T = {SHORT:g} the largest distance of a marginal from 0 or 1 is {undecided:.1g}",
        holds(undecided < 1e-2),
        "so the marginals; with ties the assumption is needed: F(1) = F(2) = 1, F(12) = 0 has x* = ½ at "
        "every T, a saddle",
    )


def hoeffding(missed: float, bound: float) -> Claim:
    return Claim(
        "Sec. 4.2",
        "with probability at least 1 − exp(−mε²/2) the mean of m draws is within ε·max|F(S+i)−F(S)|",
        f"misses ≤ {bound:.3f}",
        f"misses in {missed:.3f} of cases",
        holds(missed <= bound, WRONG),
        "F = 1[|S| = 1], two players, x = ½, m = 1, ε = .99: a contribution is 1 or −1, its mean 0. The "
        "two-sided bound is 1 − 2·exp(−mε²/2); `ff.samples_needed` has the factor 2",
    )


def one_shot(ours: int, banzhaf: int, error: float, fresh: float) -> Claim:
    return Claim(
        "App. F",
        "with the one-shot trick Alg. 1 costs as many evaluations as Banzhaf's value",
        "similar",
        f"{ours:,} evaluations for 10 steps, {banzhaf:,} for Banzhaf's value",
        holds(ours <= 1.1 * banzhaf),
        f"the price is variance, as the paper expects: mean squared error {error:.2g}, against {fresh:.2g} "
        "by the same number of evaluations with fairfield's default (FLID, 14 players, 3 seeds)",
    )


def index_without_temperature(plain: float, scaled: float, banzhaf: float) -> Claim:
    return Claim(
        "App. C, Alg. 2, and released code",
        "the variational index is s* = σ⁻¹(x*)",
        "σ⁻¹(x*)",
        f"one step gives {plain:.4f}, with the factor T {scaled:.4f}; Banzhaf's value is {banzhaf:.4f}",
        holds(abs(plain - banzhaf) < 1e-6, WRONG),
        "the paper's own definition, and its link to Banzhaf, has T·σ⁻¹(x*); without T the index is not in "
        "the units of the worths. Rankings do not change",
    )


def plain_sum(plain: float, shifted: float) -> Claim:
    return Claim(
        "released code",
        "log Z is the logarithm of a plain sum of exponentials",
        "finite",
        f"worths near 1000 at T = 1: {plain}; shifted by the largest {shifted:.4f}",
        holds(bool(np.isfinite(plain)), WRONG),
        "exp(F/T) overflows from F/T = 710 on; at the paper's worths and temperatures it does no harm",
        CODE,
    )
