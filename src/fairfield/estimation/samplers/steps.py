"""K variational steps from a budget of coalitions.

Draws are made along the way, x^0 … x^(K-1), and weighted least squares over all of them reads
the gradient at each point of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.core.special import expit
from fairfield.estimation.at_points.adaptive import ENOUGH, PLENTY, Draws, Found
from fairfield.estimation.at_points.draws import gathered
from fairfield.estimation.at_points.guides import Guide
from fairfield.estimation.at_points.reading import Control, Reading, read
from fairfield.estimation.loop import Estimate
from fairfield.estimation.samplers.registry import sampler
from fairfield.problem import Problem


@dataclass(frozen=True)
class _Walk(Found):
    """K steps of one game, x^0 … x^K, and what they lead to."""

    path: FloatArray


@sampler("auto", "variational_values")
class StepsEstimator(Draws):
    """Estimates x^k = σ(λ + ∇f(x^(k-1))/T), k = 1 … K, from draws at all points of the way.

    The error of a step moves the point of the next:  δs_k = δĝ_k + H D/T δs_(k-1).
    """

    def __init__(
        self, problem: Problem, start: FloatArray, steps: int, *, helped: bool = True
    ) -> None:
        super().__init__(problem, start, helped=helped)
        self.steps = steps
        # Of a point not read before, the gradient is guessed to be that of the point before it.
        self.guesses = np.full((len(self.start), steps + 2, self.players), np.nan)
        self.guesses[:, 0] = 0.0
        self.walks: list[_Walk] = []

    def points(self) -> tuple[FloatArray, IntArray]:
        """The start, then all points of the way so far; ½ while the temperature waits."""
        games = np.arange(len(self.start))
        if self.walks:
            ways = np.concatenate([walk.path[:-1] for walk in self.walks])
            return ways, games.repeat(self.steps)
        return (
            self.start if self.temperature is not None else np.full_like(self.start, 0.5)
        ), games

    def update(self) -> None:
        """Walk through all games from the start."""
        games, few = range(len(self.start)), self.fewer_than(ENOUGH)
        self.walks = [self._best(game) if few else self._walk(game) for game in games]

    def _best(self, game: int, until: float = inf) -> _Walk:
        """The walk with the smallest errors; from few draws that of a surrogate."""
        guide = self.guide(game, until)
        if guide is None:
            return self._walk(game)
        few = self.fewer_than(PLENTY)
        if guide.rest is None or few:
            alone = self._alone(guide, game)
            if guide.rest is None or not self.shown(alone.path[:-1]):
                return alone
        if guide.jumps:
            return self._walk(game)
        rivals = [self._walk(game)] if self.repeats else [self._walk(game), self._walk(game, guide)]
        if few and guide.bare:
            rivals.append(alone)
        return min(rivals, key=lambda each: np.trace(each.covariance))

    def _alone(self, guide: Guide, game: int) -> _Walk:
        """K steps of a surrogate, their errors those of the games that are left possible."""
        temperature, extension = self.needed_temperature()[game], guide.control.extension
        path, carried = [self.start[game]], []
        for _ in range(self.steps):
            x = path[-1]
            gradient = extension.gradient(x)
            carried.append(extension.hessian(x) * (x * (1 - x)) / temperature)
            logits = self.prior + gradient / temperature
            path.append(expit(logits))
        # An error of a step moves all that follow.
        reach = [np.eye(self.players)]
        for matrix in carried[:0:-1]:
            reach.insert(0, reach[0] @ matrix)
        steps = list(zip(path[:-1], reach, strict=True))
        covariance, weights, readings = self.left_open(guide, game, steps)
        ahead = expit(self.prior + extension.gradient(path[-1]) / temperature)
        return _Walk(
            values=gradient,
            covariance=covariance,
            logits=logits,
            level=float(extension.value(path[-1])),
            residual=float(np.max(np.abs(ahead - path[-1]))),
            readings=readings,
            weights=weights,
            by=guide.name,
            path=np.stack(path),
        )

    def _walk(self, game: int, guide: Guide | None = None) -> _Walk:
        """K steps by draws, or by a surrogate and what draws say of the rest."""
        control = None if guide is None else guide.control
        temperature, pool = self.needed_temperature()[game], self.pool
        path, readings = [self.start[game]], []
        shifts = np.zeros((len(pool.counts), self.players))
        reach, weights = np.zeros_like(shifts), np.zeros_like(shifts)
        variance = np.zeros((self.players, self.players))
        for k in range(self.steps):
            x = path[-1]
            reading = self._read(x, game, k, control)
            # The start itself is certain, whatever is carried over is 0 there.
            carried = reading.hessian * (x * (1 - x)) / temperature
            shifts = reading.slopes.influence() + shifts @ carried.T
            reach = reading.slopes.reach + reach @ carried.T
            weights = reading.weights + weights @ carried.T
            variance = np.diag(reading.beside) + carried @ variance @ carried.T
            logits = self.prior + reading.slopes.gradient / temperature
            path.append(expit(logits))
            readings.append(reading)
        covariance = variance + gathered(shifts, pool.counts, pool.twins)
        covariance += (reach.T * reading.repeated) @ reach
        end = self._read(path[-1], game, self.steps, control).slopes
        ahead = expit(self.prior + end.gradient / temperature)
        return _Walk(
            values=reading.slopes.gradient,
            covariance=covariance,
            logits=logits,
            level=float(end.value),
            residual=float(np.max(np.abs(ahead - path[-1]))),
            readings=readings,
            weights=weights,
            by="" if guide is None else f"{guide.name}, corrected by least squares",
            path=np.stack(path),
        )

    def _read(self, x: FloatArray, game: int, k: int, control: Control | None) -> Reading:
        reading = read(self.pool, x, game, self.guesses[game, k], control)
        self.guesses[game, k] = gradient = reading.slopes.gradient
        later = self.guesses[game, k + 1]
        self.guesses[game, k + 1] = np.where(np.isnan(later), gradient, later)
        return reading

    def estimate(self, until: float = inf) -> Estimate:
        """The last walk, with its errors carried from step to step."""
        self.walks = [self._best(game, until) for game in range(len(self.start))]
        paths = np.stack([walk.path for walk in self.walks], axis=1)
        shape = len(paths), *self.problem.game.batch, self.players
        return self.estimated(self.walks, self.steps, [], trajectory=paths.reshape(shape))


@sampler("least-squares", "variational_values")
def from_draws(problem: Problem, start: FloatArray, steps: int) -> StepsEstimator:
    """K steps from draws alone."""
    return StepsEstimator(problem, start, steps, helped=False)
