"""K variational steps from a budget of coalitions.

Draws are made along the way, x^0 … x^(K-1), and weighted least squares over all of them reads
the gradient at each point of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from fairfield.core.arrays import FloatArray, IntArray
from fairfield.estimation.adaptive import Draws
from fairfield.estimation.loop import Estimate
from fairfield.estimation.pool import Reading
from fairfield.mean_field.elbo import sigmoid
from fairfield.problem import Problem
from fairfield.results.valuation import as_number


@dataclass(frozen=True)
class _Walk:
    """K steps of one game: x^0 … x^K, the last gradient, its covariance, what was read on the way."""

    path: FloatArray
    values: FloatArray
    covariance: FloatArray
    readings: list[Reading]


class StepsEstimator(Draws):
    """Estimates x^k = σ(λ + ∇f(x^(k-1))/T), k = 1 … K, from draws at all points of the way.

    The error of a step moves the point of the next:  δs_k = δĝ_k + H D/T δs_(k-1).
    """

    def __init__(self, problem: Problem, start: FloatArray, steps: int) -> None:
        super().__init__(problem, start)
        self.steps = steps
        # Of a point not read before, the gradient is guessed to be that of the point before it.
        self.guesses = np.full((len(self.start), steps + 2, self.players), np.nan)
        self.guesses[:, 0] = 0.0
        self.walks: list[_Walk] = []

    def points(self) -> tuple[FloatArray, IntArray]:
        """The start, then all points of the way so far; ½ while the temperature waits."""
        games = np.arange(len(self.start))
        if not self.walks:
            return (
                self.start if self.temperature is not None else np.full_like(self.start, 0.5)
            ), games
        ways = np.concatenate([walk.path[:-1] for walk in self.walks])
        return ways, games.repeat(self.steps)

    def update(self) -> None:
        """Walk through all games from the start."""
        self.walks = [self._walk(game) for game in range(len(self.start))]

    def _walk(self, game: int) -> _Walk:
        temperature, pool = self.needed_temperature()[game], self.pool
        path, readings = [self.start[game]], []
        shifts = np.zeros((len(pool.counts), self.players))
        reach = np.zeros_like(shifts)
        variance = np.zeros((self.players, self.players))
        for k in range(self.steps):
            x = path[-1]
            reading = self._read(x, game, k)
            # The start itself is certain, whatever is carried over is 0 there.
            carried = reading.hessian * (x * (1 - x)) / temperature
            shifts = reading.slopes.influence() + shifts @ carried.T
            reach = reading.slopes.reach + reach @ carried.T
            variance = np.diag(reading.beside) + carried @ variance @ carried.T
            path.append(sigmoid(self.prior + reading.slopes.gradient / temperature))
            readings.append(reading)
        covariance = variance + (shifts * pool.counts[:, None]).T @ shifts
        covariance += (reach.T * readings[-1].repeated) @ reach
        readings.append(self._read(path[-1], game, self.steps))
        values = readings[-2].slopes.gradient
        return _Walk(np.stack(path), values, covariance, readings)

    def _read(self, x: FloatArray, game: int, k: int) -> Reading:
        reading = self.pool.read(x, game, self.guesses[game, k])
        self.guesses[game, k] = gradient = reading.slopes.gradient
        later = self.guesses[game, k + 1]
        self.guesses[game, k + 1] = np.where(np.isnan(later), gradient, later)
        return reading

    def estimate(self, until: float = inf) -> Estimate:
        """The last walk, with its errors carried from step to step."""
        self.catch_up()
        covariance = self.shaped([walk.covariance for walk in self.walks])
        temperature = self.needed_temperature()[:, None]
        values = np.stack([walk.values for walk in self.walks])
        ends = [walk.readings[-1].slopes for walk in self.walks]
        repeated = sigmoid(self.prior + np.stack([end.gradient for end in ends]) / temperature)
        logits = self.prior + values / temperature
        read = [reading for walk in self.walks for reading in walk.readings[:-1]]
        paths = [self.shaped([walk.path[k] for walk in self.walks]) for k in range(self.steps + 1)]
        residual = np.max(np.abs(repeated - sigmoid(logits)), axis=-1)
        return Estimate(
            values=self.shaped(list(values)),
            stderr=np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)),
            covariance=covariance,
            method=self.method(min(reading.effective for reading in read)),
            remarks=self.remarks(),
            warnings=tuple(self.diagnostics(read)),
            more={
                **self.about(logits, np.array([float(end.value) for end in ends])),
                "trajectory": np.stack(paths),
                "steps": self.counted(self.steps),
                "residual": as_number(self.shaped(list(residual))),
            },
        )
