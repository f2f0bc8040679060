"""What the paper states and proves, checked on small games; what is wrong, with the game."""

from __future__ import annotations

from functools import partial

import numpy as np

import fairfield as ff
from fairfield.core.arrays import BoolArray, FloatArray
from paper.claims import DIFFERS, REPRODUCED, WRONG, Claim, Finding
from paper.registry import experiment
from paper.run import Run

EXACT = 1e-9


@experiment("statements", "What the paper states and proves, checked on small games.", place=1)
def find(run: Run) -> Finding:
    """The paper's statements one by one; seconds."""
    game = ff.TableGame(np.random.default_rng(run.seed).normal(size=2**8))
    return Finding(
        "statements",
        "Statements and proofs",
        "small games: a random one of 8 players, and the smallest ones we know that show what is "
        "wrong",
        [
            _one_step(game),
            _line_integral(game),
            _axioms(game),
            _own_marginalism(game),
            _voting(),
            _cycle(),
            _equal_players(),
            _best_conceivable(),
            _high_temperature(game),
            _hoeffding(),
            _without_temperature(run),
            _overflow(),
        ],
    )


def _verdict(holds: bool) -> str:
    return REPRODUCED if holds else DIFFERS


def _one_step(game: ff.TableGame) -> Claim:
    step = ff.variational_values(game, 1, temperature=0.3)
    apart = float(np.abs(step.values - ff.banzhaf(game).values).max())
    return Claim(
        "Sec. 4.3",
        "the 1-step variational value from ½ is Banzhaf's value",
        "equal",
        f"largest difference {apart:.1g}",
        _verdict(apart < EXACT),
    )


