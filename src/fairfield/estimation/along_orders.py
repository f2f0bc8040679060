"""Values as means over orders of joining: what they read of a surrogate, and of what it leaves.

A surrogate is read at all coalitions that orders come through, or along many orders. It is corrected by what it
leaves along each order that was evaluated, without having been given the worths of that order or its reverse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.at_points.draws import STEPPED
from fairfield.estimation.corrections import INFLATED, Answer, is_stepped
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.fitted import Fitted, as_wide
from fairfield.estimation.prior.kernels import Alike, Kernel
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.prior.posterior import AT_ONCE, ROUNDING, total
from fairfield.estimation.received import ends

# From fewer orders how they differ says too little of the error of their mean.
ENOUGH = 8
# How orders differ one alone does not show: variances are so many times as large (measured).
LONE = 1.5


@dataclass(frozen=True)
class Weighed:
    """Coalitions (k, n) and what their worths weigh in the values, (k, n)."""

    coalitions: BoolArray
    weights: FloatArray

    @classmethod
    def along(cls, orders: IntArray) -> Weighed:
        """The mean over some orders (k, n) and their reverses."""
        rows, outer = coalitions_along(orders), outer_steps(orders)
        inner = np.stack([rows, ~rows], axis=2).reshape(-1, orders.shape[1])
        steps = np.concatenate([steps_along(each) for each in orders]) / len(orders)
        return cls(
            np.concatenate([ends(orders.shape[1]), inner]),
            np.concatenate([[-outer.mean(axis=0)], [outer.mean(axis=0)], steps]),
        )

    def sections(
        self, rows: BoolArray, kernels: Sequence[Kernel], shares: FloatArray
    ) -> FloatArray:
        """The values in the games Σ_k v_k k(·, S) of coalitions S (m, n): (m, n)."""
        used = [(each, share) for each, share in zip(kernels, shares, strict=True) if share > 0]
        found = np.zeros(rows.shape)
        for start in range(0, len(self.coalitions) if used else 0, AT_ONCE):
            some = slice(start, start + AT_ONCE)
            alike = Alike.of(rows, self.coalitions[some])
            grams = [each.gram(alike) for each, _ in used]
            found += total(grams, np.array([share for _, share in used])) @ self.weights[some]
        return found


def coalitions_along(orders: IntArray) -> BoolArray:
    """The coalitions that orders (k, n) come through between ∅ and N: (k, n - 1, n)."""
    place = np.argsort(orders, axis=1)[:, None, :]  # when each player enters
    return np.asarray(place < np.arange(1, orders.shape[1])[:, None])


def steps_along(order: IntArray) -> FloatArray:
    """What the worths along an order weigh in its mean with its reverse, complements side by side: (2(n - 1), n)."""
    enters = np.eye(len(order))[order]
    each = (enters[:-1] - enters[1:]) / 2
    return np.stack([each, -each], axis=1).reshape(-1, len(order))


def outer_steps(orders: IntArray) -> FloatArray:
    """What F(N) - F(∅) weighs in the means of orders (k, n) with their reverses: who is first is last there, (k, n)."""
    return np.asarray(np.eye(orders.shape[1])[orders[:, [0, -1]]].sum(axis=1) / 2)


@dataclass(frozen=True)
class Orders:
    """The orders of joining (k, n) that were evaluated, and what the mean over all of them is read from.

    ``places`` (k, 2(n - 1)) tell where among the worths those along an order are, each beside that of the
    complement, which the reverse comes through. Values are means of what ``samples`` read, one of all orders or
    some of many; errors are those of a sample of ``few`` coalitions.
    """

    orders: IntArray
    places: IntArray
    samples: Sequence[Weighed]
    few: Weighed

    def answers(self, fitted: Fitted) -> list[Answer]:
        """All ways to read a surrogate and what the prior makes of what it leaves, and the worths alone."""
        sampled, prior, name = fitted.sampled, AlongMean(self, fitted.prior), fitted.surrogate.name
        if fitted.rest is None:
            values, errors = _mean(self._read(fitted))
            return [Answer(values, errors, name, lambda: prior.weights)]
        alone, count = self.alone(sampled), self.orders.shape[1]
        # Worths that jump, as those of votes do, vouch for no smooth game, for no player for whom nothing jumped
        # so far, nor for what was not seen.
        jumps = is_stepped(sampled.worths, STEPPED).astype(float)
        own = prior.own().widened(jumps * alone.spread() / count)
        even = own.shrunk(to_mean=True).values
        own = replace(own, values=np.where(jumps[:, None] > 0, even, own.values))
        found = [own]
        if prior.corrects:
            found.append(prior.corrected())
            if name:
                # Of a surrogate's own errors the prior, which is given what it leaves, knows too little.
                rest = AlongMean(self, fitted.rest)
                more = fitted.surrogate.inside - fitted.surrogate.outside
                corrected = rest.corrected(self._read(fitted), more).after(0.0, name)
                if fitted.surrogate.answer is not None:
                    # Worths that agree with it vouch for no coalition that is unlike all of them.
                    corrected = as_wide(corrected, [own])
                found.append(corrected)
        found = [replace(each, weights=lambda: prior.weights) for each in found]
        if len(self.orders) >= ENOUGH:
            found.append(alone)
        unseen = (np.ptp(sampled.worths, axis=1) / len(np.unique(sampled.groups))) ** 2
        return [each.widened(jumps * (unseen + each.spread() / count)) for each in found]

    def alone(self, sampled: Sampled) -> Answer:
        """The mean of contributions along the orders; of one the error is how far it is from even shares."""
        count, outer = len(self.orders), outer_steps(self.orders)
        gain = sampled.worths[:, 1] - sampled.worths[:, 0]
        inner = [
            sampled.worths[:, places] @ steps_along(order)
            for order, places in zip(self.orders, self.places, strict=True)
        ]
        gained = np.stack(inner, axis=1) + gain[:, None, None] * outer
        values = gained.mean(axis=1)
        centre = values if count > 1 else values.mean(axis=1, keepdims=True)
        errors = INFLATED * _spread(gained - centre[:, None]) + self.noise(sampled)
        method = f"the mean over {count:,} orders and their reverses"
        return Answer(values, errors, method, lambda: self._weights(sampled))

    def _weights(self, sampled: Sampled) -> FloatArray:
        """What each worth weighs in the mean over the orders, (m, n)."""
        found = np.zeros(sampled.rows.shape)
        found[:2] = np.array([[-1.0], [1.0]]) * outer_steps(self.orders).mean(axis=0)
        for order, places in zip(self.orders, self.places, strict=True):
            found[places] += steps_along(order) / len(self.orders)
        return found

    def noise(self, sampled: Sampled) -> FloatArray:
        """What noise of the worths adds to errors, (games, n, n): how orders differ shows none of what all read."""
        if sampled.noise is None:
            return np.zeros((len(sampled.worths), 1, 1))
        weights = self._weights(sampled)
        return np.stack([weights.T @ (each[:, None] * weights) for each in sampled.noise])

    def _read(self, fitted: Fitted) -> FloatArray:
        """The values of a surrogate by each sample, (samples, 1, n)."""
        parts, scale = fitted.surrogate.parts, fitted.surrogate.scale
        worths = (
            np.mean([part.predict(each.coalitions) for part in parts], axis=0)
            for each in self.samples
        )
        by_sample = [w @ each.weights for w, each in zip(worths, self.samples, strict=True)]
        return scale * np.stack(by_sample)[:, None]


@dataclass(frozen=True)
class AlongMean:
    """What orders read of the mean games of the prior."""

    orders: Orders
    mean: MeanGame

    @cached_property
    def _sections(self) -> FloatArray:
        found = self.mean.posterior
        given = found.coalitions, found.kernels, found.shares
        return np.stack([each.sections(*given) for each in self.orders.samples])

    @cached_property
    def weights(self) -> FloatArray:
        """What each worth weighs in the values, (m, n)."""
        return self.mean.posterior.factor.solve(self._sections.mean(axis=0))

    @cached_property
    def _read(self) -> FloatArray:
        """The values of the mean games by each sample, (samples, games, n)."""
        found = self.mean.posterior
        return np.asarray(found.scale[:, None] * (found.alpha @ self._sections))

    def own(self) -> Answer:
        """The values of the mean games, with the errors of the games that are left possible."""
        found, few = self.mean.posterior, self.orders.few
        sections = few.sections(found.coalitions, found.kernels, found.wide)
        prior = few.weights.T @ few.sections(few.coalitions, found.kernels, found.wide)
        errors = prior - sections.T @ found.wide_factor.solve(sections)
        place = np.diag_indices_from(errors)
        errors[place] = np.maximum(errors[place], ROUNDING * np.diagonal(prior))
        values, drawn = _mean(self._read)
        spread = (found.scale**2 * self._calibration)[:, None, None] * errors
        return Answer(values, spread + drawn, self.mean.method)

    @property
    def _calibration(self) -> FloatArray:
        """By how much variances are multiplied, (games,): as worths are predicted, and as whole orders are."""
        found = self.mean.posterior
        squares, expected = np.zeros(len(found.scale)), 0.0
        for places, steps, left in self._left_out():
            squares += np.sum((left @ steps) ** 2, axis=1) / found.scale**2
            block = found.wide_factor.inverse[np.ix_(places, places)]
            expected += float(np.vdot(steps, np.linalg.solve(block, steps)))
        along = squares / expected if expected else squares
        count = max(int(self._given.sum()), 1)
        alone = LONE if count == 1 else 1.0
        return np.maximum(alone * self.mean.calibration, (1 + 1 / count) * along)

    @cached_property
    def _given(self) -> BoolArray:
        """Which orders the prior was given; it takes no more than the first coalitions, (k,)."""
        return np.asarray((self.orders.places < len(self.mean.posterior.coalitions)).all(axis=1))

    def _left_out(self) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Of each order that was given, the places, weights, and what is left without it: (games, 2(n - 1))."""
        found, orders = self.mean.posterior, self.orders
        given = zip(orders.orders[self._given], orders.places[self._given], strict=True)
        for order, places in given:
            block = found.inverse[np.ix_(places, places)]
            left = found.scale[:, None] * np.linalg.solve(block, found.alpha[:, places].T).T
            yield places, steps_along(order), left

    @property
    def corrects(self) -> bool:
        """Whether enough orders were given, or enough were not, for their spread to be an error."""
        given = int(self._given.sum())
        return max(given, len(self._given) - given) >= ENOUGH

    def corrected(
        self, surrogate: FloatArray | float = 0.0, more: FloatArray | float = 0.0
    ) -> Answer:
        """The mean of what is left along orders, besides what samples read of a surrogate; their spread is the error.

        Those are orders that were not given where they are enough, else what is read without each is added. The
        surrogate leaves so much ``more`` (m,) of worths that were given than one that was fitted without them.
        """
        orders, others = self.orders, ~self._given
        if others.sum() >= ENOUGH:
            pairs = zip(orders.orders[others], orders.places[others], strict=True)
            given = np.arange(len(self.mean.sampled.rows)) < len(self.mean.posterior.coalitions)
            left = self.mean.inside + np.where(given, more, 0.0)
            moved = [left[:, places] @ steps_along(order) for order, places in pairs]
        else:
            weights = self.weights
            moved = [left @ (steps - weights[places]) for places, steps, left in self._left_out()]
        by_order = np.stack(moved, axis=1)
        values, drawn = _mean(self._read + surrogate)
        change = by_order.mean(axis=1)
        errors = INFLATED * _spread(by_order - change[:, None]) + drawn
        errors = errors + orders.noise(self.mean.sampled)
        method = f"{self.mean.method}, corrected along {len(moved):,} orders and their reverses"
        return Answer(values + change, errors, method)


def _mean(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean of samples (samples, games, n), and its covariance (games, n, n): none if there is but one."""
    values = samples.mean(axis=0)
    return values, INFLATED * _spread((samples - values).swapaxes(0, 1))


def _spread(apart: FloatArray) -> FloatArray:
    """The covariance (games, n, n) of means of what is so far apart, (games, k, n)."""
    count = apart.shape[1]
    return np.asarray(apart.swapaxes(1, 2) @ apart / (count * max(count - 1, 1)))
