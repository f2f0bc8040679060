"""One run of sampling p(S): climb to it from two bases, temper there, descend.

Chains climb from a hot base, uniform (or the prior), and from a near one, a mixture of
mean-field laws; from where they end, ladders of parallel tempering go on sampling p; from
there chains descend to both bases. Samples come in groups: a ladder, with the chains that
left it and as many that climbed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.mcmc.annealed import Bridge, climb, descend
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.ladder import (
    MOST_RUNGS,
    MOVES,
    Ladder,
    effective_share,
    pilot,
    resample,
    thermodynamic_length,
)
from fairfield.mcmc.landscape import Landscape
from fairfield.mcmc.tempering import SETTLING, Tempered, steps_of, temper

# Independent ladders: with 64 of them a standard error is itself known to a tenth.
LEAST_GROUPS, MOST_GROUPS = 16, 64
# Chains up, and chains down, per group and base.
TOGETHER = 2
# Neighbouring rungs of the ladders are so far apart, in √Var of log weights.
SWAPPING = 1.0
# Visits that one group should have in all, and the iterations of tempering.
PER_GROUP = 500
LEAST_ITERATIONS, USUAL_ITERATIONS = 20, 150
# Rungs of tempering, and of annealing, at least.
LEAST_RUNGS, LEAST_WAY = 3, 8
# Rungs of tempering from a near base, at most.
NEAR_RUNGS = 5
# Bridges whose two ends overlap less than this connect nothing.
LEAST_OVERLAP = 0.15

# The place of the hot base among the two.
HOT = 0

# log w and coalitions where chains passed a rung.
Passed = tuple[FloatArray, BoolArray]


def _rungs_of(length: float) -> int:
    """How many rungs of tempering a ladder of this thermodynamic length has."""
    return max(LEAST_RUNGS, ceil(length / SWAPPING) + 1)


def _after_pilots(rungs: int) -> int:
    """The least visits of a group after the pilots: both ways up and down, and tempering."""
    return 4 * TOGETHER * LEAST_WAY + rungs * steps_of(LEAST_ITERATIONS)


# A run within fewer visits than this is not begun; one that is begun ends within its budget.
LEAST_VISITS = LEAST_GROUPS * (2 * (1 + MOVES) + _after_pilots(LEAST_RUNGS))


@dataclass(frozen=True)
class Run:
    """The samples of one run: the ladders, and a bridge to log Z from each of two bases.

    The ladders k, k + 2, … started where chains from base k ended.
    """

    tempered: Tempered
    bridges: tuple[Bridge, ...]
    centre: float  # what was taken out of all log weights
    least: float = -np.inf  # a lower bound of log Z
    span: float = 0.0  # how far apart the log weights of all visited coalitions are

    @cached_property
    def overlaps(self) -> list[float]:
        """The overlap of each base's bridge, with the ladders of either base: the smaller."""
        return [
            min(each.among(self.started_by(k)).overlap for k in range(len(self.bridges)))
            for each in self.bridges
        ]

    @cached_property
    def standing(self) -> list[int]:
        """The bases whose chains, up and down, gather overlapping weights."""
        return [k for k, overlap in enumerate(self.overlaps) if overlap >= LEAST_OVERLAP]

    @cached_property
    def trusted(self) -> Run:
        """What estimates are made from.

        A mixture of a few mean-field laws may have only a few modes of many; then its bridge
        does not stand; and from a plateau the hot base may not lead to any mode. Where one of them
        stands, which leads to all ladders, only the ladders that it started are kept: the others
        are not in proportion. Where neither stands, the bridge of larger overlap is used.
        """
        if len(self.standing) == len(self.bridges):
            return self
        if not self.standing:
            return replace(self, bridges=(self.bridges[int(np.argmax(self.overlaps))],))
        best = self.standing[0]
        own = self.started_by(best)
        bridge = self.bridges[best].among(own)
        return replace(self, tempered=self.tempered.among(own), bridges=(bridge,))

    @cached_property
    def inflation(self) -> float:
        """The factor of standard errors that accounts for ladders with common ancestors.

        √(1 + ρ·g/m), in the mean over bases: g ladders were started from weighted chains
        of effective number m, and ρ is the correlation of the run's two halves.
        """
        each = self.tempered.log_weights.shape[1] / len(self.bridges)
        chains = [effective_share(bridge.up.ravel()) * bridge.up.size for bridge in self.bridges]
        shared = np.mean([each / effective for effective in chains])
        return float(np.sqrt(1 + self.tempered.memory * shared))

    def started_by(self, base: int) -> slice:
        """Which ladders started where chains from this base ended."""
        return slice(base, None, len(self.bridges))


