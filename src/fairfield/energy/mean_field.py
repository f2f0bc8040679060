"""Mean-field inference: fixed points x = σ(λ + ∇f(x)/T) of the ELBO

    ELBO(x) = f(x)/T + H(x) + Σ_i λ_i x_i,   λ the log-odds of a prior (0 without).

Three ways to them, for one game or a batch: Anderson acceleration with an ELBO
safeguard, the paper's coordinate ascent, and the paper's synchronous Alg. 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from fairfield.energy.product import entropy, log_odds, sigmoid
from fairfield.game import Extension, FloatArray
from fairfield.valuation import CONVERGED

# The solver goes on to this residual, well below CONVERGED, where rounding permits.
TARGET = 1e-12
MEMORY = 5  # earlier steps that Anderson acceleration combines
MOST_STEPS = 1000
MOST_SWEEPS = 20_000
# An ascent of this share of the first-order prediction is enough (Armijo).
ENOUGH = 1e-3
# Predicted gains below this share of the ELBO drown in its rounding.
ROUNDING = 1e-10
# Worths held by the games that are solved together: 8 MB stay in cache between steps.
TOGETHER = 2**20

REACHED = "converged"
OUT_OF_STEPS = f"stopped after {MOST_STEPS} steps before it converged"
OUT_OF_SWEEPS = f"stopped after {MOST_SWEEPS} sweeps before it converged"
NO_ASCENT = "stopped where rounding hides any further ascent"
TWO_CYCLE = (
    "stopped in a two-cycle: synchronous updates alternate between two points for ever; "
    "use solver='anderson'"
)


@dataclass(frozen=True)
class MeanField:
    """Where a solver stopped: one row per game.

    ``elbo`` leaves out the extension's offset/T and the prior's constant.
    """

    x: FloatArray
    logits: FloatArray
    gradient: FloatArray
    elbo: FloatArray
    residual: FloatArray
    steps: NDArray[np.int64]
    stops: NDArray[np.str_]

    def better_of(self, other: MeanField) -> MeanField:
        """Row by row the one with the higher ELBO; a tie keeps the first."""
        wins = other.elbo > self.elbo
        held = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        total = self.steps + other.steps
        picked = {
            name: np.where(wins.reshape(-1, *[1] * (mine.ndim - 1)), theirs, mine)
            for name, (mine, theirs) in held.items()
        }
        return MeanField(**{**picked, "steps": total})


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
    heat = temperature.reshape(games)
    tilt = np.zeros(count) if prior is None else prior
    if not extension.batch:
        return solver(_Single(extension), starts, heat, tilt)
    together = max(1, TOGETHER >> min(count, 20))
    parts = [
        solver(extension.rows(some), starts[some], heat[some], tilt)
        for some in (slice(i, min(i + together, games)) for i in range(0, games, together))
    ]
    return MeanField(
        **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(MeanField)}
    )


@dataclass(frozen=True)
class _Single(Extension):
    """One game as a batch of one."""

    one: Extension
    batch = (1,)

    @property
    def players(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        return self.one.players

    def centred(self, x: object) -> tuple[FloatArray, FloatArray]:
        value, gradient = self.one.centred(np.asarray(x)[0])
        return value[None], gradient[None]

    def sweep(self, x: FloatArray, update: Callable[..., FloatArray]) -> FloatArray:
        return self.one.sweep(x[0], lambda i, slope: update(i, slope[None])[0])[None]

    def rows(self, chosen: object) -> Extension:
        return self


@dataclass(frozen=True)
class _Point:
    """A point of every game and what the extension says there."""

    x: FloatArray
    logits: FloatArray
    gradient: FloatArray
    elbo: FloatArray
    pull: FloatArray  # r = λ + ∇f(x)/T - θ, zero at a fixed point
    residual: FloatArray

    @classmethod
    def at(
        cls, extension: Extension, logits: FloatArray, heat: FloatArray, tilt: FloatArray
    ) -> _Point:
        x = sigmoid(logits)
        value, gradient = extension.centred(x)
        target = tilt + gradient / heat[:, None]
        height = value / heat + entropy(logits) + x @ tilt
        residual = np.max(np.abs(sigmoid(target) - x), axis=-1)
        return cls(x, logits, gradient, height, target - logits, residual)

    def ascent(self) -> FloatArray:
        """Σ x(1-x) r²: the slope of the ELBO along r, and the squared norm of r."""
        return np.asarray(np.sum(self.x * sigmoid(-self.logits) * self.pull**2, axis=-1))

    def where(self, mask: NDArray[np.bool_], other: _Point) -> _Point:
        """This point in the games of the mask, the other elsewhere."""
        return _Point(
            *(_pick(mask, getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        )

    def rows(self, chosen: NDArray[np.int64]) -> _Point:
        return _Point(*(getattr(self, f.name)[chosen] for f in fields(self)))

    def result(self, steps: NDArray[np.int64], otherwise: str) -> MeanField:
        stops = np.where(self.residual <= CONVERGED, REACHED, otherwise)
        return MeanField(self.x, self.logits, self.gradient, self.elbo, self.residual, steps, stops)


def anderson(
    extension: Extension, start: FloatArray, heat: FloatArray, tilt: FloatArray
) -> MeanField:
    """Anderson acceleration in logits θ, accepted only while the ELBO rises.

    A step that combines earlier ones is tried first; if the ELBO falls, the history is
    cleared and θ + ηr is tried with η = 1, ½, ¼, … until the ELBO gains enough. Close
    to the answer, where gains drown in rounding, a step must shrink Σ x(1-x) r²
    instead. Players whose logits agree are averaged after every step, so equal players
    stay equal even beside a saddle.
    """
    games = len(start)
    alive, parts = np.arange(games), []
    best = _Point.at(extension, np.clip(log_odds(start), -40.0, 40.0), heat, tilt)
    history = _History.empty(best)
    damping = np.ones(games)
    combined = np.zeros(games, dtype=bool)
    trial = _levelled(best.logits + best.pull)
    for step in range(2, MOST_STEPS + 1):
        point = _Point.at(extension, trial, heat, tilt)
        before, after = best.ascent(), point.ascent()
        rises = point.elbo >= best.elbo + np.where(combined, 0.0, ENOUGH * damping * before)
        drowned = before <= ROUNDING * np.maximum(1.0, np.abs(best.elbo))
        accepted = np.where(drowned, after < before, rises)
        # One who has converged does not need to be told twice that he cannot improve.
        stuck = ~accepted & ~combined & ((best.residual <= CONVERGED) | (damping < 2.0**-30))
        history.add(best, point, accepted)
        best = point.where(accepted, best)
        ended = (best.residual <= TARGET) | stuck | (step == MOST_STEPS)
        if ended.any():
            reason = OUT_OF_STEPS if step == MOST_STEPS else NO_ASCENT
            out = np.flatnonzero(ended)
            parts.append((alive[out], best.rows(out).result(np.full(len(out), step), reason)))
            if ended.all():
                break
        damping = np.where(accepted | combined, 1.0, damping / 2)
        mixed, combined = history.combine(best)
        combined &= accepted
        trial = _levelled(_pick(combined, mixed, best.logits + damping[:, None] * best.pull))
        if ended.any():
            on = np.flatnonzero(~ended)
            alive, best, history = alive[on], best.rows(on), history.rows(on)
            damping, combined, trial = damping[on], combined[on], trial[on]
            extension, heat = extension.rows(on), heat[on]
    order = np.argsort(np.concatenate([which for which, _ in parts]))
    found = MeanField(
        *(
            np.concatenate([getattr(part, f.name) for _, part in parts])[order]
            for f in fields(MeanField)
        )
    )
    return replace(found, gradient=_levelled(found.gradient))


@dataclass(frozen=True)
class _History:
    """The last few changes of θ and of r, newest first, zero where there are none."""

    moves: FloatArray  # (MEMORY, games, n)
    turns: FloatArray

    @classmethod
    def empty(cls, point: _Point) -> _History:
        shape = (MEMORY, *point.logits.shape)
        return cls(np.zeros(shape), np.zeros(shape))

    def add(self, old: _Point, new: _Point, accepted: NDArray[np.bool_]) -> None:
        """Remember an accepted step; a refused one clears what led to it."""
        for kept, change in (
            (self.moves, new.logits - old.logits), (self.turns, new.pull - old.pull),
        ):  # fmt: skip
            kept[1:] = kept[:-1]
            kept[0] = change
            kept[:, ~accepted] = 0.0

    def combine(self, point: _Point) -> tuple[FloatArray, NDArray[np.bool_]]:
        """θ + r - (Δθ + Δr)γ with γ minimising Σ x(1-x)(r - Δr γ)², where there is a past."""
        weights = np.sqrt(point.x * sigmoid(-point.logits))
        turns = (self.turns * weights).swapaxes(0, 1)
        gram = turns @ turns.swapaxes(1, 2)
        size = np.trace(gram, axis1=1, axis2=2)
        # A little of the trace keeps parallel turns from cancelling in huge multiples.
        ridge = (1e-13 * size + (size == 0))[:, None, None] * np.eye(MEMORY)
        shares = np.linalg.solve(gram + ridge, turns @ (weights * point.pull)[..., None])[..., 0]
        step = np.einsum("mgn,gm->gn", self.moves + self.turns, shares)
        return point.logits + point.pull - step, size > 0

    def rows(self, chosen: NDArray[np.int64]) -> _History:
        return _History(self.moves[:, chosen], self.turns[:, chosen])


def _levelled(logits: FloatArray) -> FloatArray:
    """Logits that agree to 1e-9 of their scale, averaged."""
    order = np.argsort(logits, axis=-1)
    ranked = np.take_along_axis(logits, order, axis=-1)
    scale = np.maximum(np.abs(ranked), 1e-4 * np.abs(ranked).max(axis=-1, keepdims=True))
    apart = np.diff(ranked, axis=-1) > 1e-9 * scale[:, 1:]
    if apart.all():
        return logits
    first = np.ones((len(ranked), 1), dtype=bool)
    group = np.cumsum(np.concatenate([first, apart], axis=1).ravel()) - 1
    means = np.bincount(group, ranked.ravel()) / np.bincount(group)
    level = np.empty_like(logits)
    np.put_along_axis(level, order, means[group].reshape(ranked.shape), axis=-1)
    return level


def _pick(mask: NDArray[np.bool_], yes: FloatArray, no: FloatArray) -> FloatArray:
    return np.where(mask.reshape(-1, *[1] * (yes.ndim - 1)), yes, no)


def coordinate(
    extension: Extension, start: FloatArray, heat: FloatArray, tilt: FloatArray
) -> MeanField:
    """The paper's naive mean field: players in turn, each update raises the ELBO."""
    x = start
    logits = log_odds(start)

    def update(player: int, slope: FloatArray) -> FloatArray:
        logits[:, player] = tilt[player] + slope / heat
        return np.asarray(sigmoid(logits[:, player]))

    sweeps, change = 0, np.inf
    while change > TARGET and sweeps < MOST_SWEEPS:
        moved = extension.sweep(x, update)
        change = np.max(np.abs(moved - x))
        x, sweeps = moved, sweeps + 1
    point = _Point.at(extension, logits, heat, tilt)
    return point.result(np.full(len(start), sweeps), OUT_OF_SWEEPS)


def synchronous(
    extension: Extension, start: FloatArray, heat: FloatArray, tilt: FloatArray
) -> MeanField:
    """Alg. 1 of the paper, x ← σ(λ + ∇f(x)/T) for all at once, until it settles or cycles."""
    point = _Point.at(extension, log_odds(start), heat, tilt)
    earlier = point.x
    steps = np.ones(len(start), dtype=np.int64)
    cycles = np.zeros(len(start), dtype=bool)
    for _ in range(MOST_STEPS):
        going = (point.residual > TARGET) & ~cycles
        if not going.any():
            break
        after = _Point.at(extension, point.logits + point.pull, heat, tilt)
        back = np.max(np.abs(after.x - earlier), axis=-1)
        cycles |= going & (back <= TARGET) & (after.residual > 1e3 * CONVERGED)
        earlier = _pick(going, point.x, earlier)
        point = after.where(going, point)
        steps += going
    result = point.result(steps, OUT_OF_STEPS)
    return replace(result, stops=np.where(cycles, TWO_CYCLE, result.stops))
