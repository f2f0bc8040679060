"""Draws in batches, at points that follow the worths: what the variational criteria share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairfield.boltzmann.temperature import scale_error, scale_of
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import expit
from fairfield.estimation.at_points.draws import STEPPED, effective_size
from fairfield.estimation.at_points.guides import Guide, guides
from fairfield.estimation.at_points.pool import Pool, is_rare
from fairfield.estimation.at_points.reading import Reading, read
from fairfield.estimation.at_points.slopes import Columns
from fairfield.estimation.designs.design import Design
from fairfield.estimation.fitter import Fitter
from fairfield.estimation.loop import Estimate
from fairfield.estimation.over_rows import weighing
from fairfield.estimation.received import ends
from fairfield.estimation.surrogates.few_interactions import exact
from fairfield.evaluation.threads import one_blas_thread
from fairfield.mean_field.elbo import CERTAIN, elbo
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

FIRST_DRAWS = 50
# At most so many draws are made for each new coalition of a batch.
REPEATS = 8
# Draws that repeat known coalitions cost no evaluation, but time and memory.
MOST_DRAWS, MOST_NUMBERS = 2**16, 2**22
# The least share of the draws that must be effective at a point for errors to be reliable.
TRUSTED = 0.2
# The fewest effective draws per player from which a reading of draws may be preferred to a prior.
SHOWN = 4
# From so many coalitions per player on a prior is no longer read alone, but corrected by draws; and from so
# many on, draws alone say where the next ones are made, which is quicker.
PLENTY, ENOUGH = 50, 10
# Draws per coalition from which on a surrogate is not corrected by draws.
REPEATED = 1.5
# And of worths that jump, as those of a vote, the least number of draws beside the most frequent worth.
# 95 % intervals of three steps of votes of high quotas hold .25 from 5, .84 from 20, .97 from 30 and more.
OTHERS = 30


@dataclass(frozen=True)
class Found:
    """What the draws say of one game: the values, and where and how well they were read.

    ``logits`` are those of the point that the values lead to, ``level`` is f there; ``readings``
    are those that the errors rest on, ``weights`` (m, n) those of the worths in the values. ``by`` names
    what was read, if not the draws alone.
    """

    values: FloatArray
    covariance: FloatArray
    logits: FloatArray
    level: float
    residual: float
    readings: Sequence[Reading]
    weights: FloatArray
    by: str


class Draws:
    """Batches of draws, each at the points that the worths so far suggest.

    A temperature relative to Banzhaf's value is fixed after the first batch, drawn at ½.
    """

    def __init__(self, problem: Problem, start: FloatArray, *, helped: bool = True) -> None:
        self.problem, self.players = problem, len(problem.game.players)
        games = int(np.prod(problem.game.batch, dtype=int))
        self.pool = Pool(self.players, games)
        self.prior = np.zeros(self.players) if problem.prior is None else problem.prior
        # Players that the prior makes certain are so from the start.
        self.certain = np.abs(self.prior) == CERTAIN
        self.start = np.where(self.certain, expit(self.prior), start.reshape(games, self.players))
        T = problem.temperature
        self.temperature = None if T is None else T.reshape(games)
        # The standard error of a temperature that is estimated, as a share of it.
        self.unsure = 0.0
        self.batches = 0
        self._stale = False
        self._fitter = Fitter(problem.options.seed) if helped else None
        self._guides: tuple[int, list[Guide] | None] = (0, None)
        self._hurried = False
        first = (2 * FIRST_DRAWS, 8) if T is None else (FIRST_DRAWS, 2)
        self.first = max(first[0], first[1] * self.players, games)
        self.least = 2 + max(2 * self.players, games)

    def points(self) -> tuple[FloatArray, IntArray]:
        """Where the next batch is drawn, and the games these points are of."""
        raise NotImplementedError

    def update(self) -> None:
        """Move the points, all draws so far being evaluated."""
        raise NotImplementedError

    def ask(self, most: int) -> BoolArray:
        """A batch half as large as all before it, less the coalitions that are known."""
        stuck = False
        while self.pool.drawn < MOST_DRAWS:
            self.catch_up()
            at, owners = self.points()
            if stuck and len(self.pool.counts) < self.least:
                # Draws that are all alike never were enough.
                at = np.where(self.certain, expit(self.prior), np.full_like(at, 0.5))
            new = max(self.first, len(self.pool.counts) // 2)
            draws = min(max(REPEATS * new, self.pool.drawn // 2), MOST_NUMBERS // self.players)
            rng = np.random.default_rng([self.problem.options.seed, self.batches])
            rare = is_rare(at, self.pool.drawn) & ((self.batches > 0) | self.certain)
            also = None if self.batches else ends(self.players)
            fresh = self.pool.plan(at, owners, new, draws, rare, rng, also=also)
            self.batches += 1
            if len(fresh):
                return fresh[:most]
            # All of it is known already, which moves the points too.
            stuck = True
            self.tell(fresh, np.empty((*self.problem.game.batch, 0)))
        return np.empty((0, self.players), dtype=bool)

    def provenance(self) -> dict[str, Any]:
        """The sampler, the seed, the batch and its points."""
        return {
            "sampler": "least-squares",
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

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace the worths of the batches; those adopted come before them, and stay."""
        count = worths.shape[-1]
        own = slice(len(self.pool.counts) - count, None)
        shape = len(self.start), count
        given = [(self.pool.worths, worths)]
        if variances is not None:
            given.append((self.pool.noise, variances))
        if not all(np.array_equal(held[:, own], each.reshape(shape)) for held, each in given):
            for held, each in given:
                held[:, own] = each.reshape(shape)
            self._guides = (0, None)
            if self.problem.pending is not None:
                self.temperature = None
            self._settle()

    def adopt(self, others: list[Design | Pool]) -> None:
        """Use coalitions that were evaluated for other criteria of the same problem."""
        for other in others:
            self.pool.adopt(other)
        if len(self.pool.counts):
            self.batches = 1
            self.least = max(0, self.least - len(self.pool.counts))
            self._settle()

    def _settle(self) -> None:
        """Fix a pending temperature by Banzhaf values; the points are to be moved."""
        if self.temperature is None and self.problem.pending is not None:
            half = np.full(self.players, 0.5)
            readings = [self._gradient(half, game) for game in range(len(self.start))]
            banzhaf = np.stack([each for each, _ in readings])
            self.temperature = self.problem.pending.factor * scale_of(banzhaf, self.pool.worths)
            self.unsure = max(scale_error(*each) for each in readings)
        self._stale = True

    def _gradient(self, x: FloatArray, game: int) -> tuple[FloatArray, FloatArray]:
        """∇f(x) and its covariance."""
        guide = None if self.shown(x) else self.guide(game)
        if guide is None:
            reading = read(self.pool, x, game)
            return reading.slopes.gradient, reading.covariance()
        covariance, _, _ = self.left_open(guide, game, [(x, np.eye(self.players))])
        return guide.control.extension.gradient(x), covariance

    def guide(self, game: int, until: float = inf) -> Guide | None:
        """What surrogates make of a game, given few coalitions per player or all the time they need."""
        count, found = self._guides
        if count != len(self.pool.counts):
            found = None
            if self._fitter is not None:
                # One thread: the same bits on every machine.
                with one_blas_thread():
                    noisy = self.problem.game.traits.noisy
                    found = guides(self.pool, self._fitter, noisy=noisy, until=until)
            self._guides, self._hurried = (len(self.pool.counts), found), until < inf
        return None if found is None else found[game]

    def left_open(
        self, guide: Guide, game: int, steps: Sequence[tuple[FloatArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray, list[Reading]]:
        """Of Σ_k A_k ∇f(x_k) of a surrogate: its covariance, the weights (m, n) of the worths, and readings there.

        The readings tell how many draws are near; none are needed where the surrogate is the game.
        """
        covariance = np.zeros((self.players, self.players))
        weights = np.zeros((len(self.pool.counts), self.players))
        if guide.rest is None:
            return covariance, weights, []
        covariance, own = guide.rest.covariance(steps), guide.prior.weights(steps)
        weights[: len(own)] = own
        found = [read(self.pool, x, game, guide.control.extension.gradient(x)) for x, _ in steps]
        for (_, matrix), each in zip(steps, found, strict=True):
            # A coalition that was not seen may be as odd as any, as far as draws are near.
            unseen = guide.control.oddest / max(each.effective, 1.0) / each.slopes.columns.scale
            covariance = covariance + (matrix * unseen**2) @ matrix.T
        none = np.zeros(self.players, dtype=bool)
        return covariance, weights, [replace(each, thin=none) for each in found]

    def fewer_than(self, each: int) -> bool:
        """Whether fewer coalitions are known than this number per player."""
        return len(self.pool.counts) < each * self.players

    @property
    def repeats(self) -> bool:
        """Whether draws repeat, so that a surrogate that was fitted to these seems to leave nothing."""
        return self.pool.drawn > REPEATED * len(self.pool.counts)

    def shown(self, points: FloatArray) -> bool:
        """Whether so many draws count at points (…, n) that they show their own errors."""
        enough = SHOWN * (self.players + 1)
        return all(self.pool.effective(x) >= enough for x in np.atleast_2d(points))

    def catch_up(self) -> None:
        """Move the points, if worths have come in since: the last of them need no next point."""
        if self._stale:
            if self._hurried:
                # What an estimate had no more time for must not choose coalitions.
                self._guides = (0, None)
            self.update()
            self._stale = False

    def needed_temperature(self) -> FloatArray:
        """The temperature of each game, known after the first batch."""
        assert self.temperature is not None
        return self.temperature

    def shaped(self, each: ArrayLike) -> FloatArray:
        """One entry per game, with the axes of the batch."""
        found = np.asarray(each, dtype=float)
        return found.reshape((*self.problem.game.batch, *found.shape[1:]))

    def estimated(
        self, found: Sequence[Found], steps: int, warnings: list[str], **more: Any
    ) -> Estimate:
        """The estimate of all games, after so many steps."""
        problem, pool, temperature = self.problem, self.pool, self.needed_temperature()
        readings = [reading for each in found for reading in each.readings]
        logits = np.stack([each.logits for each in found])
        level = np.array([each.level for each in found])
        more["steps"] = np.full(problem.game.batch, steps) if problem.game.batch else steps
        numbers: dict[str, ArrayLike] = {
            "empty": pool.worths[:, 0],
            "grand": pool.worths[:, 1],
            "temperature": temperature,
            "residual": [each.residual for each in found],
        }
        if problem.options.decoupling is not False:
            numbers["elbo"] = elbo(level, logits, temperature, problem.prior)
        effective = min((reading.effective for reading in readings), default=inf)
        fixed = ", temperature fixed after the first batch" if problem.pending else ""
        remarks: tuple[str, ...] = ()
        if not readings:
            guides = [self.guide(game) for game in range(len(found))]
            remarks = (exact(min(each.held_back for each in guides if each is not None)),)
        if self.unsure:
            remarks += (
                f"the temperature was estimated, with a standard error of {self.unsure:.1%}; errors are those at "
                "this temperature, so pass temperature= a number to compare runs",
            )
        if pool.drawn >= MOST_DRAWS:
            limit = f"the draws reached their limit of {MOST_DRAWS:,}, so a larger budget changes nothing"
            remarks += (limit,)
        return Estimate(
            values=self.shaped([each.values for each in found]),
            covariance=self.shaped([each.covariance for each in found]),
            method=self._method(found, effective) + fixed,
            remarks=remarks,
            warnings=(*self._diagnostics(effective, readings), *self._jumps(found), *warnings),
            more={
                **{name: as_number(self.shaped(each)) for name, each in numbers.items()},
                "marginals": self.shaped(expit(logits)),
                **more,
            },
            linear=lambda: weighing(pool.coalitions, np.stack([each.weights for each in found])),
        )

    def _method(self, found: Sequence[Found], effective: float) -> str:
        pool = self.pool
        names = list(dict.fromkeys(each.by for each in found if each.by))
        if len(names) == 1 and all(not each.readings for each in found):
            return names[0]
        over = f"over {pool.drawn:,} draws of {len(pool.counts):,} coalitions, effective {effective:,.0f}"
        plain = [] if all(each.by for each in found) else ["least squares"]
        return f"{' or '.join([*names, *plain])} {over}"

    def _diagnostics(self, effective: float, readings: list[Reading]) -> list[str]:
        """Sentences on why the errors are not to be trusted."""
        found = []
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
        thin = max((int(reading.thin.sum()) for reading in readings), default=0)
        if thin:
            found.append(
                f"{thin} of the players were almost always in, or almost always out, of the coalitions "
                "drawn; their values are not to be trusted; raise the budget"
            )
        return found

    def _jumps(self, found: Sequence[Found]) -> list[str]:
        """A sentence where worths jump, and hardly a draw was on the other side."""
        others = inf
        for worths, each in zip(self.pool.worths, found, strict=True):
            values, which = np.unique(worths, return_inverse=True)
            if 1 < len(values) <= STEPPED:
                columns = [reading.slopes.columns for reading in each.readings]
                others = min([others, *(_beside_most(which, at) for at in columns)])
        if others >= OTHERS:
            return []
        return [
            f"worths jump, and {others:,.0f} effective draws had another one than most, so the error bars are not "
            "to be trusted; raise the budget"
        ]


def _beside_most(which: IntArray, columns: Columns) -> float:
    """The effective number of draws whose worth, numbered ``which`` (m,), is not the most frequent."""
    weights, counts = columns.weights, columns.counts
    rest = which != np.bincount(which, weights * counts).argmax()
    return effective_size(weights[rest], counts[rest])
