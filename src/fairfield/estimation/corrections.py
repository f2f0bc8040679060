"""From what a surrogate leaves of the worths to values and their errors, without the surrogate's bias.

A reading is linear in the game, φ(F) = φ(G) + φ(F - G). What is left, F - G, is known on the sampled
coalitions: either its values are estimated size by size, or by weighted least squares on
z - ½. Residuals are those of the surrogate itself as far as a size has been drawn, and of one fitted
without the coalition for the rest, so that nothing is left to err once all are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.special import log_binomials
from fairfield.estimation.along import Along, Sets, overlaps
from fairfield.estimation.designs.design import Sampled

# The choice between answers, and shares of kernels, are uncertain too; measured on the games of the
# benchmark.
INFLATED = 1.4
# Squares of values are not divided by less.
SMALLEST = 1e-300
# Numbers held at a time.
AT_ONCE = 2**22
# Sizes that have less than this share of all coalitions are left out of a regression.
RARE = 1e-9


@dataclass(frozen=True)
class Answer:
    """Readings (games, k), their variances (games, k) or covariance (games, k, k), and how they were found.

    ``weights`` gives what each worth weighs in them, (m, k) or (games, m, k), as the sample has them; None
    where a fit chose by the worths what it would look at.
    """

    values: FloatArray
    errors: FloatArray
    method: str
    weights: Callable[[], FloatArray] | None = None

    @property
    def variances(self) -> FloatArray:
        """The variances of the readings, (games, k)."""
        if self.errors.ndim == self.values.ndim:
            return self.errors
        return np.asarray(np.diagonal(self.errors, axis1=1, axis2=2))

    def spread(self, judged: int | None = None) -> FloatArray:
        """The sum of the first so many variances, (games,)."""
        return np.asarray(self.variances[:, :judged].sum(axis=1))

    def after(self, values: FloatArray | float, method: str) -> Answer:
        """With the values (k,) of a surrogate, which this one corrects."""
        name = f"{self.method} after a surrogate, {method}" if method else self.method
        return replace(self, values=values + self.values, method=name)

    def shrunk(self, judged: int | None = None, *, to_mean: bool = False) -> Answer:
        """Drawn to 0, or to the mean: what has no bias is farther off than it should be (James, Stein, 1961)."""
        centre = self.values.mean(axis=1, keepdims=True) if to_mean else 0.0
        apart = self.values - centre
        size, spread = np.sum(apart[:, :judged] ** 2, axis=1), self.spread(judged)
        kept = 1 - spread / np.maximum(np.maximum(size, spread), SMALLEST)
        return replace(self, values=centre + kept[:, None] * apart)

    def doubted(self, judged: int | None = None) -> Answer:
        """Drawn to 0 a little: how likely a prior thinks large values is itself uncertain (measured)."""
        size = np.maximum(np.sum(self.values[:, :judged] ** 2, axis=1), SMALLEST)
        return replace(self, values=self.values / (1 + self.spread(judged) / (2 * size))[:, None])

    def widened(self, more: FloatArray) -> Answer:
        """With so much more variance (games,) of every reading."""
        added = more[:, None] * np.ones(self.values.shape[1])
        if self.errors.ndim > self.values.ndim:
            added = added[:, :, None] * np.eye(self.values.shape[1])
        return replace(self, errors=self.errors + added)

    def sharing(self, gain: FloatArray, noise: FloatArray | None) -> Answer:
        """Moved evenly, so that the values of all players sum to a gain (games,), which may be noisy."""
        count = self.values.shape[1]
        values = self.values + ((gain - self.values.sum(axis=1)) / count)[:, None]
        apart = np.eye(count) - 1 / count
        errors = apart @ self.errors @ apart
        # Rounding may leave less than nothing.
        place = np.arange(count)
        errors[:, place, place] = np.maximum(errors[:, place, place], 0.0)
        if noise is not None:
            errors = errors + (noise / count**2)[:, None, None]
        given = self.weights
        weights = None if given is None else lambda: _sharing_out(given())
        return replace(self, values=values, errors=errors, weights=weights)


def _sharing_out(weights: FloatArray) -> FloatArray:
    """The weights (m, n), ∅ and N first, of values that are moved evenly to sum to F(N) - F(∅)."""
    found: FloatArray = weights - weights.mean(axis=1, keepdims=True)
    found[:2] += np.array([[-1.0], [1.0]]) / weights.shape[1]
    return found


def smallest(answers: Sequence[Answer], judged: int | None = None) -> Answer:
    """The answer with the smallest spread, game by game; its ``weights`` are (games, m, k)."""
    which = np.argmin([answer.spread(judged) for answer in answers], axis=0)
    chosen = [(answers[i], game) for game, i in enumerate(which)]
    weights = [answer.weights for answer, _ in chosen if answer.weights is not None]
    return Answer(
        np.stack([answer.values[game] for answer, game in chosen]),
        np.stack([answer.errors[game] for answer, game in chosen]),
        "; ".join(dict.fromkeys(answer.method for answer, _ in chosen)),
        (lambda: _one_after_another([each()[None] for each in weights]))
        if len(weights) == len(chosen)
        else None,
    )


def stacked(answers: Sequence[Answer]) -> Answer:
    """The answers for some games, each as ``smallest`` gives it, and for others, as one."""
    weights = [each.weights for each in answers if each.weights is not None]
    return Answer(
        np.concatenate([each.values for each in answers]),
        np.concatenate([each.errors for each in answers]),
        "; ".join(dict.fromkeys(each.method for each in answers)),
        (lambda: _one_after_another([each() for each in weights]))
        if len(weights) == len(answers)
        else None,
    )


def _one_after_another(weights: Sequence[FloatArray]) -> FloatArray:
    """Those of all games, (games, m, k): of some the last worths weigh nothing."""
    longest = max(each.shape[1] for each in weights)
    room = [((0, 0), (0, longest - each.shape[1]), (0, 0)) for each in weights]
    return np.concatenate([np.pad(each, own) for each, own in zip(weights, room, strict=True)])


@dataclass(frozen=True)
class Residuals:
    """What a surrogate leaves of the worths of a sample, (games, m).

    ``inside`` is what one leaves that was fitted to a worth, ``outside`` what one does that was not.
    """

    sampled: Sampled
    inside: FloatArray
    outside: FloatArray

    @property
    def mixed(self) -> FloatArray:
        """Those of the surrogate itself as far as a size has been drawn."""
        seen = self.sampled.seen
        return np.asarray(seen * self.inside + (1 - seen) * self.outside)


def are_shown(sampled: Sampled, along: Along, sets: Sets) -> bool:
    """Whether of each reading draws show an error: two at least that it reads, of sizes not known whole.

    A dividend reads the worth of one coalition of its size alone: others say nothing of it.
    """
    unknown = sampled.known < 1
    rows, sizes = sampled.rows[unknown], sampled.sizes[unknown]
    if not (sampled.noisy or along.stands[:, sampled.drawn < sampled.every].any()):
        return True
    block = max(1, AT_ONCE // max(len(rows), 1))
    return all(
        (np.count_nonzero(along.stands[overlaps(rows, some), sizes[:, None]], axis=0) > 1).all()
        for some in (sets[start : start + block] for start in range(0, len(sets), block))
    )


def by_size(left: Residuals, along: Along, sets: Sets, *, whole: bool) -> Answer:
    """The readings of what is left, as means over the coalitions of each size.

    A coalition and its complement err together, so they count as one draw.
    """
    sampled, sizes = left.sampled, left.sampled.sizes
    shown = sampled.shown & (sampled.drawn > 0)
    each = np.where(shown, 1 / np.maximum(sampled.drawn, 1), 0.0)[sizes]
    mixed = left.mixed
    starts = np.flatnonzero(np.diff(sampled.groups, prepend=-1))
    kind = _kinds(sampled)
    most = len(sampled.every)
    stratum = kind[starts]
    count = np.bincount(stratum, minlength=2 * most)
    free = np.where(count > 1, count / np.maximum(count - 1, 1), 0.0)[stratum]
    # Of a pair whose sizes are known unequally well, the one that is known less errs.
    free = np.sqrt(free * (1 - np.minimum.reduceat(sampled.known, starts)))
    member = (np.arange(len(count))[:, None] == stratum) / np.maximum(count, 1)[:, None]
    # How draws differ shows their noise too, but not where there is but one, nor where all are known.
    noisy = np.where((count == 1)[kind], 1.0, sampled.known)
    values, errors = [], []
    block = len(sets) if whole else max(1, AT_ONCE // len(sizes))
    for start in range(0, len(sets), block):
        c = along.stands[overlaps(sampled.rows, sets[start : start + block]), sizes[:, None]]
        c *= each[:, None]
        values.append(mixed @ c)
        found = []
        for game, outside in enumerate(left.outside):
            parts = np.add.reduceat(outside[:, None] * c, starts, axis=0)
            apart = (parts - (member @ parts)[stratum]) * free[:, None]
            noise = 0.0 if sampled.noise is None else (sampled.noise[game] * noisy)[:, None]
            own = apart.T @ apart if whole else np.sum(apart**2, axis=0)
            found.append(own + ((noise * c).T @ c if whole else np.sum(noise * c**2, axis=0)))
        errors.append(np.stack(found))
    method = f"corrected by {len(sizes):,} coalitions"
    return Answer(np.concatenate(values, axis=1), INFLATED * np.concatenate(errors, axis=1), method)


def _kinds(sampled: Sampled) -> IntArray:
    """The stratum of each coalition, (m,): pairs are drawn by the smaller size, single ones by their own.

    One that is alone in its stratum would show no error, so that it is compared to pairs, if there are any.
    """
    most, single = len(sampled.every), np.arange(len(sampled.rows)) >= 2 * sampled.pairs
    smaller = np.minimum(sampled.sizes, most - 1 - sampled.sizes)
    kind = np.where(single, most + sampled.sizes, smaller)
    draws = np.bincount(kind, minlength=2 * most)
    draws[:most] //= 2
    joined = np.unique(smaller[draws[kind] == 1])
    return np.where(np.isin(smaller, joined[draws[joined] > 0]), smaller, kind)


def shapley_masses(players: int) -> FloatArray:
    """The weights of pairs of size 0 … n/2 whose regression slopes, moved evenly, are Shapley's values."""
    size = np.arange(1, players // 2 + 1)
    found = np.where(2 * size == players, 0.5, 1.0) / (size * (players - size))
    return np.append(0.0, found)


def banzhaf_masses(players: int) -> FloatArray:
    """The same of Banzhaf's values: all coalitions alike, but for sizes that hardly occur."""
    size = np.arange(players // 2 + 1)
    logs = log_binomials(players)[: len(size)] - players * np.log(2)
    logs += np.where(2 * size == players, 0.0, np.log(2))
    return np.where(logs > np.log(RARE), np.exp(logs), 0.0)


@dataclass(frozen=True)
class Regression:
    """Weighted least squares on 1 and z - ½ over the pairs of a sample, and over single draws where these count.

    Of a pair only the odd part [F(S) - F(N∖S)]/2 bears on the slopes. ``influence`` (m, n) is what each worth
    adds to them, ``fit`` (m, 1 + n) are the columns; ``leverage`` (2, m) is the share of its own residual that
    a worth fits, and of its complement's.
    """

    sampled: Sampled
    fit: FloatArray
    influence: FloatArray
    leverage: FloatArray

    @classmethod
    def on(cls, sampled: Sampled, masses: FloatArray) -> Regression:
        """The regression in which coalitions of sizes s and n - s have these masses together."""
        used = len(sampled.rows) if sampled.single else 2 * sampled.pairs
        rows, sizes = sampled.rows[:used], sampled.sizes[:used]
        fit = np.where(rows, 0.5, -0.5)
        stratum = np.minimum(sizes, fit.shape[1] - sizes)
        drawn = np.bincount(stratum, minlength=len(masses))
        weights = (masses / np.maximum(drawn, 1))[stratum]
        fit = np.insert(fit, 0, 1.0, axis=1)
        weighted = (weights / weights.sum())[:, None] * fit
        influence = weighted @ np.linalg.pinv(fit.T @ weighted, hermitian=True)
        own, other = (
            np.sum(influence * fit[at], axis=1) for at in (slice(None), sampled.twins[:used])
        )
        paired = np.arange(used) < 2 * sampled.pairs
        return cls(sampled, fit, influence, np.stack([own, np.where(paired, other, 0.0)]))

    def of(self, left: Residuals) -> Answer:
        """The slopes of what is left, and their errors as if each draw had been left out (HC3)."""
        sampled, used = self.sampled, len(self.fit)
        twin = sampled.twins[:used]
        found = left.mixed[:, :used] @ self.influence
        apart = left.outside[:, :used] - found @ self.fit.T
        # By the fit to all others: two equations for the two of a pair.
        own, other = self.leverage
        free = 1 - own[twin]
        whole = np.maximum((1 - own) * free - other**2, 1e-6)
        apart = (free * apart + other * apart[:, twin]) / whole
        known = np.minimum(sampled.known[:used], sampled.known[twin])
        starts = np.flatnonzero(np.diff(sampled.groups[:used], prepend=-1))
        slopes = self.influence[:, 1:]
        errors = []
        for game, each in enumerate(apart * np.sqrt(1 - known)):
            draws = np.add.reduceat(each[:, None] * slopes, starts, axis=0)
            errors.append(draws.T @ draws)
            if sampled.noise is not None:
                # Of sizes that are known whole, nothing but the noise errs.
                errors[-1] += slopes.T @ ((sampled.noise[game, :used] * known)[:, None] * slopes)
        what = f"{used:,} coalitions" if sampled.single else f"{used // 2:,} pairs of coalitions"
        return Answer(found[:, 1:], np.stack(errors), f"regression of {what}", self.weights)

    def weights(self) -> FloatArray:
        """What each worth weighs in the slopes of the worths themselves, (m, n)."""
        return self.influence[:, 1:]


def is_stepped(worths: FloatArray, few: int) -> BoolArray:
    """Which games (games, m) have worths that take so few values, as those of votes do: (games,)."""
    return np.array([len(np.unique(each)) <= few for each in worths])
