"""What the paper says of its algorithms: convergence, the temperature, sampling, what they cost.

Verdicts on the numbers found here are in ``paper/verdicts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import fairfield as ff
from fairfield.core.arrays import FloatArray
from paper.claims import Finding, Table
from paper.registry import experiment
from paper.run import Run
from paper.verdicts import algorithms as judge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, SHOWN = 1000, 20
TEMPERATURES = (0.3, 0.2, 0.05)
GAMES, QUICK_GAMES = 30, 10


@experiment("algorithms", "Alg. 1 and 2: convergence, temperature, samples, cost.", place=2)
def find(run: Run) -> Finding:
    """What the paper says of its algorithms, on the smallest games that tell; seconds."""
    rng = np.random.default_rng(run.seed)
    games = [
        ff.TableGame(rng.normal(size=2**8)) for _ in range(QUICK_GAMES if run.quick else GAMES)
    ]
    swings = [_swing(temperature) for temperature in TEMPERATURES]
    return Finding(
        "algorithms",
        "The algorithms",
        f"{len(games)} random games of 8 players (seed {run.seed}), and the smallest games we know "
        "that show what is wrong",
        [
            judge.convergence(swings),
            judge.full_gradient(*_equal_players()),
            judge.stationary_only(*_starts()),
            judge.start_matters(*(_from_two_starts(games, steps) for steps in (1, STEPS))),
            judge.hot(*_at(games, judge.LONG)),
            judge.cold(_at(games, judge.SHORT)[0]),
            judge.hoeffding(*_coin()),
            judge.one_shot(*_one_shot(run.seed)),
            judge.index_without_temperature(*_units(run)),
            judge.plain_sum(*_log_z(np.array([1000.0, 1001.0, 1001.0, 1002.0]))),
        ],
        {
            "redundancy": Table(
                ("T", "x before", "x last", "error", "of the symmetric solution", "of the best found"),
                [(s.temperature, s.before, s.last, s.error, s.symmetric, s.best) for s in swings],
                f"Alg. 1 after {STEPS} steps on F = 1[S ≠ ∅] − 0.2|S|, n = 3",
            )
        },
        {"algorithms": draw()},
        {
            "algorithms": "Alg. 1 from ½ where any of three members will do and members cost, F = 1[S ≠ ∅] − 0.2|S|: "
            "the marginal of each over the steps. It settles, or alternates for ever."
        },
    )  # fmt: skip


def _redundancy() -> ff.FunctionGame:
    """Any member will do, members cost."""
    return ff.FunctionGame(lambda S: S.any(axis=1) - 0.2 * S.sum(axis=1), 3)


def _swing(temperature: float) -> judge.Swing:
    """Where any member will do and members cost, Alg. 1 swings between too many and too few."""
    game = _redundancy()
    steps = ff.variational_values(game, STEPS, temperature=temperature)
    assert steps.trajectory is not None
    found = [ff.variational_index(game, temperature=temperature, starts=k) for k in (1, 8)]
    errors = [float(np.asarray(v.decoupling_error)) for v in (steps, *found)]
    return judge.Swing(temperature, *steps.trajectory[-2:, 0].tolist(), *errors)


def _equal_players() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Marginals of two equal players by Alg. 2, by Alg. 1 and of the symmetric solution; errors."""
    game = ff.TableGame([-20.0, 2.0, 2.0, 2.0])
    sequential = ff.variational_index(game, temperature=1.0, solver="coordinate")
    together = ff.variational_values(game, STEPS, temperature=1.0).marginals
    symmetric = ff.variational_index(game, temperature=1.0)
    errors = [float(np.asarray(v.decoupling_error)) for v in (sequential, symmetric)]
    assert sequential.marginals is not None
    assert together is not None
    assert symmetric.marginals is not None
    return sequential.marginals, together, symmetric.marginals, np.array(errors)


def _starts() -> tuple[float, float]:
    game = ff.FunctionGame(lambda S: S.all(axis=1) - 0.3 * S.sum(axis=1), 3)
    found = [ff.variational_values(game, STEPS, start=x, temperature=0.05) for x in (0.5, 0.99)]
    fair, other = (float(np.asarray(v.decoupling_error)) for v in found)
    return fair, other


