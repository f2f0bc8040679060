"""Mean-field inference: fixed points x = σ(λ + ∇f(x)/T) of the ELBO

    ELBO(x) = f(x)/T + H(x) + Σ_i x_i log π_i + (1-x_i) log(1-π_i),

λ the log-odds of a prior π (0 without).

Three solvers, for one game or a batch: the paper's coordinate ascent and its synchronous
Alg. 1 here, Anderson acceleration in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.core.special import expit
from fairfield.mean_field.elbo import log_odds, prior_energy, sides
from fairfield.mean_field.reach import within_reach
from fairfield.mean_field.rows import Rows, rows_where
from fairfield.results.valuation import CONVERGED

# Solvers iterate to this residual, well below CONVERGED, where rounding permits.
TARGET = 1e-12
MOST_STEPS = 1000
MOST_SWEEPS = 20_000

REACHED = "converged"
OUT_OF_STEPS = f"stopped after {MOST_STEPS} steps before it converged"
OUT_OF_SWEEPS = f"stopped after {MOST_SWEEPS} sweeps before it converged"
IN_TURN = "converged by updating players in turn, where equal players may come to differ"
NO_ASCENT = "stopped where rounding hides any further ascent"
TWO_CYCLE = (
    "stopped in a two-cycle: synchronous updates alternate between two points for ever; "
    "use solver='anderson'"
)


@dataclass(frozen=True)
class MeanField(Rows):
    """Where a solver stopped: one row per game.

    ``elbo`` leaves out the extension's offset/T.
    """

    x: FloatArray
    logits: FloatArray
    gradient: FloatArray
    elbo: FloatArray
    residual: FloatArray
    steps: IntArray
    stops: NDArray[np.str_]

    def updated(self, rows: IntArray, other: MeanField) -> MeanField:
        """With these rows taken from another, their steps added up."""
        order, steps = np.arange(len(self.x)), self.steps.copy()
        order[rows] = len(order) + np.arange(len(rows))
        steps[rows] += other.steps
        return replace(MeanField.joined([self, other]).take(order), steps=steps)

    def among(self, chosen: IntArray, bias: FloatArray) -> MeanField:
        """With further players, to whom the game gives no slope: they stay with their prior."""
        if len(chosen) == len(bias):
            return self
        logits = np.tile(bias, (len(self.x), 1))
        x, gradient = (
            expit(logits) if bias.any() else np.full_like(logits, 0.5),
            np.zeros_like(logits),
        )
        logits[:, chosen], x[:, chosen], gradient[:, chosen] = self.logits, self.x, self.gradient
        return replace(self, x=x, logits=logits, gradient=gradient)

    def with_prior(self, prior: FloatArray | None) -> MeanField:
        """Without a prior, the ELBO without that of ½, which solvers take for it."""
        if prior is not None:
            return self
        return replace(self, elbo=self.elbo + self.x.shape[1] * np.log(2))

    def better_of(self, other: MeanField) -> MeanField:
        """Row by row the one with the higher ELBO; a tie keeps the first."""
        best = other.where(other.elbo > self.elbo, self)
        return replace(best, steps=self.steps + other.steps)


Solver = Callable[[Extension, FloatArray, FloatArray, FloatArray], MeanField]


def solve(
    solver: Solver,
    extension: Extension,
    start: FloatArray,
    temperature: FloatArray,
    prior: FloatArray | None,
) -> MeanField:
    """Run a solver over all games of the extension, some of them at a time."""
    games = int(np.prod(extension.batch, dtype=int))
    count = extension.players
    starts = np.broadcast_to(start, (*extension.batch, count)).reshape(games, count)
    T = temperature.reshape(games)
    bias = np.zeros(count) if prior is None else prior
    if not extension.batch:

        def one(part: Extension, some: IntArray) -> MeanField:
            return solver(_Single(part), starts[:, some], T, bias[some]).among(some, bias)

        return within_reach(extension, one).with_prior(prior)
    together = extension.together
    parts = [slice(i, min(i + together, games)) for i in range(0, games, together)]
    return MeanField.joined(
        [solver(extension.rows(some), starts[some], T[some], bias) for some in parts]
    ).with_prior(prior)


def start_points(count: int, players: int, seed: int) -> list[FloatArray]:
    """½, then .01 and .99, then random points."""
    random = np.random.default_rng(seed).random((max(count - 3, 0), players))
    return [*(np.full(players, at) for at in (0.5, 0.01, 0.99)), *random][:count]


class _Single(Extension):
    """One game as a batch of one."""

    batch = (1,)

    def __init__(self, one: Extension) -> None:
        self.one, self.players, self.quick_sweep = one, one.players, one.quick_sweep

    def centred(self, x: object) -> tuple[FloatArray, FloatArray]:
        value, gradient = self.one.centred(np.asarray(x)[0])
        return value[None], gradient[None]

    def sweep(self, x: FloatArray, update: Callable[..., FloatArray]) -> FloatArray:
        return self.one.sweep(x[0], lambda i, slope: update(i, slope[None])[0])[None]

    def rows(self, chosen: object) -> Extension:
        return self


@dataclass(frozen=True)
class Point(Rows):
    """A point of every game, and the extension there."""

    x: FloatArray
    logits: FloatArray
    gradient: FloatArray
    elbo: FloatArray
    pull: FloatArray  # r = λ + ∇f(x)/T - θ, zero at a fixed point
    spread: FloatArray  # √(x(1-x)), the scale of a player's logit
    residual: FloatArray  # max|σ(θ + r) - x|
    slope: FloatArray  # Σ x(1-x) r², the slope of the ELBO along r
    # Σ (σ(θ + r) - σ(θ)) r, the length of the step r: the symmetric divergence of q at its
    # two ends. Σ x(1-x) r² for small r, but not 0 for a step away from a saturated x.
    distance: FloatArray

    @classmethod
    def at(
        cls, extension: Extension, logits: FloatArray, temperature: FloatArray, bias: FloatArray
    ) -> Point:
        """The extension at σ(logits)."""
        x, outside, disorder = sides(logits)
        value, gradient = extension.centred(x)
        pull = gradient / temperature[:, None]
        pull += bias
        step = 1 / (1 + np.exp(np.minimum(-pull, 700.0)))
        pull -= logits
        step -= x
        spread = np.sqrt(outside * x, out=outside)
        rate = np.minimum(spread * np.abs(pull), 1e150)
        return cls(
            x,
            logits,
            gradient,
            value / temperature + disorder + prior_energy(x, logits, bias),
            pull,
            spread,
            residual=np.maximum(step.max(axis=-1), -step.min(axis=-1)),
            slope=np.einsum("gn,gn->g", rate, rate),
            distance=np.einsum("gn,gn->g", step, pull),
        )

    def result(self, steps: IntArray, otherwise: str) -> MeanField:
        """Where a solver stopped, and why if it did not converge."""
        stops = np.where(self.residual <= CONVERGED, REACHED, otherwise)
        return MeanField(self.x, self.logits, self.gradient, self.elbo, self.residual, steps, stops)


def coordinate(
    extension: Extension, start: FloatArray, temperature: FloatArray, bias: FloatArray
) -> MeanField:
    """The paper's naive mean field: players in turn, each update raises the ELBO."""
    x = start
    logits = log_odds(start)

    def update(player: int, slope: FloatArray) -> FloatArray:
        logits[:, player] = bias[player] + slope / temperature
        return np.asarray(expit(logits[:, player]))

    sweeps, change = 0, np.inf
    while change > TARGET and sweeps < MOST_SWEEPS:
        moved = extension.sweep(x, update)
        change = np.max(np.abs(moved - x))
        x, sweeps = moved, sweeps + 1
    point = Point.at(extension, logits, temperature, bias)
    return point.result(np.full(len(start), sweeps), OUT_OF_SWEEPS)


def synchronous(
    extension: Extension, start: FloatArray, temperature: FloatArray, bias: FloatArray
) -> MeanField:
    """Alg. 1 of the paper, x ← σ(λ + ∇f(x)/T) for all at once, until it settles or cycles."""
    point = Point.at(extension, log_odds(start), temperature, bias)
    earlier = point.x
    steps = np.ones(len(start), dtype=np.int64)
    cycles = np.zeros(len(start), dtype=bool)
    for _ in range(MOST_STEPS):
        going = (point.residual > TARGET) & ~cycles
        if not going.any():
            break
        after = Point.at(extension, point.logits + point.pull, temperature, bias)
        back = np.max(np.abs(after.x - earlier), axis=-1)
        cycles |= going & (back <= TARGET) & (after.residual > 1e3 * CONVERGED)
        earlier = rows_where(going, point.x, earlier)
        point = after.where(going, point)
        steps += going
    result = point.result(steps, OUT_OF_STEPS)
    return replace(result, stops=np.where(cycles, TWO_CYCLE, result.stops))
