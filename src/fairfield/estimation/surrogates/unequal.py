"""A surrogate for games in which some players matter much more than others: a kernel with a rate for each player.

The prior over games tells no players apart, so that it takes a game of three players among sixty for one of all of
them. Beside the kernel of ``products.py`` stand those of the size of a coalition and of slopes, whose part is left to
the prior; all shares and rates are those under which the worths are likeliest, less a price of every rate, which
keeps most of them at 0. The mean game is Σ_j α_j k(·, S_j), a sum of products; what it leaves of a worth that it was
not given follows from the inverse of the covariance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.at_points.draws import STEPPED
from fairfield.estimation.corrections import INFLATED, Answer, is_stepped
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.prior.kernels import Alike, Kernel, Size, Slopes, signs_of
from fairfield.estimation.prior.mean_game import sections
from fairfield.estimation.prior.posterior import (
    FITTED,
    NOISE,
    ROUNDING,
    SHARES,
    UNLIKELY,
    Factor,
    inverted,
    total,
    without_own,
)
from fairfield.estimation.surrogates.products import AT_ONCE, Unequal, kernel
from fairfield.estimation.surrogates.registry import Surrogate, surrogate

NAME = "players of unequal weight"
# The price of a rate, in units of log-likelihood, and the largest rate.
PRICE, STEEPEST = 0.3, 8.0
# Rates from which steps towards the likeliest begin, times the number of players, and the most steps.
STARTS, STEPS = (2.0, 0.6, 6.0), 100
# Coalitions that shares and rates are chosen by, at most: steps cost the cube of their number.
CHOOSING = 180
# So many that were not expected are added to them, in so many rounds at most.
MORE, ROUNDS = 40, 4
# Digits of these, in units of their scale: the same game in other units is rounded to the same worths.
DIGITS = 9
# Logarithm of the least noise at first, and a rate that counts as nothing.
SOME_NOISE, NO_RATE = -7.0, 1e-4
# Worths must be likelier by e^30 than with equal rates (measured: games that are not sparse stay below).
# From the first start, by e^10, or others are not tried.
CLEARLY, PROMISING = 30.0, 10.0
# Squares of what is left of worths, as a multiple of what is expected, beyond which nothing is believed: with hardly
# any noise the likeliest rates of a rough game are at times those of no game at all (measured: else below 3).
UNEXPECTED = 5.0
# The kernels beside it: lengths of sizes, how slopes fade; how large its own share may well be.
LENGTHS, FADING, LARGE = (1.0, 0.3, 0.08), 5.0, 3.0


@dataclass(frozen=True)
class Evidence:
    """How likely worths (m,) of coalitions, as rows of signs (m, n), are: ``seen`` in units of their ``scale``."""

    rows: BoolArray
    signs: FloatArray
    beside: Sequence[Kernel]
    grams: Sequence[FloatArray]
    large: FloatArray
    seen: FloatArray
    noise: FloatArray
    scale: float

    @classmethod
    def of(cls, sampled: Sampled, used: int) -> Evidence:
        """That of the first worths of a game."""
        rows, worths = sampled.rows[:used], sampled.worths[0, :used]
        count, scale = rows.shape[1], float(np.std(worths)) or 1.0
        beside: list[Kernel] = [
            *(Size(count, length) for length in LENGTHS),
            Slopes(count),
            Slopes(count, FADING),
        ]
        noise = np.zeros(used) if sampled.noise is None else sampled.noise[0, :used] / scale**2
        alike = Alike.of(rows, rows)
        return cls(
            rows,
            signs_of(rows),
            beside,
            [each.gram(alike) for each in beside],
            np.array([*(each.large for each in beside), LARGE]),
            (worths - np.median(worths)) / scale,
            noise,
            scale,
        )

    def on(self, some: IntArray) -> Evidence:
        """That of some of the worths, rounded: steps to the likeliest rates would follow the last digits."""
        return replace(
            self,
            rows=self.rows[some],
            signs=self.signs[some],
            grams=[gram[np.ix_(some, some)] for gram in self.grams],
            seen=np.round(self.seen[some], DIGITS),
            noise=self.noise[some],
        )

    def covariance(self, shares: FloatArray, likeness: FloatArray) -> FloatArray:
        """That of the worths, under shares of the kernels and of the noise, and the kernel with rates."""
        found = total([*self.grams, likeness], shares[:-1])
        found[np.diag_indices_from(found)] += shares[-1] + self.noise + ROUNDING
        return found

    def against(self, given: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log-likelihood, less the log of a prior of shares and rates; and its slopes."""
        logs, rates = given[: len(self.large) + 1], given[len(self.large) + 1 :]
        shares, likeness = np.exp(logs), kernel(self.signs, self.signs, rates)
        root, inverse = inverted(self.covariance(shares, likeness))
        if inverse is None:  # too little noise for the digits of the worths
            return UNLIKELY, np.zeros_like(given)
        alpha = inverse @ self.seen
        height = self.seen @ alpha / 2 + np.log(np.diagonal(root)).sum()
        height += np.sum(shares[:-1] / self.large) + PRICE * rates.sum()
        slope = (inverse - np.outer(alpha, alpha)) / 2
        own = slope * likeness * shares[-2]
        moments = [np.vdot(slope, gram) * s for gram, s in zip(self.grams, shares, strict=False)]
        along = np.array([*moments, own.sum(), np.trace(slope) * shares[-1]])
        along[:-1] += shares[:-1] / self.large
        apart = np.einsum("mi,mi->i", self.signs, own @ self.signs)
        return float(height), np.append(along, (apart - own.sum()) / 2 + PRICE)

    def likeliest(self) -> tuple[FloatArray, FloatArray] | None:
        """The shares, the last that of the noise, and rates; None where equal ones are about as likely."""
        players, kernels = self.signs.shape[1], len(self.large) + 1
        apart, equal = np.eye(kernels + players), np.zeros((kernels + players, kernels + 1))
        equal[:kernels, :kernels], equal[kernels:, -1] = np.eye(kernels), 1.0
        (bar, same), (height, best) = (self._with_noise(each, STARTS[0]) for each in (equal, apart))
        if height > bar - PROMISING:
            return None
        bar, _ = self._highest(equal, same)
        tried = [best, *(self._with_noise(apart, start)[1] for start in STARTS[1:])]
        height, best = min((self._highest(apart, at) for at in tried), key=lambda each: each[0])
        if height > bar - CLEARLY:
            return None
        shares, rates = best[:kernels], best[kernels:]
        return (
            np.where(shares > SHARES[0] + 1, np.exp(shares), 0.0),
            np.where(rates > NO_RATE, rates, 0.0),
        )

    def _with_noise(self, columns: FloatArray, start: float) -> tuple[float, FloatArray]:
        """The highest from a start, with so much noise that there are fewer heights to be caught on."""
        count, players = columns.shape[1] - len(self.large) - 1, self.signs.shape[1]
        shares = np.log([*(0.1 * self.large), 1e-3])
        return self._highest(
            columns, np.append(shares, np.full(count, start / players)), SOME_NOISE
        )

    def _highest(
        self, columns: FloatArray, at: FloatArray, least: float = NOISE[0]
    ) -> tuple[float, FloatArray]:
        """Minus how likely they are, and the likeliest logarithms of shares and rates, of these columns' combinations."""
        from scipy.optimize import minimize

        def against(given: FloatArray) -> tuple[float, FloatArray]:
            height, slopes = self.against(columns @ given)
            return height, slopes @ columns

        rates = columns.shape[1] - len(self.large) - 1
        bounds = [*([SHARES] * len(self.large)), (least, NOISE[1]), *([(0.0, STEEPEST)] * rates)]
        limit = {"maxiter": STEPS}
        best = minimize(against, at, jac=True, method="L-BFGS-B", bounds=bounds, options=limit)
        return float(best.fun), best.x


