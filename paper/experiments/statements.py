"""What the paper states and proves, checked on small games.

Verdicts on the numbers found here are in ``paper/verdicts``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

import fairfield as ff
from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import enumerate_coalitions, rows_of
from fairfield.multilinear.size_weights import shapley_weights
from fairfield.multilinear.table import TableExtension
from paper.claims import Finding, Table
from paper.registry import experiment
from paper.run import Run
from paper.verdicts import statements as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of 8 players one adds nothing and two are alike: what the axioms speak of.
PLAYERS = 8


@experiment("statements", "What the paper states and proves, checked on small games.", place=1)
def find(run: Run) -> Finding:
    """The paper's statements one by one; seconds."""
    game = ff.TableGame(np.random.default_rng(run.seed).normal(size=2**PLAYERS))
    voting = ff.FunctionGame(lambda S: S @ np.array([2, 1, 1]) >= 3, 3)
    counted = np.array([ff.banzhaf(voting).values, ff.shapley(voting).values])
    return Finding(
        "statements",
        "Statements and proofs",
        f"a random game of {PLAYERS} players (seed {run.seed}), and the paper's own voting game",
        [
            judge.maximum_entropy(*_entropy(game)),
            judge.positive_temperature(*_temperatures(game)),
            judge.independent(_error_of_additive(run.seed)),
            judge.elbo(*_bound(game)),
            judge.equilibrium(_stationary(game)),
            judge.one_step(_from_banzhaf(game)),
            judge.line_integral(*_along_diagonal(game)),
            judge.less_weight(shapley_weights(PLAYERS)),
            judge.probabilistic(_as_probabilistic(game)),
            judge.axioms(_violation(game, (ff.axioms.null_player, ff.axioms.symmetry, ff.axioms.marginalism))),
            judge.additive(*(_violation(game, (ff.axioms.additivity,), (k,)) for k in (1, 2))),
            judge.own_marginalism(*(_own(game, k) for k in (1, 2))),
            judge.proof_of_symmetry(*_symmetric_terms(run.seed)),
            judge.voting_game(counted),
        ],
        {
            "voting": Table(
                ("feature", "flips", "Banzhaf", "Shapley", "paper's Banzhaf", "paper's Shapley"),
                [(f"x{i + 1}", (3, 1, 1)[i], *counted[:, i], *(each[i] for each in judge.VOTING)) for i in range(3)],
                "The voting game of App. F: weights 2, 1, 1, quota 3",
            )
        },
        {"overview": draw(game)},
        {
            "overview": "Fig. 1, what it says as a picture: the K-step variational values of a game from "
            "½ at T = 1, Banzhaf's values at K = 1, the variational index dotted."
        },
    )  # fmt: skip


def _entropy(game: ff.TableGame, temperature: float = 0.7) -> tuple[float, float, float]:
    """How much more entropy another law of the same mean has, at most; −∂H/∂μ; 1/T."""
    worths, rng = game.worth_table, np.random.default_rng(0)
    law = np.exp((worths - worths.max()) / temperature)
    law /= law.sum()

    def entropy(p: FloatArray) -> float:
        return float(-(p * np.log(p)).sum())

    fixed = np.linalg.qr(np.stack([np.ones_like(worths), worths], axis=1))[0]
    above = []
    for direction in rng.normal(size=(100, len(worths))) * law:
        away = direction - fixed @ (fixed.T @ direction)
        above.append(entropy(law + 0.1 * away * law.min() / np.abs(away).max()) - entropy(law))
    near, far = (ff.Boltzmann(game, temperature + d) for d in (-1e-4, 1e-4))
    means = [float((np.exp(worths / (temperature + d)) @ worths) / np.exp(worths / (temperature + d)).sum()) for d in (-1e-4, 1e-4)]  # fmt: skip
    slope = -float(np.asarray(far.entropy - near.entropy)) / (means[1] - means[0])
    return max(above), slope, 1 / temperature


def _temperatures(game: ff.TableGame) -> tuple[FloatArray, float, float, float, float]:
    """1/T over average payoffs above the mean worth; the least average of laws that grow; 1/T below."""
    worths = np.sort(game.worth_table)
    mean, most = float(worths.mean()), float(worths.max())

    def excess(rate: float, wanted: float) -> float:
        weights = np.exp(rate * worths - (rate * worths).max())
        return float(weights @ worths / weights.sum()) - wanted

    low, *rates = (
        brentq(excess, -100, 100, args=(mean + part * (most - mean),))
        for part in (-0.05, 0.05, 0.25, 0.5, 0.75, 0.95)
    )
    # A law that grows with the payoff is a mixture of uniform ones on the best coalitions.
    best = np.cumsum(worths[::-1]) / np.arange(1, len(worths) + 1)
    least = float(best.min())
    return np.array(rates), least, low, mean, most


def _error_of_additive(seed: int) -> float:
    gains = np.random.default_rng(seed).normal(size=PLAYERS)
    worths = enumerate_coalitions(PLAYERS) @ gains
    found = ff.variational_index(ff.TableGame(worths), temperature=0.3)
    return float(np.asarray(found.decoupling_error))