def _from_two_starts(games: list[ff.TableGame], steps: int) -> float:
    """How far apart Alg. 1 from .1 and from .9 is after some steps, the largest over the games."""
    ends = [
        [ff.variational_values(game, steps, start=x, temperature=3.0).marginals for x in (0.1, 0.9)]
        for game in games
    ]
    return float(np.abs(np.diff(np.array(ends, dtype=float), axis=1)).max())


def _at(games: list[ff.TableGame], temperature: float) -> tuple[float, float, float]:
    """Of the indices at a temperature: marginals' spread, or distance from 0 and 1 below T = 1,
    values' distance from Banzhaf's, and the spread of those; the largest over the games."""
    spreads, apart, ranges = [], [], []
    for game in games:
        found, banzhaf = (
            ff.variational_index(game, temperature=temperature),
            ff.banzhaf(game).values,
        )
        x = found.marginals
        assert x is not None
        spreads.append(np.ptp(x) if temperature > 1 else np.minimum(x, 1 - x).max())
        apart.append(np.abs(found.values - banzhaf).max())
        ranges.append(np.ptp(banzhaf))
    return float(max(spreads)), float(max(apart)), float(max(ranges))


def _coin() -> tuple[float, float]:
    """A contribution that is 1 or -1 by the toss of a coin is never near its mean."""
    gains, epsilon = np.array([1.0, -1.0]), 0.99
    missed = np.abs(gains - gains.mean()) > epsilon * np.abs(gains).max()
    return float(missed.mean()), float(np.exp(-(epsilon**2) / 2))


def _one_shot(seed: int) -> tuple[int, int, float, float]:
    """Evaluations of 10 steps by the one-shot trick and of Banzhaf; squared errors of two indices."""
    rng = np.random.default_rng(seed)
    flid = ff.FLIDGame(rng.random(14), rng.random((14, 4)))
    game = ff.FunctionGame(flid.worths, 14, name="FLID")
    exact = ff.variational_values(flid, 10, temperature=1.0).values
    budget, errors = 800, []
    for each in range(3):
        found = [
            ff.variational_values(game, 10, temperature=1.0, budget=budget, seed=each, **more)
            for more in ({"sampler": "one-shot"}, {})
        ]
        errors.append([float(np.mean((v.values - exact) ** 2)) for v in found])
    banzhaf = ff.banzhaf(game, budget=budget, seed=seed)
    return found[0].evaluations, banzhaf.evaluations, *np.mean(errors, axis=0).tolist()


def _units(run: Run) -> tuple[float, float, float]:
    """One step for a player: without the factor T, with it, and Banzhaf's value."""
    held = run.published("adult_row1")
    game = ff.TableGame(np.array([0.0, 0.1, 0.2, 0.5]) if held is None else held["worths"])
    step = ff.variational_values(game, 1, temperature=0.1)
    assert step.marginals is not None
    best = int(step.values.argmax())
    x = step.marginals[best]
    logit = float(np.log(x / (1 - x)))
    return logit, 0.1 * logit, float(ff.banzhaf(game).values[best])


def _log_z(worths: FloatArray) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        plain = float(np.log(np.exp(worths).sum()))
    return plain, float(np.asarray(ff.Boltzmann(worths, 1.0).log_z))


def draw() -> Figure:
    """The first steps of Alg. 1 on the smallest game on which it does not settle."""
    from matplotlib.figure import Figure

    from fairfield.plots.canvas import MARKERS, SERIES

    figure = Figure(figsize=(6.5, 2.8), layout="constrained")
    ax = figure.subplots()
    for k, temperature in enumerate(TEMPERATURES):
        path = ff.variational_values(_redundancy(), SHOWN, temperature=temperature).trajectory
        assert path is not None
        ax.plot(path[:, 0], color=SERIES[k], marker=MARKERS[k], markersize=4, label=f"T = {temperature:g}")  # fmt: skip
    ax.set(
        xlabel="step",
        ylabel="marginal",
        ylim=(-0.05, 1.3),
        yticks=(0, 0.5, 1),
        xticks=range(0, SHOWN + 1, 5),
    )
    ax.legend(frameon=False, ncols=3, loc="upper center")
    ax.spines[["top", "right"]].set_visible(False)
    return figure
