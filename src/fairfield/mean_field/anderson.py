"""Anderson acceleration of the mean-field iteration, safeguarded by the ELBO."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.mean_field.elbo import CERTAIN, log_odds
from fairfield.mean_field.rows import rows_where
from fairfield.mean_field.solvers import (
    IN_TURN,
    MOST_STEPS,
    NO_ASCENT,
    OUT_OF_STEPS,
    REACHED,
    TARGET,
    MeanField,
    Point,
    coordinate,
)
from fairfield.results.valuation import CONVERGED

MEMORY = 5  # earlier steps that are combined
# An ascent of this share of the first-order prediction is enough (Armijo).
ENOUGH = 1e-3
# Predicted gains below this share of the ELBO drown in its rounding.
ROUNDING = 1e-10
# Logits of equal players agree to this share of their scale. Averaging players who are
# not equal moves x by at most ¼ of it, which must stay below CONVERGED.
ALIKE = 1e-11
# And to this share of the largest logits their game has shown, which is rounding.
ROUGH = 64 * np.finfo(float).eps


def anderson(
    extension: Extension, start: FloatArray, temperature: FloatArray, bias: FloatArray
) -> MeanField:
    """Anderson acceleration; players in turn for the few games on which it stalls.

    It stalls where the temperature is so low that whole players flip at every step.
    """
    found = _accelerated(extension, start, temperature, bias)
    stalled = np.flatnonzero(found.residual > CONVERGED)
    if not (len(stalled) and extension.quick_sweep):
        return found
    swept = coordinate(extension.rows(stalled), found.x[stalled], temperature[stalled], bias)
    swept = replace(swept, stops=np.where(swept.stops == REACHED, IN_TURN, swept.stops))
    return found.updated(stalled, swept)


def _accelerated(
    extension: Extension, start: FloatArray, temperature: FloatArray, bias: FloatArray
) -> MeanField:
    """Anderson acceleration in logits θ, accepted only while the ELBO rises.

    A step that combines earlier ones is tried first; if the ELBO falls, the history is
    cleared and θ + ηr is tried with η = 1, ½, ¼, … until the ELBO gains enough. Close
    to the answer, where gains drown in rounding, a step must shorten the next one.
    Players who have agreed from the start are averaged after every step, so equal players
    stay equal even beside a saddle.
    """
    games = len(start)
    alive, parts = np.arange(games), []
    first = np.where(np.abs(bias) == CERTAIN, bias, np.clip(log_odds(start), -40.0, 40.0))
    best = Point.at(extension, first, temperature, bias)
    history = _History.empty(best)
    damping = np.ones(games)
    combined = np.zeros(games, dtype=bool)
    equals = Equals.of(best.logits, np.broadcast_to(bias, start.shape))
    equals, trial = equals.levelled(best.logits + best.pull)
    for step in range(2, MOST_STEPS + 1):
        point = Point.at(extension, trial, temperature, bias)
        before, after = best.distance, point.distance
        # A long step cannot gain more than its distance, whatever the slope at its foot.
        promise = damping * np.minimum(best.slope, before)
        rises = point.elbo >= best.elbo + np.where(combined, 0.0, ENOUGH * promise)
        drowned = before <= ROUNDING * np.maximum(1.0, np.abs(best.elbo))
        accepted = np.where(drowned, after < before, rises)
        # A game that has converged is not tried with ever smaller steps.
        stuck = ~accepted & ~combined & ((best.residual <= CONVERGED) | (damping < 2.0**-30))
        history.add(step, best, point, accepted)
        best = point.where(accepted, best)
        ended = (best.residual <= TARGET) | stuck | (step == MOST_STEPS)
        if ended.any():
            reason = OUT_OF_STEPS if step == MOST_STEPS else NO_ASCENT
            out = np.flatnonzero(ended)
            final = best.take(out).result(np.full(len(out), step), reason)
            values = equals.rows(out).levelled(final.gradient)[1]
            parts.append((alive[out], replace(final, gradient=values)))
            if ended.all():
                break
        damping = np.where(accepted | combined, 1.0, damping / 2)
        mixed, combined = history.combine(best)
        combined &= accepted
        plain = best.logits + damping[:, None] * best.pull
        equals, trial = equals.levelled(rows_where(combined, mixed, plain))
        if ended.any():
            on = np.flatnonzero(~ended)
            alive, best = alive[on], best.take(on)
            history, equals = history.rows(on), equals.rows(on)
            damping, combined, trial = damping[on], combined[on], trial[on]
            extension, temperature = extension.rows(on), temperature[on]
    order = np.argsort(np.concatenate([which for which, _ in parts]))
    return MeanField.joined([part for _, part in parts]).take(order)


@dataclass(frozen=True)
class _History:
    """The last few changes of θ and of r, zero where there are none."""

    moves: FloatArray  # (MEMORY, games, n)
    turns: FloatArray

    @classmethod
    def empty(cls, point: Point) -> _History:
        shape = (MEMORY, *point.logits.shape)
        return cls(np.zeros(shape), np.zeros(shape))

    def add(self, number: int, old: Point, new: Point, accepted: BoolArray) -> None:
        """Keep an accepted step; a rejected one clears the history."""
        oldest = number % MEMORY
        self.moves[oldest], self.turns[oldest] = new.logits - old.logits, new.pull - old.pull
        if not accepted.all():
            self.moves[:, ~accepted] = self.turns[:, ~accepted] = 0.0

    def combine(self, point: Point) -> tuple[FloatArray, BoolArray]:
        """θ + r - (Δθ + Δr)γ with γ minimising Σ x(1-x)(r - Δr γ)², where there is a past."""
        turns = (self.turns * point.spread).swapaxes(0, 1)
        gram = turns @ turns.swapaxes(1, 2)
        size = np.trace(gram, axis1=1, axis2=2)
        past = np.isfinite(size) & (size > 1e-200)
        scale = np.where(past, size, 1.0)[:, None, None]
        # A little of the trace keeps parallel turns from cancelling in huge multiples.
        gram = np.where(past[:, None, None], gram / scale, 0.0) + 1e-13 * np.eye(MEMORY)
        target = np.where(
            past[:, None, None], turns @ (point.spread * point.pull)[..., None] / scale, 0.0
        )
        shares = np.linalg.solve(gram, target)[..., 0]
        mixed = point.logits + point.pull
        for past_steps in (self.moves, self.turns):
            mixed -= (shares[:, None] @ past_steps.swapaxes(0, 1))[:, 0]
        return mixed, past & np.isfinite(mixed).all(axis=1)

    def rows(self, chosen: IntArray) -> _History:
        return _History(self.moves[:, chosen], self.turns[:, chosen])


class Equals:
    """Players who have been equal from the start, and are kept so.

    Players that start alike form a group. A group splits for good where the logits of
    its members part by more than 1e-11 of their size and the game's rounding; those that
    stay together are averaged. So rounding never separates equal players, not even
    beside a saddle, and players whose logits only happen to meet are not averaged.
    """

    def __init__(self, groups: IntArray, reach: FloatArray) -> None:
        self.groups = groups  # (games, n): equal numbers within a game are one group
        self.reach = reach  # the largest logits a game has shown, the scale of its rounding
        games, count = groups.shape
        keys = (groups + count * np.arange(games)[:, None]).ravel()
        shared = np.flatnonzero(np.bincount(keys)[keys] > 1)
        # The members of every group side by side, and where each group begins.
        self._shared = shared[np.argsort(keys[shared], kind="stable")]
        self._game = self._shared // count
        self._first = np.flatnonzero(np.diff(keys[self._shared], prepend=-1))
        self._sizes = np.diff(self._first, append=len(shared))

    @classmethod
    def of(cls, *alike: FloatArray) -> Equals:
        """The players of each game that agree in all of these (games, n)."""
        equals = cls(np.zeros(alike[0].shape, dtype=np.int64), np.zeros(len(alike[0])))
        for each in alike:
            equals, _ = equals.levelled(each)
        return equals

    def levelled(self, logits: FloatArray) -> tuple[Equals, FloatArray]:
        """The groups that are left, and the logits averaged over them."""
        if not len(self._shared):
            return self, logits
        at, first, sizes, count = self._shared, self._first, self._sizes, logits.shape[1]
        size = np.abs(logits)
        size[size >= CERTAIN] = 0.0
        np.maximum(self.reach, size.max(axis=1), out=self.reach)
        flat = logits.ravel().copy()
        level, room = flat[at], ALIKE * size.ravel()[at] + ROUGH * self.reach[self._game]
        flat[at] = np.repeat(np.add.reduceat(level, first) / sizes, sizes)
        # A group whose members are all within reach of each other is not split, so not sorted.
        span = np.maximum.reduceat(level, first) - np.minimum.reduceat(level, first)
        wide = span > np.minimum.reduceat(room, first)
        if not wide.any():
            return self, flat.reshape(logits.shape)
        split = np.repeat(wide, sizes)
        at, keys = at[split], np.repeat(first, sizes)[split]
        ranked, room = level[split], room[split]
        order = np.argsort(ranked)
        order = order[np.argsort(keys[order], kind="stable")]
        at, keys, ranked, room = at[order], keys[order], ranked[order], room[order][1:]
        gaps = np.diff(ranked)
        apart = (np.diff(keys) != 0) | (gaps > room)
        group = np.concatenate([[0], np.cumsum(apart)])
        # A long chain of neighbours is not one group: then only rounding holds it together.
        ends = np.flatnonzero(np.append(apart, True))
        spread = ranked[ends] - ranked[np.concatenate([[0], ends[:-1] + 1])]
        apart |= (spread[group[1:]] > room) & (gaps > 1e-3 * room)
        group = np.concatenate([[0], np.cumsum(apart)])
        flat[at] = (np.bincount(group, ranked) / np.bincount(group))[group]
        groups = self.groups.ravel().copy()
        # A group is named by one of its members, so names never clash within a game.
        first = np.concatenate([[0], np.flatnonzero(apart) + 1])
        groups[at] = at[first][group] % count
        return Equals(groups.reshape(logits.shape), self.reach), flat.reshape(logits.shape)

    def rows(self, chosen: IntArray) -> Equals:
        return Equals(self.groups[chosen], self.reach[chosen])