def _line_integral(game: ff.TableGame) -> Claim:
    """∫ ∇f(t, …, t) dt by Gauss and Legendre, exact for a polynomial of degree n - 1."""
    count = len(game.players)
    nodes, weights = np.polynomial.legendre.leggauss((count + 1) // 2)
    slopes = [
        ff.variational_values(game, 1, start=(t + 1) / 2, temperature=0.3).values for t in nodes
    ]
    apart = float(np.abs(weights @ np.array(slopes) / 2 - ff.shapley(game).values).max())
    return Claim(
        "Sec. 4.3",
        "Shapley's value is the integral of 1-step values along the diagonal",
        "equal",
        f"largest difference {apart:.1g}",
        _verdict(apart < EXACT),
    )


def _axioms(game: ff.TableGame) -> Claim:
    worst = max(
        check(partial(ff.variational_values, steps=steps, temperature=1.0), game).violation
        for steps in range(1, 6)
        for check in (ff.axioms.null_player, ff.axioms.symmetry, ff.axioms.marginalism)
    )
    return Claim(
        "Theorem 1",
        "from a uniform start all K-step values satisfy null player, symmetry and marginalism (as "
        "defined there)",
        "satisfied",
        f"K = 1 to 5, T = 1: largest violation {worst:.1g}",
        _verdict(worst < EXACT),
    )


def _own_marginalism(game: ff.TableGame) -> Claim:
    found = [
        ff.axioms.marginalism(
            partial(ff.variational_values, steps=steps, temperature=1.0), game, own=True
        ).violation
        for steps in (1, 2)
    ]
    return Claim(
        "App. B, remark",
        "the axiom “requires a player's payoffs to depend only on his own marginal contributions”",
        "satisfied",
        f"a player's own contributions kept, others changed: its K-step value moves by {found[0]:.1g} "
        f"(K = 1), {found[1]:.3g} (K = 2)",
        DIFFERS if found[1] > EXACT else REPRODUCED,
        "this is Young's axiom, which the remark cites; the paper's own definition asks less, that all "
        "players' contributions be the same, and only that holds beyond one step",
    )


def _voting() -> Claim:
    game = ff.FunctionGame(lambda S: S @ np.array([2, 1, 1]) >= 3, 3)
    both = [v(game).values for v in (ff.banzhaf, ff.shapley)]
    exact = [[3 / 4, 1 / 4, 1 / 4], [4 / 6, 1 / 6, 1 / 6]]
    return Claim(
        "App. F",
        "the voting game of weights 2, 1, 1 and quota 3: Banzhaf and Shapley",
        "3/4, 1/4, 1/4 and 4/6, 1/6, 1/6",
        " and ".join(", ".join(f"{v:.4f}" for v in values) for values in both),
        _verdict(bool(np.abs(np.array(both) - exact).max() < EXACT)),
    )


def _cycle() -> Claim:
    """Any member will do, members cost: Alg. 1 swings between too many and too few."""
    game = ff.FunctionGame(lambda S: S.any(axis=1) - 0.2 * S.sum(axis=1), 3)
    parts = []
    for temperature in (0.3, 0.2, 0.05):
        steps = ff.variational_values(game, 1000, temperature=temperature)
        assert steps.trajectory is not None
        last, before = steps.trajectory[-1, 0], steps.trajectory[-2, 0]
        index = ff.variational_index(game, temperature=temperature)
        best = ff.variational_index(game, temperature=temperature, starts=8)
        parts.append(
            f"T = {temperature}: x = {before:.3f}, then {last:.3f}"
            + (
                f" (error {steps.decoupling_error:.3f}; the symmetric solution has "
                f"{index.decoupling_error:.3f}, the best found {best.decoupling_error:.3f})"
                if abs(last - before) > 1e-6
                else f" (settled, error {steps.decoupling_error:.3f})"
            )
        )
    return Claim(
        "Sec. 4.2",
        "“one can easily show that x^k will converge to some stationary point”",
        "converges",
        "F = 1[S ≠ ∅] − 0.2|S|, n = 3, after 1000 steps: " + "; ".join(parts),
        WRONG,
        "full-gradient steps without damping alternate between two points once T is low enough",
    )


def _equal_players() -> Claim:
    game = ff.TableGame([-20.0, 2.0, 2.0, 2.0])
    steps = ff.variational_values(game, 1000, temperature=1.0)
    assert steps.trajectory is not None
    sequential = ff.variational_index(game, temperature=1.0, solver="coordinate")
    even = ff.variational_index(game, temperature=1.0)
    assert sequential.marginals is not None
    assert even.marginals is not None
    return Claim(
        "App. C, Alg. 2",
        "the naive mean field algorithm calculates the variational index, as Alg. 1 does",
        "the same index",
        f"worths −20, 2, 2, 2 at T = 1: Alg. 1 alternates {steps.trajectory[-2, 0]:.5f}, "
        f"{steps.trajectory[-1, 0]:.5f}; Alg. 2 settles at {sequential.marginals[0]:.5f}, "
        f"{sequential.marginals[1]:.5f} (error {sequential.decoupling_error:.3f}); the symmetric "
        f"solution is {even.marginals[0]:.5f} (error {even.decoupling_error:.3f})",
        DIFFERS,
        "coordinate steps always settle, but value equal players unequally; the smallest decoupling "
        "error and symmetry exclude each other here",
    )


def _best_conceivable() -> Claim:
    game = ff.FunctionGame(lambda S: S.all(axis=1) - 0.3 * S.sum(axis=1), 3)
    fair = ff.variational_values(game, 1000, temperature=0.05)
    other = ff.variational_values(game, 1000, start=0.99, temperature=0.05)
    return Claim(
        "Sec. 4.1",
        "the variational index, by default what Alg. 1 finds from ½, has the best conceivable "
        "decoupling error",
        "the smallest",
        f"F = 1[S = N] − 0.3|S|, n = 3, T = .05: Alg. 1 from ½ ends with "
        f"{fair.decoupling_error:.3f}, from .99 with {other.decoupling_error:.3f}",
        DIFFERS if fair.decoupling_error > other.decoupling_error else REPRODUCED,  # type: ignore[operator]  # numbers, of one game
        "the paper grants that only stationary points are sure; its “fair start” ½ can lead to a bad "
        "one, and only several starts tell",
    )


def _high_temperature(game: ff.TableGame) -> Claim:
    target = ff.banzhaf(game).values
    parts = []
    for temperature in (1.0, 10.0, 100.0, 1000.0):
        found = ff.variational_index(game, temperature=temperature)
        assert found.marginals is not None
        parts.append(
            f"T = {temperature:g}: values {np.abs(found.values - target).max():.2g} from Banzhaf's, "
            f"marginals {np.abs(found.marginals - 0.5).max():.2g} from ½"
        )
    return Claim(
        "Discussion, 1)",
        "as T → ∞ all players have equal importance",
        "equal",
        f"{'; '.join(parts)}; Banzhaf's values range from {target.min():.3f} to {target.max():.3f}",
        DIFFERS,
        "it holds of the marginals x*, which tend to ½ whatever the game; the index, defined as "
        "T·logit x*, tends to Banzhaf's value",
    )


def _hoeffding() -> Claim:
    """A contribution that is 1 or -1 by the toss of a coin is never near its mean."""
    game = ff.FunctionGame(lambda S: S.sum(axis=1) == 1, 2)
    alone: BoolArray = np.array([[False, False], [True, False], [False, True], [True, True]])
    worths: FloatArray = game.worths(alone)
    gains = np.array([worths[1] - worths[0], worths[3] - worths[2]])
    epsilon = 0.99
    missed = float(np.mean(np.abs(gains - gains.mean()) > epsilon * np.abs(gains).max()))
    bound = float(np.exp(-(epsilon**2) / 2))
    return Claim(
        "Sec. 4.2",
        "with probability at least 1 − exp(−mε²/2) the mean of m draws is within ε·max|F(S+i)−F(S)| "
        "of the partial derivative",
        f"missed in at most {bound:.3f} of cases (m = 1, ε = {epsilon})",
        f"F = 1[|S| = 1], n = 2, x = ½, m = 1: missed in {missed:.3f} of cases; with the factor 2 of "
        f"the two-sided bound {2 * bound:.3f}",
        WRONG if missed > bound else REPRODUCED,
        "the two-sided bound is 1 − 2·exp(−mε²/2)",
    )


def _without_temperature(run: Run) -> Claim:
    held = run.published("adult_row1")
    if held is not None:
        game, temperature, whose = (
            ff.TableGame(held["worths"]),
            0.1,
            "the notebook's row of Adult, T = .1",
        )
        player = 10
    else:
        game, temperature, whose = (
            ff.TableGame([0.0, 0.1, 0.2, 0.5]),
            0.1,
            "worths 0, .1, .2, .5 at T = .1",
        )
        player = 1
    index = ff.variational_index(game, temperature=temperature)
    assert index.marginals is not None
    x = index.marginals[player]
    logit = float(np.log(x / (1 - x)))
    step = ff.variational_values(game, 1, temperature=temperature).marginals
    assert step is not None
    one = float(np.log(step[player] / (1 - step[player])))
    return Claim(
        "App. C, Alg. 2, and released code",
        "the variational index is s* = σ⁻¹(x*)",
        "σ⁻¹(x*)" + (" = 1.672 for Hours per week" if held is not None else ""),
        f"{whose}: σ⁻¹(x*) = {logit:.3f}, T·σ⁻¹(x*) = {temperature * logit:.4f}; after one step "
        f"{one:.3f} and {temperature * one:.4f}, Banzhaf's value is {ff.banzhaf(game).values[player]:.4f}",
        WRONG,
        "without the factor T it is not in the units of the worths, and the paper's own definition "
        "(and its link to Banzhaf) has it; rankings do not change",
    )


def _overflow() -> Claim:
    worths = np.array([1000.0, 1001.0, 1001.0, 1002.0])
    with np.errstate(over="ignore"):
        plain = float(np.log(np.exp(worths).sum()))
    found = float(np.asarray(ff.Boltzmann(worths, 1.0).log_z))
    error = ff.compare(worths, temperature=1.0)["variational_index"].decoupling_error
    return Claim(
        "released code",
        "log Z as the logarithm of a sum of exponentials",
        "finite",
        f"worths near 1000 at T = 1: plain sum {plain}, shifted by the largest {found:.4f}, index's "
        f"error {error:.1g}",
        WRONG,
        "exp(F/T) overflows from F/T = 710 on, so the sum has to be shifted by the largest worth; at "
        "the paper's worths and temperatures it does no harm",
    )