def _bound(game: ff.TableGame, temperature: float = 0.3) -> tuple[float, float, float]:
    """At a random x: log Z − ELBO less KL(q‖p), ∇H less log((1 − x)/x), ∇f less mean contributions."""
    worths, x = game.worth_table, np.random.default_rng(1).random(PLAYERS)
    coalitions, f = enumerate_coalitions(PLAYERS), TableExtension.of(game)
    q = np.where(coalitions, x, 1 - x).prod(axis=1)
    log_z = float(np.asarray(ff.Boltzmann(game, temperature).log_z))
    divergence = q @ (np.log(q) - worths / temperature + log_z)

    def entropy(at: FloatArray) -> FloatArray:
        return np.asarray(-at * np.log(at) - (1 - at) * np.log(1 - at))

    gap = log_z - float(f.value(x)) / temperature - entropy(x).sum()
    slopes = (entropy(x + 1e-6) - entropy(x - 1e-6)) / 2e-6
    players = np.eye(PLAYERS, dtype=bool)
    gains = [worths[rows_of(coalitions | i)] - worths[rows_of(coalitions & ~i)] for i in players]
    return (
        abs(float(gap - divergence)),
        float(np.abs(slopes - np.log((1 - x) / x)).max()),
        float(np.abs(np.array(gains) @ q - f.gradient(x)).max()),
    )


def _stationary(game: ff.TableGame) -> float:
    found = ff.variational_index(game, temperature=0.3)
    slope = TableExtension.of(game).gradient(found.marginals)
    return float(np.abs(found.marginals - 1 / (1 + np.exp(-slope / 0.3))).max())


def _from_banzhaf(game: ff.TableGame) -> float:
    step = ff.variational_values(game, 1, temperature=0.3)
    return float(np.abs(step.values - ff.banzhaf(game).values).max())


def _along_diagonal(game: ff.TableGame) -> tuple[float, float]:
    """∫ ∇f(t, …, t) dt and the same of pairs, by Gauss and Legendre, exact for polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss((PLAYERS + 1) // 2)
    at, shares = (nodes + 1) / 2, weights / 2
    steps = [ff.variational_values(game, 1, start=t, temperature=0.3).values for t in at]
    f, pairs = TableExtension.of(game), ff.interactions(game, "shapley").matrix()
    bent = np.einsum("t,tij->ij", shares, [f.hessian(np.full(PLAYERS, t)) for t in at])
    off = ~np.eye(PLAYERS, dtype=bool)
    apart = float(np.abs(shares @ np.array(steps) - ff.shapley(game).values).max())
    return apart, float(np.abs(bent - pairs)[off].max())


def _as_probabilistic(game: ff.TableGame) -> float:
    x = np.random.default_rng(1).random(PLAYERS)
    step = ff.variational_values(game, 1, start=x, temperature=0.3).values
    return float(np.abs(step - ff.probabilistic_value(game, x).values).max())


def _violation(
    game: ff.TableGame, checks: tuple, steps: tuple[int, ...] = (1, 2, 3, 4, 5)
) -> float:
    return max(
        float(check(partial(ff.variational_values, steps=k, temperature=1.0), game).violation)
        for k in steps
        for check in checks
    )


def _own(game: ff.TableGame, steps: int) -> float:
    criterion = partial(ff.variational_values, steps=steps, temperature=1.0)
    return float(ff.axioms.marginalism(criterion, game, own=True).violation)


def _symmetric_terms(seed: int) -> tuple[float, float]:
    """How far the printed sum for i′ = 1 is from ∂f/∂x_1, and the corrected one; i = 0."""
    rng = np.random.default_rng(seed)
    worths, x = rng.normal(size=2**4), rng.random(4)
    coalitions = enumerate_coalitions(4)
    without = coalitions[~coalitions[:, 1]]
    joined = without | (np.arange(4) == 1)
    gains = worths[rows_of(joined)] - worths[rows_of(without)]

    def total(left_out: int) -> float:
        factors = np.where(without, x, np.where(np.arange(4) == left_out, 1.0, 1 - x))
        return float(gains @ factors.prod(axis=1))

    true = float(TableExtension.of(ff.TableGame(worths)).gradient(x)[1])
    return abs(total(0) - true), abs(total(1) - true)


def draw(game: ff.TableGame) -> Figure:
    """The trajectory of K-step values."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import SERIES

    figure = Figure(figsize=(6, 3), layout="constrained")
    ax = figure.subplots()
    steps = np.array([ff.variational_values(game, k, temperature=1.0).values for k in range(1, 9)])
    index = ff.variational_index(game, temperature=1.0).values
    for i in range(PLAYERS):
        colour = SERIES[i % len(SERIES)]
        ax.plot(range(1, 9), steps[:, i], color=colour, marker=".")
        ax.axhline(index[i], color=colour, linestyle=":", linewidth=0.8)
    ax.set(xlabel="K (1: Banzhaf)", ylabel="K-step value")
    ax.spines[["top", "right"]].set_visible(False)
    return figure
