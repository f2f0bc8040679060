"""The variational index from a budget of coalitions.

Draws come in batches, each at the point x that all before it suggest. Weighted least squares
over all of them reads f, ∇f and ∇²f at x; the index of that quadratic model is the next
point, as far as the draws still tell of it (their effective size stays above a twentieth). So
the last model is fitted where its own index lies, and

    s = ĝ(σ(s/T)),   Cov(s) ≈ B Cov(ĝ) Bᵀ,   B = (I - HD/T)⁻¹,   D = diag x(1-x).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.coalitions import IntArray
from fairfield.criteria.batches import Draws
from fairfield.criteria.estimates import Estimate
from fairfield.criteria.setting import Setting
from fairfield.energy import mean_field
from fairfield.energy.anderson import anderson
from fairfield.energy.mean_field import MeanField
from fairfield.energy.product import CERTAIN, log_odds, sigmoid
from fairfield.extension.pool import Reading
from fairfield.games.pairwise import PairwiseExtension
from fairfield.multilinear import FloatArray
from fairfield.valuation import as_number

# The least share of the draws that must be effective at a point for them to point the way there.
REACH = 0.05
# A model holds at its own index when that is this close to where it was fitted. So many are
# tried for an estimate, so many for the next point.
CLOSE = 1e-4
MOST_MODELS, FEW_MODELS = 16, 2
# Beyond these logits the other side is never drawn.
FAR = 36.0


@dataclass(frozen=True)
class _Model:
    """The extension of a game around x, as all draws tell it, and the index of this model.

    ``apart`` is how far from x the index lies, ``next`` are the logits nearest to it that the
    draws still tell of.
    """

    reading: Reading
    index: MeanField
    apart: float
    next: FloatArray

    @property
    def holds(self) -> bool:
        """Whether the model was fitted where its own index lies."""
        return self.apart <= CLOSE


@dataclass(frozen=True)
class _Found:
    """The index of one game by the last model: where it lies, and how well it is known."""

    values: FloatArray
    logits: FloatArray
    level: float
    covariance: FloatArray
    residual: float
    reading: Reading
    saddle: bool


class IndexEstimator(Draws):
    """Estimates the variational index."""

    def __init__(self, setting: Setting, start: FloatArray) -> None:
        super().__init__(setting, start)
        self.logits = np.clip(log_odds(self.start), -FAR, FAR)
        self.guesses = np.zeros_like(self.start)

    def points(self) -> tuple[FloatArray, IntArray]:
        """The index so far; ½ where the temperature waits for Banzhaf's value."""
        certain = np.abs(self.tilt) == CERTAIN
        x = np.full_like(self.start, 0.5) if self.heat is None else sigmoid(self.logits)
        return np.where(certain, sigmoid(self.tilt), x), np.arange(len(x))

    def update(self) -> None:
        """Move every game towards its index."""
        for game in range(len(self.start)):
            model = self._model(game, FEW_MODELS)
            self.logits[game] = np.clip(model.next, -FAR, FAR)
            self.guesses[game] = model.reading.slopes.gradient

    def _model(self, game: int, most: int) -> _Model:
        """The last of models that are each fitted where the index of the one before lies."""
        heat, certain = self.needed_heat()[[game]], np.abs(self.tilt) == CERTAIN
        logits = np.where(certain, self.tilt, self.logits[game])
        pace, nearest = 1.0, np.inf
        gradient = self.guesses[game]
        for _ in range(most):
            x = sigmoid(logits)
            reading = self.pool.read(x, game, gradient)
            gradient, hessian = reading.slopes.gradient, reading.hessian
            model = PairwiseExtension(gradient - hessian @ x, hessian)
            index = mean_field.solve(anderson, model, x, heat[0], self.tilt)
            target = np.where(certain, self.tilt, np.clip(index.logits[0], -FAR, FAR))
            apart = float(np.max(np.abs(sigmoid(target) - x)))
            # A model whose index is no nearer than the last one's asks for shorter steps.
            pace, nearest = (pace / 2 if apart > nearest else pace), min(apart, nearest)
            nearer = target if apart <= CLOSE else self._within_reach(logits, target, pace)
            if apart <= CLOSE or (nearer == logits).all():
                break
            logits = nearer
        return _Model(reading, index, apart, nearer)

    def _solve(self, game: int) -> _Found:
        """The index of a game, with its covariance by the delta method."""
        heat, model = self.needed_heat()[game], self._model(game, MOST_MODELS)
        reading = model.reading
        x, gradient, hessian = reading.slopes.x, reading.slopes.gradient, reading.hessian
        at = model.index.logits[0] if model.holds else self.tilt + gradient / heat
        step = sigmoid(at) - x if model.holds else np.zeros_like(x)
        spread = sigmoid(at) * sigmoid(-at)
        root = np.sqrt(spread)
        top = np.linalg.eigvalsh(root[:, None] * hessian * root)[-1] / heat
        through = np.linalg.inv(np.eye(len(x)) - hessian * spread / heat)
        return _Found(
            values=model.index.gradient[0] if model.holds else gradient,
            logits=at,
            level=float(reading.slopes.value + step @ (gradient + hessian @ step / 2)),
            covariance=through @ reading.covariance() @ through.T,
            residual=float(model.index.residual[0]) if model.holds else model.apart,
            reading=reading,
            saddle=bool(top >= 1),
        )

    def _within_reach(self, logits: FloatArray, target: FloatArray, share: float) -> FloatArray:
        """This share of the way to the target, or as much as the draws still speak of."""
        enough = REACH * self.pool.drawn / len(self.start)
        while share > 0.01:
            nearer = np.where(logits == target, target, logits + share * (target - logits))
            if self.pool.effective(sigmoid(nearer)) >= enough:
                return nearer
            share /= 2
        return logits

    def estimate(self) -> Estimate:
        """The index of the last model, with its errors by the delta method."""
        found = [self._solve(game) for game in range(len(self.start))]
        doubts = self.doubts([each.reading for each in found])
        if any(each.residual > CLOSE for each in found):
            doubts.append(
                "the draws did not reach the fixed point yet, so the errors are not to be trusted; "
                "raise the budget"
            )
        if any(each.saddle for each in found):
            doubts.append(
                "the ELBO has no maximum at the point found, so the errors are not to be trusted"
            )
        covariance = self.shaped([each.covariance for each in found])
        logits = np.stack([each.logits for each in found])
        level = np.array([each.level for each in found])
        return Estimate(
            values=self.shaped([each.values for each in found]),
            stderr=np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)),
            covariance=covariance,
            method=self.method(min(each.reading.effective for each in found)),
            warnings=tuple(doubts),
            more={
                **self.about(logits, level),
                "steps": self.counted(self.batches),
                "residual": as_number(self.shaped([each.residual for each in found])),
            },
        )


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

    def __init__(self, setting: Setting, start: FloatArray, steps: int) -> None:
        super().__init__(setting, start)
        self.steps = steps
        # Of a point not read before, the gradient is guessed to be that of the point before it.
        self.guesses = np.full((len(self.start), steps + 2, self.players), np.nan)
        self.guesses[:, 0] = 0.0
        self.walks: list[_Walk] = []

    def points(self) -> tuple[FloatArray, IntArray]:
        """The start, then all points of the way so far; ½ while the temperature waits."""
        games = np.arange(len(self.start))
        if not self.walks:
            return (self.start if self.heat is not None else np.full_like(self.start, 0.5)), games
        ways = np.concatenate([walk.path[:-1] for walk in self.walks])
        return ways, games.repeat(self.steps)

    def update(self) -> None:
        """Walk again through all games."""
        self.walks = [self._walk(game) for game in range(len(self.start))]

    def _walk(self, game: int) -> _Walk:
        heat, pool = self.needed_heat()[game], self.pool
        path, readings = [self.start[game]], []
        shifts = np.zeros((len(pool.counts), self.players))
        variance = np.zeros((self.players, self.players))
        for k in range(self.steps):
            x = path[-1]
            reading = self._read(x, game, k)
            # The start itself is certain, whatever is carried over is 0 there.
            carried = reading.hessian * (x * (1 - x)) / heat
            shifts = reading.slopes.influence() + shifts @ carried.T
            variance = np.diag(reading.beside) + carried @ variance @ carried.T
            path.append(sigmoid(self.tilt + reading.slopes.gradient / heat))
            readings.append(reading)
        covariance = variance + (shifts * pool.counts[:, None]).T @ shifts
        readings.append(self._read(path[-1], game, self.steps))
        values = readings[-2].slopes.gradient
        return _Walk(np.stack(path), values, covariance, readings)

    def _read(self, x: FloatArray, game: int, k: int) -> Reading:
        reading = self.pool.read(x, game, self.guesses[game, k])
        self.guesses[game, k] = gradient = reading.slopes.gradient
        later = self.guesses[game, k + 1]
        self.guesses[game, k + 1] = np.where(np.isnan(later), gradient, later)
        return reading

    def estimate(self) -> Estimate:
        """The last walk, with its errors carried from step to step."""
        self.catch_up()
        covariance = self.shaped([walk.covariance for walk in self.walks])
        heat = self.needed_heat()[:, None]
        values = np.stack([walk.values for walk in self.walks])
        ends = [walk.readings[-1].slopes for walk in self.walks]
        again = sigmoid(self.tilt + np.stack([end.gradient for end in ends]) / heat)
        logits = self.tilt + values / heat
        read = [reading for walk in self.walks for reading in walk.readings[:-1]]
        paths = [self.shaped([walk.path[k] for walk in self.walks]) for k in range(self.steps + 1)]
        residual = np.max(np.abs(again - sigmoid(logits)), axis=-1)
        return Estimate(
            values=self.shaped(list(values)),
            stderr=np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)),
            covariance=covariance,
            method=self.method(min(reading.effective for reading in read)),
            warnings=tuple(self.doubts(read)),
            more={
                **self.about(logits, np.array([float(end.value) for end in ends])),
                "trajectory": np.stack(paths),
                "steps": self.counted(self.steps),
                "residual": as_number(self.shaped(list(residual))),
            },
        )
