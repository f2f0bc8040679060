"""Draws in batches, at points that follow the worths: what the variational criteria share."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairfield.boltzmann.temperature import scale_of
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.paired import Pairs
from fairfield.estimation.pool import Pool, Reading, is_rare
from fairfield.mean_field.elbo import CERTAIN, elbo, sigmoid
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

FIRST_DRAWS = 50
# At most so many draws are made for each new coalition of a batch.
REPEATS = 8
# Draws that repeat known coalitions cost no evaluation, but time and memory.
MOST_DRAWS, MOST_NUMBERS = 2**16, 2**22
# The least share of the draws that must be effective at a point for errors to be reliable.
TRUSTED = 0.2


class Draws:
    """Batches of draws, each at the points that the worths so far suggest.

    A temperature relative to Banzhaf's value is fixed after the first batch, drawn at ½.
    """

    sampler = "least-squares"

    def __init__(self, problem: Problem, start: FloatArray) -> None:
        self.problem = problem
        self.players = len(problem.game.players)
        games = int(np.prod(problem.game.batch, dtype=int))
        self.pool = Pool(self.players, games)
        self.prior = np.zeros(self.players) if problem.prior is None else problem.prior
        # Players that the prior makes certain are so from the start.
        certain = np.abs(self.prior) == CERTAIN
        self.start = np.where(certain, sigmoid(self.prior), start.reshape(games, self.players))
        self.temperature = (
            None if problem.temperature is None else problem.temperature.reshape(games)
        )
        self.batches = 0
        self._stale = False
        self.first = max(FIRST_DRAWS, 2 * self.players, games)
        if self.temperature is None:
            self.first = max(2 * FIRST_DRAWS, 8 * self.players, games)
        self.least = 2 + max(2 * self.players, games)

    def points(self) -> tuple[FloatArray, IntArray]:
        """Where the next batch is drawn, and the games these points are of."""
        raise NotImplementedError

    def update(self) -> None:
        """Move the points, all draws so far being evaluated."""
        raise NotImplementedError

    def ask(self, most: int) -> BoolArray:
        """A batch half as large as all before it, less the coalitions that are known."""
        while self.pool.drawn < MOST_DRAWS:
            self.catch_up()
            at, owners = self.points()
            new = max(self.first, len(self.pool.counts) // 2)
            draws = min(max(REPEATS * new, self.pool.drawn // 2), MOST_NUMBERS // self.players)
            rng = np.random.default_rng([self.problem.options.seed, self.batches])
            rare = is_rare(at, self.pool.drawn)
            rare &= bool(self.batches > 0) | (np.abs(self.prior) == CERTAIN)
            ends = None if self.batches else np.array([[False], [True]]).repeat(self.players, 1)
            fresh = self.pool.plan(at, owners, new, draws, rare, rng, also=ends)
            self.batches += 1
            if len(fresh):
                return fresh[:most]
            # All of it is known already, which moves the points too.
            self.tell(fresh, np.empty((*self.problem.game.batch, 0)))
        return np.empty((0, self.players), dtype=bool)

    def provenance(self) -> dict[str, Any]:
        """The sampler, the seed, the batch and its points."""
        return {
            "sampler": self.sampler,
            "seed": self.problem.options.seed,
            "batch": self.batches,
            "points": self.points()[0].tolist(),
        }

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Receive a batch, and settle the temperature if that is still pending."""
        shape = len(self.start), len(coalitions)
        noise = None if variances is None else variances.reshape(shape)
        self.pool.tell(coalitions, worths.reshape(shape), noise)
        self._settle()

    def adopt(self, others: list[Pairs | Pool]) -> None:
        """Use coalitions that were evaluated for other criteria of the same problem."""
        for other in others:
            if isinstance(other, Pairs):
                self.pool.adopt_pairs(other)
            else:
                self.pool.adopt(other)
        if len(self.pool.counts):
            self.batches = 1
            self.least = max(0, self.least - len(self.pool.counts))
            self._settle()

    def _settle(self) -> None:
        """Fix a pending temperature by Banzhaf values; the points are to be moved."""
        if self.temperature is None and self.problem.pending is not None:
            half = np.full(self.players, 0.5)
            banzhaf = [
                self.pool.read(half, game).slopes.gradient for game in range(len(self.start))
            ]
            self.temperature = self.problem.pending.factor * scale_of(np.stack(banzhaf))
        self._stale = True

    def catch_up(self) -> None:
        """Move the points, if worths have come in since: the last of them need no next point."""
        if self._stale:
            self.update()
            self._stale = False

    def shaped(self, each: list[Any]) -> FloatArray:
        """One entry per game, with the axes of the batch."""
        found = np.stack([np.asarray(entry, dtype=float) for entry in each])
        return found.reshape((*self.problem.game.batch, *found.shape[1:]))

    def about(self, logits: FloatArray, level: FloatArray) -> dict[str, Any]:
        """What a valuation holds beside the values: ends, marginals, temperature, ELBO."""
        temperature = self.needed_temperature()
        heights = elbo(level, logits, temperature, self.problem.prior)
        found: dict[str, Any] = {
            "empty": as_number(self.shaped(list(self.pool.worths[:, 0]))),
            "grand": as_number(self.shaped(list(self.pool.worths[:, 1]))),
            "marginals": self.shaped(list(sigmoid(logits))),
            "temperature": as_number(self.shaped(list(temperature))),
        }
        if self.problem.options.decoupling is not False:
            found["elbo"] = as_number(self.shaped(list(heights)))
        return found

    def counted(self, number: int) -> Any:
        """The same number for each game of a batch."""
        batch = self.problem.game.batch
        return np.full(batch, number) if batch else number

    def needed_temperature(self) -> FloatArray:
        """The temperature of each game, known after the first batch."""
        assert self.temperature is not None
        return self.temperature

    def method(self, effective: float) -> str:
        """How the estimate came about, in a line."""
        fixed = ", temperature fixed after the first batch" if self.problem.pending else ""
        return (
            f"least squares over {self.pool.drawn:,} draws of {len(self.pool.counts):,} coalitions, "
            f"effective {effective:,.0f}{fixed}"
        )

    def remarks(self) -> tuple[str, ...]:
        """A sentence where the number of draws, not the budget, ended the run."""
        if self.pool.drawn < MOST_DRAWS:
            return ()
        return (
            f"the draws reached their limit of {MOST_DRAWS:,}, so a larger budget changes nothing",
        )

    def diagnostics(self, readings: list[Reading]) -> list[str]:
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
