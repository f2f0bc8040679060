"""One run of sampling p(S): climb to it from two bases, temper there, descend again.

Chains climb from a hot base, uniform (or the prior), and from a near one, a mixture of
mean-field laws; from where they end, ladders of parallel tempering go on sampling p; from
there chains descend to both bases. Samples come in groups: a ladder, with the chains that
left it and as many that climbed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.mcmc.annealed import Bridge, Tick, climb, descend
from fairfield.mcmc.bases import Mixture
from fairfield.mcmc.gibbs import Path
from fairfield.mcmc.ladder import Ladder, effective_share, pilot, resample
from fairfield.mcmc.landscape import Landscape
from fairfield.mcmc.tempering import SETTLING, Tempered, temper

# Independent ladders: with 64 of them a standard error is itself known to a tenth.
LEAST_GROUPS, MOST_GROUPS = 16, 64
# Chains up, and chains down, per group and base.
TOGETHER = 2
# Neighbouring rungs of the ladders are so far apart, in √Var of log weights.
SWAPPING = 1.0
# Looks that one group should have in all, and the iterations of tempering.
PER_GROUP = 500
# Bridges whose two ends overlap less than this connect nothing.
LEAST_OVERLAP = 0.15
LEAST_ITERATIONS, USUAL_ITERATIONS = 20, 150

# The place of the hot base among the two.
HOT = 0

# log w and coalitions where chains passed a rung.
Passed = tuple[FloatArray, BoolArray]


@dataclass(frozen=True)
class Run:
    """What one run gathered: the ladders, and a bridge to log Z from each of two bases.

    The ladders k, k + 2, … started where chains from base k ended.
    """

    tempered: Tempered
    bridges: tuple[Bridge, ...]

    @cached_property
    def overlaps(self) -> list[float]:
        """How well each base knows where the ladders are, those of the base it knows least."""
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

        A mixture of a few mean-field laws may know only a few modes of many; then its bridge
        does not stand. Where that of the hot base does, which leads to all ladders, only the
        ladders that the hot base started are kept: the others are not in proportion.
        Where it does not stand either, the better bridge is all there is.
        """
        if len(self.standing) == len(self.bridges):
            return self
        if HOT not in self.standing:
            return Run(self.tempered, (self.bridges[int(np.argmax(self.overlaps))],))
        own = self.started_by(HOT)
        return Run(self.tempered.among(own), (self.bridges[HOT].among(own),))

    @cached_property
    def kinship(self) -> float:
        """By how much errors grow since ladders start at samples that share ancestors.

        √(1 + ρ·g/m), in the mean over bases: g ladders were started from weighted chains
        worth m, and what they remember of it is the correlation ρ of the run's two halves.
        """
        each = self.tempered.heights.shape[1] / len(self.bridges)
        worth = [effective_share(bridge.up.ravel()) * bridge.up.size for bridge in self.bridges]
        shared = np.mean([each / chains for chains in worth])
        return float(np.sqrt(1 + self.tempered.memory * shared))

    def started_by(self, base: int) -> slice:
        """Which ladders started where chains from this base ended."""
        return slice(base, None, len(self.bridges))


@dataclass(frozen=True)
class Sampler:
    """Runs over a landscape, within its budget."""

    landscape: Landscape
    hot: Mixture
    near: Mixture | None  # found by the pilot where it is not known
    tick: Tick

    def run(self, effort: float, rng: np.random.Generator) -> Run:
        """Climb, temper, descend; the number of steps grows with ``effort``."""
        groups = 2 * int(np.clip(self.left() // PER_GROUP, LEAST_GROUPS, MOST_GROUPS) // 2)
        paths = [Path(self.landscape, self.hot)]
        ladder, ends = pilot(paths[0], groups, rng)
        near = Mixture.around(ends.slopes) if self.near is None else self.near
        paths.append(Path(self.landscape, near))
        ladders = [ladder, pilot(paths[1], groups, rng)[0]]
        rungs = ladder.rungs(max(3, ceil(ladder.length / SWAPPING) + 1))
        ways = self._ways(ladders, groups, effort)
        climbs = [self._climb(*each, groups, rungs, rng) for each in zip(paths, ways, strict=True)]
        later = TOGETHER * groups * sum(len(way.betas) + 1 for way in ways)
        most = (self.left() - later) / (groups * (len(rungs.betas) + 1)) / (1 + SETTLING)
        iterations = int(np.clip(most, LEAST_ITERATIONS, effort * USUAL_ITERATIONS))
        starts = paths[0].at(_starts(climbs, groups, rng))
        tempered = temper(paths[0], starts, rungs, iterations, rng, self.tick)
        # The later half, so that what the ladders found late is seen.
        when = np.linspace(iterations - 1, iterations // 2, TOGETHER).astype(int)
        cold = tempered.coalitions[when].reshape(-1, self.landscape.players)
        bridges = []
        for path, way, climbed in zip(paths, ways, climbs, strict=True):
            down = descend(path, path.at(cold), way, rng, self.tick)
            grouped = (logs.reshape(TOGETHER, groups).T for logs in (climbed[-1][0], down))
            bridges.append(Bridge(*grouped))
        return Run(tempered, tuple(bridges))

    def left(self) -> int:
        """How many more coalitions may be looked at."""
        assert self.landscape.budget is not None  # a run needs an end
        return max(0, self.landscape.budget - self.landscape.spent) // self.landscape.cost

    def _ways(self, ladders: list[Ladder], groups: int, effort: float) -> list[Ladder]:
        """Ladders for annealing: log w varies by about length²/rungs on them."""
        wanted = np.array([max(24.0, 4 * each.length**2) for each in ladders]) * effort
        affordable = 0.5 * self.left() / (2 * TOGETHER * groups)
        wanted *= min(1.0, affordable / wanted.sum())
        return [each.rungs(max(8, int(count))) for each, count in zip(ladders, wanted, strict=True)]

    def _climb(
        self, path: Path, way: Ladder, groups: int, rungs: Ladder, rng: np.random.Generator
    ) -> list[Passed]:
        """log w and coalitions where the chains passed each of the rungs."""
        seen: list[Passed] = []
        start = path.draw(groups * TOGETHER, rng)
        for beta, logs, chains in climb(path, start, way, rng, self.tick):
            while len(seen) < len(rungs.betas) and beta >= rungs.betas[len(seen)] - 1e-12:
                seen.append((logs, chains.inside))
        return seen


def _starts(climbs: list[list[Passed]], groups: int, rng: np.random.Generator) -> BoolArray:
    """Where ladders start: each rung where chains of the hot base passed it.

    At the coldest rung every base starts its share of the ladders, so that bases which
    found different coalitions can be told.
    """
    inside = [_drawn(passed, groups, rng) for passed in climbs[0]]
    for k, climbed in enumerate(climbs):
        inside[-1][k :: len(climbs)] = _drawn(climbed[-1], groups, rng)[k :: len(climbs)]
    return np.concatenate(inside)


def _drawn(passed: Passed, count: int, rng: np.random.Generator) -> BoolArray:
    logs, coalitions = passed
    return np.asarray(coalitions[rng.permutation(resample(logs, count, rng))])