@dataclass(frozen=True)
class Fit:
    """The mean game of some shares and rates, and what the worths leave of random games with these kernels.

    ``game`` is the part of the kernel with rates alone; ``alpha`` (m,) are the weights of sections.
    """

    evidence: Evidence
    shares: FloatArray
    game: Unequal
    alpha: FloatArray
    factor: Factor

    @classmethod
    def of(cls, evidence: Evidence, shares: FloatArray, rates: FloatArray) -> Fit:
        """That of shares and rates."""
        which, own = np.flatnonzero(rates), kernel(evidence.signs, evidence.signs, rates)
        factor = Factor.of(evidence.covariance(shares, own))
        alpha = factor.solve(evidence.seen)
        game = Unequal(
            evidence.signs.shape[1],
            which,
            evidence.signs[:, which],
            rates[which],
            evidence.scale * shares[-2] * alpha,
        )
        return cls(evidence, shares, game, alpha, factor)

    def outside(self, worths: FloatArray, twins: IntArray) -> FloatArray:
        """What the game leaves of the worths (m,) if it is not given them, nor those of their ``twins``."""
        inverse, scale = self.factor.inverse, self.evidence.scale
        own = self.shares[-2] * self.game.kernel(self.game.signs)
        missed = without_own(self.alpha, inverse, twins)
        found = worths / scale - own @ self.alpha
        found += np.einsum("ij,ji->i", own, inverse) * missed
        paired = np.flatnonzero(twins != np.arange(len(twins)))
        across = np.einsum("ij,ji->i", own[paired], inverse[:, twins[paired]])
        found[paired] += across * missed[twins[paired]]
        return np.asarray(scale * found)

    def unexpected(self, twins: IntArray) -> FloatArray:
        """The squares of what is left of worths that it is not given, in units of their variances: some 1 if it is right."""
        return np.asarray(self.alpha * without_own(self.alpha, self.factor.inverse, twins))

    def answer(self, twins: IntArray, along: Along, sets: Sets, *, whole: bool) -> Answer:
        """The readings of all its kernels, (1, k), and their variances, or the ``whole`` covariance of values."""
        table = along.sections(self.evidence.beside, self.shares[:-2])
        # That worths are predicted better than expected says nothing of a coalition that is unlike all of them.
        scale = self.evidence.scale**2 * INFLATED * max(float(np.mean(self.unexpected(twins))), 1.0)
        prior = self.shares[-2] * self.game.covariance(along, sets, whole=whole)
        prior += along.covariance(table) if whole else along.of(table)
        values, errors = np.zeros(len(sets)), prior.copy()
        block = len(sets) if whole else max(1, AT_ONCE // len(self.alpha))
        for start in range(0, len(sets), block):
            some = slice(start, start + block)
            read = self.shares[-2] * self.game.sections(along, sets[some])
            read += next(sections(self.evidence.rows, table, sets[some], block))
            values[some] = self.evidence.scale * (self.alpha @ read)
            known = self.factor.solve(read)
            errors[some] -= read.T @ known if whole else np.sum(read * known, axis=0)
        least = ROUNDING * (np.diagonal(prior) if whole else prior)
        place = np.diag_indices_from(errors) if whole else slice(None)
        # A player whose rate is 0 may matter in a coalition that none of so many is like.
        errors[place] = np.maximum(errors[place], least) + 1 / len(self.alpha) ** 2
        method = f"a prior over games of unequal players, given {len(self.alpha):,} coalitions"
        return Answer(values[None], scale * errors[None], method)


def tells_players_apart(sampled: Sampled) -> bool:
    """Whether coalitions follow the diagonal, and worths are not votes."""
    return not sampled.anywhere and not is_stepped(sampled.worths, STEPPED).any()


@surrogate("unequal players", tells_players_apart, seconds=0.5, recovers=False)
def unequal_players(sampled: Sampled, seed: int, rival: float) -> Surrogate | None:
    """The mean game of a kernel with a rate for each player, where the worths are much likelier by it."""
    (worths,), used = sampled.worths, min(len(sampled.rows), FITTED)
    evidence = Evidence.of(sampled, used)
    some = np.unique(np.linspace(0, used - 1, CHOOSING).astype(int))
    twins = sampled.twins[:used]
    for _ in range(ROUNDS if used > len(some) else 1):
        chosen = evidence.on(some).likeliest()
        if chosen is None:
            return None
        fit = Fit.of(evidence, *chosen)
        left = fit.unexpected(twins)
        if np.mean(left) <= UNEXPECTED:
            break
        # A player whom those worths did not show matters in others.
        some = np.union1d(some, np.argsort(-left, kind="stable")[:MORE])
    if np.mean(left) > UNEXPECTED:
        return None
    inside = worths - fit.game.predict(sampled.rows)
    outside = np.append(fit.outside(worths[:used], twins), inside[used:])
    return Surrogate(NAME, [fit.game], 1.0, inside, outside, answer=partial(fit.answer, twins))