@dataclass(frozen=True)
class Sampler:
    """Runs over a landscape, which together visit at most ``budget`` coalitions."""

    landscape: Landscape
    hot: Mixture
    near: Mixture | None  # None: the mean of where the pilot ends
    budget: int

    def run(self, effort: float, rng: np.random.Generator) -> Run:
        """Climb, temper, descend; the number of steps grows with ``effort``."""
        paths, ladders, groups = self._pilots(rng)
        rungs = self._rungs(ladders, groups)
        count = sum(len(each.betas) for each in rungs) - (len(rungs) - 1)  # p is on all of them
        ways = self._ways(ladders, groups, count, effort)
        climbs = [self._climb(*each, groups, rng) for each in zip(paths, ways, rungs, strict=True)]
        iterations = self._iterations(groups, count, ways, effort)
        starts = [
            path.at(each)
            for path, each in zip(paths, _starts(climbs, groups, rng), strict=True)
            if len(each)
        ]
        tempered = temper(paths, starts, rungs, iterations, rng)
        # From the later half, so that what the ladders found late is included.
        when = np.linspace(iterations - 1, iterations // 2, TOGETHER).astype(int)
        cold = tempered.coalitions[when].reshape(-1, len(self.landscape.free))
        bridges = []
        for path, way, climbed in zip(paths, ways, climbs, strict=True):
            down = descend(path, path.at(cold), way, rng)
            grouped = (logs.reshape(TOGETHER, groups).T for logs in (climbed[-1][0], down))
            bridges.append(Bridge(*grouped))
        least = -np.inf if self.near is None else self.near.least
        span = self.landscape.highest - self.landscape.lowest
        return Run(tempered, tuple(bridges), self.landscape.centre, least, span)

    def left(self) -> int:
        """How many more coalitions may be visited."""
        return max(0, self.budget - self.landscape.visits)

    def _pilots(self, rng: np.random.Generator) -> tuple[list[Path], list[Ladder], int]:
        """Paths and ladders from both bases, and how many groups can go on from there.

        Where ladders turn out to be long there are fewer groups, and where they are too
        long even for the fewest, the pilot ends early.
        """
        groups = 2 * int(np.clip(self.left() // PER_GROUP, LEAST_GROUPS, MOST_GROUPS) // 2)
        hot = Path(self.landscape, self.hot)
        shortest = 1 + MOVES

        def rest(steps: int) -> int:
            return shortest + _after_pilots(_rungs_of(thermodynamic_length(steps)))

        ladder, ends = pilot(hot, groups, rng, self._most_steps(groups, rest))
        later = _after_pilots(_rungs_of(ladder.length))
        groups = self._affordable(groups, shortest + later)
        near = Path(self.landscape, self.near or Mixture.around(ends.log_odds))
        other, _ = pilot(near, groups, rng, self._most_steps(groups, lambda _: later))
        return [hot, near], [ladder, other], self._affordable(groups, later)

    def _most_steps(self, chains: int, rest: Callable[[int], int]) -> int:
        """The most steps of a pilot after which the fewest groups can still do the rest."""
        left = self.left()
        fitting = (
            steps
            for steps in range(MOST_RUNGS - 1, 0, -1)
            if chains * (1 + MOVES * steps) + LEAST_GROUPS * rest(steps) <= left
        )
        return next(fitting, 1)

    def _affordable(self, groups: int, visits: int) -> int:
        """As many of the groups, an even number, as can make so many visits each."""
        return min(groups, 2 * (self.left() // (2 * visits)))

    def _rungs(self, ladders: list[Ladder], groups: int) -> list[Ladder]:
        """The rungs of tempering from each base to p; of the near one p alone where it is far from p.

        That is where few modes of many are in the near base; the hot one leads to all of them.
        """
        hot, near = (_rungs_of(each.length) for each in ladders)
        spent = groups * near * steps_of(LEAST_ITERATIONS)
        if near > NEAR_RUNGS or 4 * spent > self.left() - groups * _after_pilots(hot):
            near = 1
        return [ladders[HOT].rungs(hot), ladders[1].rungs(near)]

    def _ways(self, ladders: list[Ladder], groups: int, rungs: int, effort: float) -> list[Ladder]:
        """Ladders for annealing: log w varies by about length²/rungs on them."""
        wanted = np.array([max(24.0, 4 * each.length**2) for each in ladders]) * effort
        each = 2 * TOGETHER * groups  # visits of a rung, up and down
        share = min(1.0, 0.5 * self.left() / each / wanted.sum())
        counts = [max(LEAST_WAY, int(count)) for count in wanted * share]
        most = (self.left() - groups * rungs * steps_of(LEAST_ITERATIONS)) // each
        if sum(counts) > most:
            spare = most - LEAST_WAY * len(ladders)
            counts = [LEAST_WAY + int(spare * part) for part in wanted / wanted.sum()]
        return [ladder.rungs(count) for ladder, count in zip(ladders, counts, strict=True)]

    def _iterations(self, groups: int, rungs: int, ways: list[Ladder], effort: float) -> int:
        """Iterations of tempering that leave enough for the ways down."""
        later = TOGETHER * groups * sum(len(way.betas) + 1 for way in ways)
        most = (self.left() - later) / (groups * (rungs + 1)) / (1 + SETTLING)
        iterations = int(np.clip(most, LEAST_ITERATIONS, effort * USUAL_ITERATIONS))
        room = self.left() - TOGETHER * groups * sum(len(way.betas) for way in ways)
        while groups * rungs * steps_of(iterations) > room:
            iterations -= 1
        return iterations

    def _climb(
        self, path: Path, way: Ladder, rungs: Ladder, groups: int, rng: np.random.Generator
    ) -> list[Passed]:
        """log w and coalitions where the chains passed each of the rungs."""
        seen: list[Passed] = []
        start = path.draw(groups * TOGETHER, rng)
        for beta, logs, chains in climb(path, start, way, rng):
            while len(seen) < len(rungs.betas) and beta >= rungs.betas[len(seen)] - 1e-12:
                seen.append((logs, chains.inside))
        return seen


def _starts(climbs: list[list[Passed]], groups: int, rng: np.random.Generator) -> list[BoolArray]:
    """Where ladders start: each rung where chains of its base passed it.

    At the coldest rung, which comes with those of the hot base, every base starts its share of the
    ladders, so that a difference between the bases shows.
    """
    hot, *others = ([_drawn(passed, groups, rng) for passed in each] for each in climbs)
    for k, climbed in enumerate(climbs):
        hot[-1][k :: len(climbs)] = _drawn(climbed[-1], groups, rng)[k :: len(climbs)]
    nobody = hot[-1][:0]
    return [np.concatenate(hot), *(np.concatenate([nobody, *each[:-1]]) for each in others)]


def _drawn(passed: Passed, count: int, rng: np.random.Generator) -> BoolArray:
    logs, coalitions = passed
    return np.asarray(coalitions[rng.permutation(resample(logs, count, rng))])
