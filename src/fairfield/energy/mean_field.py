"""Mean-field inference: fixed points x = σ(λ + ∇f(x)/T) of the ELBO

    ELBO(x) = f(x)/T + H(x) + Σ_i x_i log π_i + (1-x_i) log(1-π_i),

λ the log-odds of a prior π (0 without).

Three ways to them, for one game or a batch: Anderson acceleration with an ELBO
safeguard, the paper's coordinate ascent, and the paper's synchronous Alg. 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from fairfield.energy.product import CERTAIN, entropy, log_odds, prior_energy, sigmoid
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
# Logits of equal players agree to this share of their scale. Averaging players who are
# not equal moves x by at most ¼ of it, which must stay below CONVERGED.
ALIKE = 1e-11
# Worths held by the games that are solved together: 8 MB stay in cache between steps.
TOGETHER = 2**20

REACHED = "converged"
OUT_OF_STEPS = f"stopped after {MOST_STEPS} steps before it converged"
OUT_OF_SWEEPS = f"stopped after {MOST_SWEEPS} sweeps before it converged"
IN_TURN = "converged by updating players in turn, where equal players may come to differ"
NO_ASCENT = "stopped where rounding hides any further ascent"
TWO_CYCLE = (
    "stopped in a two-cycle: synchronous updates alternate between two points for ever; "
    "use solver='anderson'"
)


@dataclass(frozen=True)
class MeanField:
    """Where a solver stopped: one row per game.

    ``elbo`` leaves out the extension's offset/T, and a constant where there is no prior.
    """

    x: FloatArray
    logits: FloatArray
    gradient: FloatArray
    elbo: FloatArray
    residual: FloatArray
    steps: NDArray[np.int64]
    stops: NDArray[np.str_]

    def updated(self, rows: NDArray[np.int64], other: MeanField) -> MeanField:
        """With these rows taken from another, their steps added up."""
        held = {f.name: getattr(self, f.name).copy() for f in fields(self)}
        width = max(held["stops"].dtype.itemsize, other.stops.dtype.itemsize)
        held["stops"] = held["stops"].astype(f"<U{width // 4}")
        for name, values in held.items():
            values[rows] = getattr(other, name)
        held["steps"][rows] += self.steps[rows]
        return MeanField(**held)

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
    def quick_sweep(self) -> bool:  # type: ignore[override]  # derived here, a field elsewhere
        return self.one.quick_sweep

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
        height = value / heat + entropy(logits) + prior_energy(x, logits, tilt)
        residual = np.max(np.abs(sigmoid(target) - x), axis=-1)
        return cls(x, logits, gradient, height, target - logits, residual)

    def slope(self) -> FloatArray:
        """Σ x(1-x) r²: the slope of the ELBO along r."""
        reach = np.minimum(np.sqrt(self.x * sigmoid(-self.logits)) * np.abs(self.pull), 1e150)
        return np.asarray(np.sum(reach**2, axis=-1))

    def distance(self) -> FloatArray:
        """Σ (σ(θ + r) - σ(θ)) r: how far the step r goes, also from a saturated x.

        The symmetric divergence between q at θ and at θ + r; Σ x(1-x) r² for small r.
        """
        step = sigmoid(self.logits + self.pull) - self.x
        return np.asarray(np.sum(step * self.pull, axis=-1))

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
    """Anderson acceleration; players in turn for the few games on which it stalls.

    It stalls where the temperature is so low that whole players flip at every step.
    """
    found = _accelerated(extension, start, heat, tilt)
    lost = np.flatnonzero(found.residual > CONVERGED)
    if not (len(lost) and extension.quick_sweep):
        return found
    again = coordinate(extension.rows(lost), found.x[lost], heat[lost], tilt)
    again = replace(again, stops=np.where(again.stops == REACHED, IN_TURN, again.stops))
    return found.updated(lost, again)


def _accelerated(
    extension: Extension, start: FloatArray, heat: FloatArray, tilt: FloatArray
) -> MeanField:
    """Anderson acceleration in logits θ, accepted only while the ELBO rises.

    A step that combines earlier ones is tried first; if the ELBO falls, the history is
    cleared and θ + ηr is tried with η = 1, ½, ¼, … until the ELBO gains enough. Close
    to the answer, where gains drown in rounding, a step must shorten the next one
    instead. Players who have agreed from the start are averaged after every step, so equal
    players stay equal even beside a saddle.
    """
    games = len(start)
    alive, parts = np.arange(games), []
    first = np.where(np.abs(tilt) == CERTAIN, tilt, np.clip(log_odds(start), -40.0, 40.0))
    best = _Point.at(extension, first, heat, tilt)
    history = _History.empty(best)
    damping = np.ones(games)
    combined = np.zeros(games, dtype=bool)
    equals = _Equals.of(best.logits, np.broadcast_to(tilt, start.shape))
    equals, trial = equals.levelled(best.logits + best.pull)
    for step in range(2, MOST_STEPS + 1):
        point = _Point.at(extension, trial, heat, tilt)
        before, after = best.distance(), point.distance()
        # A long step cannot gain more than its distance, whatever the slope at its foot.
        promise = damping * np.minimum(best.slope(), before)
        rises = point.elbo >= best.elbo + np.where(combined, 0.0, ENOUGH * promise)
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
            final = best.rows(out).result(np.full(len(out), step), reason)
            values = equals.rows(out).levelled(final.gradient)[1]
            parts.append((alive[out], replace(final, gradient=values)))
            if ended.all():
                break
        damping = np.where(accepted | combined, 1.0, damping / 2)
        mixed, combined = history.combine(best)
        combined &= accepted
        plain = best.logits + damping[:, None] * best.pull
        equals, trial = equals.levelled(_pick(combined, mixed, plain))
        if ended.any():
            on = np.flatnonzero(~ended)
            alive, best, history, equals = (
                alive[on],
                best.rows(on),
                history.rows(on),
                equals.rows(on),
            )
            damping, combined, trial = damping[on], combined[on], trial[on]
            extension, heat = extension.rows(on), heat[on]
    order = np.argsort(np.concatenate([which for which, _ in parts]))
    return MeanField(
        *(
            np.concatenate([getattr(part, f.name) for _, part in parts])[order]
            for f in fields(MeanField)
        )
    )


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
        past = np.isfinite(size) & (size > 1e-200)
        scale = np.where(past, size, 1.0)[:, None, None]
        # A little of the trace keeps parallel turns from cancelling in huge multiples.
        gram = np.where(past[:, None, None], gram / scale, 0.0) + 1e-13 * np.eye(MEMORY)
        target = np.where(
            past[:, None, None], turns @ (weights * point.pull)[..., None] / scale, 0.0
        )
        shares = np.linalg.solve(gram, target)[..., 0]
        step = np.einsum("mgn,gm->gn", self.moves + self.turns, shares)
        mixed = point.logits + point.pull - step
        return mixed, past & np.isfinite(mixed).all(axis=1)

    def rows(self, chosen: NDArray[np.int64]) -> _History:
        return _History(self.moves[:, chosen], self.turns[:, chosen])


class _Equals:
    """Players who have been equal from the start, and are kept so.

    Players that start alike form a group. A group splits for good where the logits of
    its members part by more than 1e-11 of their scale; those that stay together are
    averaged. So rounding never tells equal players apart, not even beside a saddle, and
    players who only happen to meet are left alone.
    """

    def __init__(self, groups: NDArray[np.int64]) -> None:
        self.groups = groups  # (games, n): equal numbers within a game are one group
        games, count = groups.shape
        self._keys = (groups + count * np.arange(games)[:, None]).ravel()
        self._shared = np.flatnonzero(np.bincount(self._keys)[self._keys] > 1)

    @classmethod
    def of(cls, *alike: FloatArray) -> _Equals:
        """The players of each game that agree in all of these (games, n)."""
        equals = cls(np.zeros(alike[0].shape, dtype=np.int64))
        for each in alike:
            equals, _ = equals.levelled(each)
        return equals

    def levelled(self, logits: FloatArray) -> tuple[_Equals, FloatArray]:
        """The groups that are left, and the logits averaged over them."""
        if not len(self._shared):
            return self, logits
        at, flat, count = self._shared, logits.ravel().copy(), logits.shape[1]
        at = at[np.lexsort((flat[at], self._keys[at]))]
        keys, ranked = self._keys[at], flat[at]
        size = np.where(np.abs(logits) < CERTAIN, np.abs(logits), 0.0)
        scale = np.maximum(size, 1e-4 * size.max(axis=1, keepdims=True)).ravel()
        apart = (np.diff(keys) != 0) | (np.diff(ranked) > ALIKE * scale[at[1:]])
        group = np.concatenate([[0], np.cumsum(apart)])
        flat[at] = (np.bincount(group, ranked) / np.bincount(group))[group]
        groups = self.groups.ravel().copy()
        # A group is named by one of its members, so names never clash within a game.
        first = np.concatenate([[0], np.flatnonzero(apart) + 1])
        groups[at] = at[first][group] % count
        return _Equals(groups.reshape(logits.shape)), flat.reshape(logits.shape)

    def rows(self, chosen: NDArray[np.int64]) -> _Equals:
        return _Equals(self.groups[chosen])


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
