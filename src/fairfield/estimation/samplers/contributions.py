"""The variational criteria by the two samplers of the paper.

    ∂_i f(x) = E[F(S+i) - F(S)],   S drawn from q(·; x | x_i ← 0)

"monte-carlo" draws anew for every player and step; "one-shot" draws S uniformly, once, and
weighs the same contributions by q at every step (here normalised by the sum of the weights,
without which they are worthless as soon as x leaves ½). Both need two worths for one
contribution of one player.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from fairfield.boltzmann.temperature import scale_of
from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import expit
from fairfield.estimation.at_points.draws import log_law
from fairfield.estimation.loop import Estimate
from fairfield.estimation.samplers.registry import sampler
from fairfield.problem import Problem
from fairfield.results.valuation import as_number

CRITERIA = ("variational_index", "variational_values")
# The paper finds 5 to 10 iterations enough for the index.
USUAL_STEPS = 10
# Contributions per player in the first round of "one-shot".
FIRST = 16
# From fewer effective draws a variance is not to be trusted.
TRUSTED = 30
MOST_STEPS, SETTLED = 500, 1e-10


class _Contributions:
    """Pairs of coalitions without and with a player, asked for in order and received in part."""

    name: str

    def __init__(self, problem: Problem, start: FloatArray, steps: int | None) -> None:
        if problem.game.batch:
            raise ValueError(
                f"sampler={self.name!r} takes one game, a batch of {problem.game.batch} was given; "
                "leave sampler= out, or value the games one by one"
            )
        if problem.temperature is None and not (start == 0.5).all():
            raise ValueError(
                f"sampler={self.name!r} has no Banzhaf value where start is not ½; pass "
                "temperature= as a number in the units of the worths"
            )
        self.problem, self.start, self.steps = problem, start, steps
        self.players = len(start)
        self.prior = np.zeros(self.players) if problem.prior is None else problem.prior
        self.temperature = problem.temperature
        self.rng = np.random.default_rng(problem.options.seed)
        self.planned: BoolArray = np.empty((0, self.players), dtype=bool)
        self.received: FloatArray = np.empty(0)

    def provenance(self) -> dict[str, Any]:
        """The sampler and its seed."""
        return {"sampler": self.name, "seed": self.problem.options.seed}

    def plan(self) -> None:
        """Plan more contributions, those of the last plan being received."""
        raise NotImplementedError

    def ask(self, most: int) -> BoolArray:
        """The contributions planned that are not received yet, or more of them."""
        if len(self.received) == len(self.planned):
            self.plan()
        return self.planned[len(self.received) :][:most]

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Keep the worths, which come in the order of the proposals."""
        self.received = np.concatenate([self.received, worths])

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Replace all of them."""
        self.received = worths

    def draw(self, inside: FloatArray, each: int) -> None:
        """Plan ``each`` contributions of every player, others joining with this probability."""
        drawn = self.rng.random((each, self.players, self.players)) < inside
        own = np.eye(self.players, dtype=bool)
        both = np.stack([drawn & ~own, drawn | own], axis=2)
        self.planned = np.concatenate([self.planned, both.reshape(-1, self.players)])

    def contributions(self, first: int) -> tuple[BoolArray, FloatArray]:
        """Coalitions (each, n, n) and contributions (each, n), of all players alike."""
        received = self.received[first:]
        whole = len(received) - len(received) % (2 * self.players)
        worths = received[:whole].reshape(-1, self.players, 2)
        rows = self.planned[first:][:whole].reshape(*worths.shape, self.players)[:, :, 0]
        return rows, worths[..., 1] - worths[..., 0]

    def settle(self, banzhaf: FloatArray) -> FloatArray:
        """The temperature; a relative one is fixed by the first step from ½."""
        if self.temperature is None:
            assert self.problem.pending is not None
            self.temperature = self.problem.pending.factor * scale_of(banzhaf, self.received)
        return self.temperature

    def about(self, values: FloatArray, path: list[FloatArray], moved: float) -> dict[str, Any]:
        """What both samplers report of a walk along this path, whose last step moved so far."""
        temperature = self.settle(values)
        return {
            "marginals": expit(self.prior + values / temperature),
            "temperature": as_number(temperature),
            "trajectory": np.stack(path),
            "steps": len(path) - 1,
            "residual": moved,
        }


@sampler("monte-carlo", *CRITERIA)
class MonteCarlo(_Contributions):
    """The paper's plain Monte Carlo: m new coalitions for every player and step."""

    name = "monte-carlo"

    def __init__(self, problem: Problem, start: FloatArray, steps: int | None) -> None:
        super().__init__(problem, start, steps)
        if problem.options.budget is None:
            raise ValueError(
                "sampler='monte-carlo' divides a budget among players and steps; pass budget="
            )
        if problem.options.seconds is not None:
            raise ValueError(
                "sampler='monte-carlo' takes all its steps or none, and seconds= might end it "
                "between two; leave out seconds=, or sampler="
            )
        self.rounds = USUAL_STEPS if steps is None else steps
        # Two contributions of every player show a spread.
        self.least = 4 * self.players * self.rounds
        self.each = problem.options.budget // (2 * self.players * self.rounds)
        self.path = [start]
        # Of every step: how its error adds to that of the step before, and its own variance.
        self.errors: list[tuple[FloatArray, FloatArray]] = []

    def plan(self) -> None:
        """The contributions of the next step."""
        if len(self.errors) < self.rounds:
            self.draw(self.path[-1], self.each)

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Take the step that the worths complete."""
        super().tell(coalitions, worths, variances)
        if len(self.received) < len(self.planned):
            return
        rows, gains = self.contributions(-2 * self.players * self.each)
        x, self.gradient = self.path[-1], gains.mean(axis=0)
        temperature = self.settle(self.gradient)
        hessian = curvature(rows, gains, np.full_like(gains, 1 / len(gains)), x)
        carried = hessian * (x * (1 - x)) / temperature
        self.errors.append((carried, gains.var(axis=0, ddof=1) / len(gains)))
        self.path.append(expit(self.prior + self.gradient / temperature))

    def revise(self, worths: FloatArray, variances: FloatArray | None = None) -> None:
        """Refuse other worths: the steps that they would lead to were never drawn."""
        if not np.array_equal(worths, self.received):
            raise ValueError(
                f"sampler={self.name!r} draws where its worths lead, and these were revised; leave "
                "sampler= out, or give repeats= as a number"
            )

    def estimate(self, until: float = inf) -> Estimate:
        """The last step that is complete, errors carried from step to step."""
        covariance = np.zeros((self.players, self.players))
        for carried, variance in self.errors:
            covariance = np.diag(variance) + carried @ covariance @ carried.T
        warnings = []
        if len(self.errors) < self.rounds:
            # A tolerance must not be met by a step that is not the last.
            warnings.append(f"these are the values of step {len(self.errors)} of {self.rounds}")
        if self.each < TRUSTED:
            warnings.append(
                f"the error bars rest on {self.each} contributions of each player only, and are "
                "not to be trusted; raise the budget"
            )
        moved = float(np.max(np.abs(self.path[-1] - self.path[-2])))
        return Estimate(
            self.gradient,
            covariance,
            f"Monte Carlo, {self.each:,} contributions per player and step",
            warnings=tuple(warnings),
            more=self.about(self.gradient, self.path, moved),
        )


@sampler("one-shot", *CRITERIA)
class OneShot(_Contributions):
    """The paper's one-shot trick: uniform coalitions, evaluated once and weighted at every step."""

    name = "one-shot"

    def __init__(self, problem: Problem, start: FloatArray, steps: int | None) -> None:
        super().__init__(problem, start, steps)
        self.least = 4 * self.players

    def plan(self) -> None:
        """Half as many contributions again of every player."""
        known = len(self.planned) // (2 * self.players)
        self.draw(np.full(self.players, 0.5), max(FIRST, known // 2))

    def estimate(self, until: float = inf) -> Estimate:
        """The steps asked for, or steps until they settle, on the same contributions."""
        rows, gains = self.contributions(0)
        temperature = self.settle(gains.mean(axis=0))
        path = [self.start]
        shifts = np.zeros((*gains.shape, self.players))
        pace, before = 1.0, np.inf
        for _ in range(MOST_STEPS if self.steps is None else self.steps):
            x = path[-1]
            weights = self._weights(rows, x)
            gradient = (weights * gains).sum(axis=0)
            hessian = curvature(rows, gains, weights, x)
            carried = hessian * (x * (1 - x)) / temperature
            own = weights * (gains - gradient)
            if self.steps is not None:
                shifts = own[..., None] * np.eye(self.players) + shifts @ carried.T
            target = expit(self.prior + gradient / temperature)
            moved = float(np.max(np.abs(target - x)))
            if self.steps is None and moved <= SETTLED:
                break
            # Steps that grow would cycle; the index is where they end, not how they get there.
            pace = pace / 2 if self.steps is None and moved > before else pace
            before = moved
            path.append(x + pace * (target - x))
        if self.steps is None:
            through = np.linalg.inv(np.eye(self.players) - carried)
            shifts = own[..., None] * through.T
        flat = shifts.reshape(-1, self.players)
        effective, each = float(np.min(1 / np.sum(weights**2, axis=0))), len(gains)
        warnings = []
        if effective < max(TRUSTED, 0.2 * each):
            warnings.append(
                f"of {each:,} contributions of a player only {effective:,.0f} are effective at the "
                "point found, so the errors are not to be trusted; leave sampler= out"
            )
        if self.steps is None and moved > SETTLED:
            warnings.append(f"the steps did not settle, the last moved x by {moved:.2g}")
        method = f"one-shot, {each:,} contributions per player, {effective:,.0f} effective"
        more = self.about(gradient, path, moved)
        return Estimate(gradient, flat.T @ flat, method, tuple(warnings), more=more)

    def _weights(self, rows: BoolArray, x: FloatArray) -> FloatArray:
        """q(S; x | x_i ← 0) of each contribution, normalised for every player: (each, n)."""
        logs = np.empty(rows.shape[:2])
        for i in range(self.players):
            others: IntArray = np.flatnonzero(np.arange(self.players) != i)
            logs[:, i] = log_law(rows[:, i][:, others], x[others])
        weights = np.exp(logs - logs.max(axis=0))
        return np.asarray(weights / weights.sum(axis=0))


def curvature(rows: BoolArray, gains: FloatArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """∂_ij f(x), how the contribution of i (each, n) moves with j: (n, n), noise shrunk."""
    spread = np.where((x > 0) & (x < 1), x * (1 - x), np.inf)
    columns = (rows - x) / spread
    apart = weights * (gains - (weights * gains).sum(axis=0))
    moments = np.einsum("ki,kij->ij", apart, columns)
    np.fill_diagonal(moments, 0.0)
    noise = np.einsum("ki,kij->ij", apart**2, columns**2)
    np.fill_diagonal(noise, 0.0)
    size = np.sum(moments**2)
    return np.asarray(moments * (max(0.0, 1 - noise.sum() / size) if size > 0 else 0.0))
