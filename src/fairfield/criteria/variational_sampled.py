"""The variational index from a budget of coalitions.

Draws come in batches, each at the point x that all before it suggest. Weighted least squares
over all of them reads f, ∇f and ∇²f at x; the index of that quadratic model is the next
point, as far as the draws still tell of it (their effective size stays above a twentieth). So
the last model is fitted where its own index lies, and

    s = ĝ(σ(s/T)),   Cov(s) ≈ B Cov(ĝ) Bᵀ,   B = (I - HD/T)⁻¹,   D = diag x(1-x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairfield.coalitions import BoolArray
from fairfield.criteria.estimates import Estimate
from fairfield.criteria.setting import Setting
from fairfield.energy import mean_field
from fairfield.energy.anderson import anderson
from fairfield.energy.product import CERTAIN, elbo, log_odds, sigmoid
from fairfield.energy.temperature import scale_of
from fairfield.extension.pool import Pool, Reading, is_rare
from fairfield.games.set_functions import PairwiseExtension
from fairfield.multilinear import FloatArray
from fairfield.valuation import as_number

FIRST_DRAWS = 50
# A batch makes so many draws for a new coalition before it is content with fewer.
REPEATS = 8
# Draws that repeat known coalitions cost no evaluation, but time and memory.
MOST_DRAWS, MOST_NUMBERS = 2**18, 2**22
# The least share of the draws that must be effective at a point for them to speak of it, and
# for them to point the way.
TRUSTED, REACH = 0.2, 0.05
# A model is fitted at its own index when that is this close; and tried this often.
SETTLED, MOST_MODELS = 1e-4, 8
# Beyond these logits the other side is never drawn.
FAR = 36.0


class Draws:
    """Batches of draws at points that follow the worths: what both estimators below share.

    A temperature relative to Banzhaf's value is fixed after the first batch, drawn at ½.
    """

    sampler = "least-squares"

    def __init__(self, setting: Setting, start: FloatArray) -> None:
        self.setting = setting
        self.players = len(setting.game.players)
        games = int(np.prod(setting.game.batch, dtype=int))
        self.pool = Pool(self.players, games)
        self.tilt = np.zeros(self.players) if setting.prior is None else setting.prior
        # A player whom the prior makes certain is so from the start.
        certain = np.abs(self.tilt) == CERTAIN
        self.start = np.where(certain, sigmoid(self.tilt), start.reshape(games, self.players))
        self.heat = None if setting.heat is None else setting.heat.reshape(games)
        self.batches = 0
        self.first = max(FIRST_DRAWS, 2 * self.players, games)
        if self.heat is None:
            self.first = max(2 * FIRST_DRAWS, 8 * self.players, games)
        self.least = 2 + max(2 * self.players, games)

    def points(self) -> tuple[FloatArray, Any]:
        """Where the next batch is drawn, and the games these points are of."""
        raise NotImplementedError

    def update(self) -> None:
        """Think again, all draws so far being known."""
        raise NotImplementedError

    def propose(self, most: int) -> BoolArray:
        """A batch half as large as all before it, less the coalitions that are known."""
        while self.pool.drawn < MOST_DRAWS:
            at, owners = self.points()
            new = max(self.first, len(self.pool.counts) // 2)
            draws = min(max(REPEATS * new, self.pool.drawn // 2), MOST_NUMBERS // self.players)
            rng = np.random.default_rng([self.setting.how.seed, self.batches])
            rare = is_rare(at, self.pool.drawn)
            rare &= bool(self.batches > 0) | (np.abs(self.tilt) == CERTAIN)
            ends = None if self.batches else np.array([[False], [True]]).repeat(self.players, 1)
            fresh = self.pool.plan(at, owners, new, draws, rare, rng, also=ends)
            self.batches += 1
            if len(fresh):
                return fresh[:most]
            # All of it is known; that is news too.
            self.tell(fresh, np.empty((*self.setting.game.batch, 0)))
        return np.empty((0, self.players), dtype=bool)

    def law(self) -> dict[str, Any]:
        """The sampler, the seed, the batch and its points."""
        return {
            "sampler": self.sampler,
            "seed": self.setting.how.seed,
            "batch": self.batches,
            "points": self.points()[0].tolist(),
        }

    def tell(self, coalitions: BoolArray, worths: FloatArray) -> None:
        """Take in a batch, and settle the temperature if that is still to be done."""
        self.pool.tell(coalitions, worths.reshape(len(self.start), len(coalitions)))
        if self.heat is None and self.setting.pending is not None:
            half = np.full(self.players, 0.5)
            banzhaf = [self.pool.read(half, game).slopes.gradient for game in range(len(self.start))]
            self.heat = self.setting.pending.factor * scale_of(np.stack(banzhaf))
        self.update()

    def shaped(self, each: list[Any]) -> FloatArray:
        """One entry per game, with the axes of the batch."""
        found = np.stack([np.asarray(entry, dtype=float) for entry in each])
        return found.reshape((*self.setting.game.batch, *found.shape[1:]))

    def about(self, values: FloatArray, logits: FloatArray, level: FloatArray) -> dict[str, Any]:
        """What a valuation tells beside the values: ends, marginals, temperature, ELBO."""
        heat = self.needed_heat()
        heights = elbo(level, logits, heat, self.setting.prior)
        told: dict[str, Any] = {
            "empty": as_number(self.shaped(list(self.pool.worths[:, 0]))),
            "grand": as_number(self.shaped(list(self.pool.worths[:, 1]))),
            "marginals": self.shaped(list(sigmoid(logits))),
            "temperature": as_number(self.shaped(list(heat))),
        }
        if self.setting.how.decoupling:
            told["elbo"] = as_number(self.shaped(list(heights)))
        return told

    def needed_heat(self) -> FloatArray:
        """The temperature of each game, known after the first batch."""
        assert self.heat is not None
        return self.heat

    def method(self, effective: float) -> str:
        """How the estimate came about, in a line."""
        fixed = ", temperature fixed after the first batch" if self.setting.pending else ""
        return (
            f"least squares over {self.pool.drawn:,} draws of {len(self.pool.counts):,} coalitions, "
            f"effective {effective:,.0f}{fixed}"
        )

    def doubts(self, readings: list[Reading]) -> list[str]:
        """Sentences on why the errors are not to be trusted."""
        found = []
        effective = min(reading.effective for reading in readings)
        if effective < TRUSTED * self.pool.drawn / len(self.start):
            found.append(
                f"of {self.pool.drawn:,} draws only {effective:,.0f} are effective at the point "
                "found, so its errors are not to be trusted; raise the budget"
            )
        if effective < 4 * (self.players + 1):
            found.append(
                f"the error bars rest on {effective:,.0f} effective draws for {self.players} "
                "players, and are not to be trusted; raise the budget"
            )
        thin = max(int(reading.thin.sum()) for reading in readings)
        if thin:
            found.append(
                f"{thin} of the players were drawn next to never on one side; their values are not "
                "to be trusted; raise the budget"
            )
        return found


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
        self.found: list[_Found] = []

    def points(self) -> tuple[FloatArray, Any]:
        """The index so far; ½ where the temperature waits for Banzhaf's value."""
        certain = np.abs(self.tilt) == CERTAIN
        x = np.full_like(self.start, 0.5) if self.heat is None else sigmoid(self.logits)
        return np.where(certain, sigmoid(self.tilt), x), np.arange(len(x))

    def update(self) -> None:
        """Solve for the index of every game anew, from where it was."""
        self.found = [self._solve(game) for game in range(len(self.start))]

    def _solve(self, game: int) -> _Found:
        pool, heat, certain = self.pool, self.needed_heat()[[game]], np.abs(self.tilt) == CERTAIN
        logits = np.where(certain, self.tilt, self.logits[game])
        for _ in range(MOST_MODELS):
            x = sigmoid(logits)
            reading = pool.read(x, game, self.guesses[game])
            gradient, hessian = reading.slopes.gradient, reading.hessian
            self.guesses[game] = gradient
            model = PairwiseExtension(gradient - hessian @ x, hessian)
            index = mean_field.solve(anderson, model, x, heat[0], self.tilt)
            target = np.where(certain, self.tilt, np.clip(index.logits[0], -FAR, FAR))
            share, nearer = self._within_reach(logits, target)
            moved = float(np.max(np.abs(sigmoid(nearer) - x)))
            logits = nearer
            if moved <= SETTLED:
                break
        settled = share == 1.0 and moved <= SETTLED
        self.logits[game] = np.clip(logits, -FAR, FAR)
        at = index.logits[0] if settled else self.tilt + gradient / heat[0]
        step = sigmoid(at) - x if settled else np.zeros_like(x)
        spread = sigmoid(at) * sigmoid(-at)
        response = hessian * spread / heat[0]
        root = np.sqrt(spread)
        top = np.linalg.eigvalsh(root[:, None] * hessian * root)[-1] / heat[0]
        through = np.linalg.inv(np.eye(len(x)) - response)
        covariance = through @ reading.covariance() @ through.T
        return _Found(
            values=index.gradient[0] if settled else gradient,
            logits=at,
            level=float(reading.slopes.value + step @ (gradient + hessian @ step / 2)),
            covariance=covariance,
            residual=float(index.residual[0]) if settled else moved,
            reading=reading,
            saddle=bool(top >= 1),
        )

    def _within_reach(self, logits: FloatArray, target: FloatArray) -> tuple[float, FloatArray]:
        """As far towards the target as the draws still speak of it, and which share that is."""
        share = 1.0
        enough = REACH * self.pool.drawn / len(self.start)
        while share > 0.01:
            nearer = np.where(logits == target, target, logits + share * (target - logits))
            if self.pool.effective(sigmoid(nearer)) >= enough:
                return share, nearer
            share /= 2
        return 0.0, logits

    def estimate(self) -> Estimate:
        """The index of the last model, with its errors by the delta method."""
        found = self.found
        doubts = self.doubts([each.reading for each in found])
        if any(each.residual > SETTLED for each in found):
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
        values = self.shaped([each.values for each in found])
        level = np.array([each.level for each in found])
        batch = self.setting.game.batch
        steps = np.full(batch, self.batches) if batch else self.batches
        return Estimate(
            values=values,
            stderr=np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1)),
            covariance=covariance,
            method=self.method(min(each.reading.effective for each in found)),
            warnings=tuple(doubts),
            more={
                **self.about(values, logits, level),
                "steps": steps,
                "residual": as_number(self.shaped([each.residual for each in found])),
            },
        )
