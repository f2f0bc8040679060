"""A surrogate of the games of a sample, and what the prior makes of the rest, read along the diagonal.

The surrogate is read exactly, and the prior over games, given what it leaves, adds its own values. Their errors,
or those of a correction by what is left where they are smaller, are those of the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray
from fairfield.estimation.along import Along, Sets
from fairfield.estimation.at_points.draws import STEPPED
from fairfield.estimation.corrections import (
    Answer,
    Regression,
    Residuals,
    are_shown,
    by_size,
    is_stepped,
    smallest,
)
from fairfield.estimation.designs.design import Sampled
from fairfield.estimation.prior.mean_game import MeanGame
from fairfield.estimation.surrogates.registry import Surrogate

# A regression needs so many draws more than players to show its error, and so many times as many to be
# preferred to what a prior says, unless it leaves nothing.
FREE, ENOUGH = 2, 1.5
# From so many coalitions per player on a prior is surer of itself than it is right (measured). Then only what is
# corrected by its own errors is used.
PLENTY = 10
# What counts as rounding, as a share of squares of worths.
ROUNDING = 1e-20
# A surrogate that leaves no more than this share of the worths leaves nothing.
SOLVED = 1e-9


@dataclass(frozen=True)
class Reading:
    """What is read: along the diagonal, of which sets (k, size), the first ``judged`` of which choose how.

    ``masses`` are those of a regression whose slopes are the values, where there is one; ``adds_up`` where
    the values of all players sum to F(N) - F(∅). Values have a ``whole`` covariance.
    """

    along: Along
    sets: Sets
    judged: int
    masses: FloatArray | None = None
    adds_up: bool = False
    whole: bool = False

    def shrunk(self, answer: Answer, values: FloatArray | float = 0.0, name: str = "") -> Answer:
        """An answer without bias, and the values (k,) of a surrogate that it corrects, drawn to what is likely."""
        if self.whole:
            return answer.after(values, name).shrunk(self.judged, to_mean=self.adds_up)
        # Of many pairs nearly all are nothing, and would draw those that a surrogate found to 0.
        return answer.shrunk(self.judged).after(values, name)


@dataclass(frozen=True)
class Fitted:
    """A surrogate of the games of a sample, and what the prior makes of the rest; None where that is nothing.

    ``prior`` is what it makes of the worths themselves.
    """

    sampled: Sampled
    surrogate: Surrogate
    rest: MeanGame | None
    prior: MeanGame

    def answers(self, reading: Reading) -> list[Answer]:
        """All ways to read it, the surrogate's own values included."""
        sampled, (along, sets) = self.sampled, (reading.along, reading.sets)
        values, name = self.surrogate.read(along, sets), self.surrogate.name

        def linear() -> FloatArray:
            """How the prior weighs the worths themselves: what a surrogate says is not linear in them."""
            return self.prior.weights(along, sets)

        if self.rest is None:
            none = np.zeros((1, len(sets), len(sets)) if reading.whole else (1, len(sets)))
            return [Answer(values[None], none, name, linear)]
        own = replace(self._own(reading), weights=linear)
        if reading.masses is not None and not reading.adds_up and not self._enough:
            own = own.doubted(reading.judged)
        # The surrogate itself, not its parts, is what worths of a size known whole are compared to.
        more = self.surrogate.inside - self.surrogate.outside
        left = Residuals(sampled, self.rest.inside + more, self.rest.outside)
        bare, corrected = self.rest.values(along, sets), self._corrections(left, reading)
        stepped = is_stepped(sampled.worths, STEPPED) & (not self._solved)
        own, corrected = self._widened(own, corrected, reading, stepped)
        corrected = [
            reading.shrunk(
                replace(
                    each,
                    values=bare + each.values,
                    method=f"{self.rest.method}, {each.method}",
                    weights=linear,
                ),
                values,
                name,
            )
            for each in corrected
        ]
        if self._answers:
            # Worths that agree with it vouch for no coalition that is unlike all of them.
            corrected = [as_wide(each, [own]) for each in corrected]
        if name and corrected and not reading.whole:
            own = _as_wide_where(self._found(along, sets), own, corrected[0])
        # Of a surrogate's own errors the prior, which is given what it leaves, knows too little.
        ignorant = bool(name) and not self._answers
        # Along the diagonal worths jump, which it takes for slopes; at one point of it they need not.
        jumps = stepped & (len(along.nodes) > 1)
        # Where nothing corrects it, what it says of steps is no better than an even share.
        own = _where(jumps, reading.shrunk(own), own)
        trusted = [own]
        if reading.whole and corrected:
            doubted = ignorant or self._plenty
            trusted = [] if doubted or jumps.all() else [_where(jumps, corrected[0], own)]
        plain = [reading.shrunk(each) for each in alone(sampled, reading)]
        found = [*trusted, *corrected, *plain]
        if not stepped.any() or sampled.is_whole:
            return found
        # Nor do draws that all agree say anything of one that was not seen.
        unseen = (np.ptp(sampled.worths, axis=1) / len(np.unique(sampled.groups))) ** 2
        return [each.widened(stepped * unseen) for each in found]

    def _widened(
        self, own: Answer, corrected: list[Answer], reading: Reading, stepped: BoolArray
    ) -> tuple[Answer, list[Answer]]:
        """What the surrogate says, and its corrections, with the errors of the worths themselves where these vouch little."""
        if self._answers:
            # Which players weigh how much is uncertain too: each errs as much as all do besides.
            own = own.widened(own.spread() / len(reading.sets))
        which = stepped | (self._answers and not self._plenty)
        if not corrected or not which.any():
            return own, corrected
        # Where worths of a size agree, or few tell players apart, what is left of them vouches for nothing.
        sampled = self.sampled
        raw = self._corrections(Residuals(sampled, sampled.worths, sampled.worths), reading)
        wide = [_where(which, as_wide(each, raw), each) for each in (own, *corrected)]
        return wide[0], wide[1:]

    @property
    def _solved(self) -> bool:
        """Whether the surrogate leaves nothing of the worths."""
        left = np.abs(self.surrogate.outside).max()
        return bool(self.surrogate.parts and left <= SOLVED * np.ptp(self.sampled.worths))

    @property
    def _answers(self) -> bool:
        """Whether the surrogate knows its own errors."""
        return self.surrogate.answer is not None

    @property
    def _plenty(self) -> bool:
        """Whether there are so many coalitions that only what is corrected by its own errors is used."""
        return bool(len(self.sampled.rows) >= PLENTY * self.sampled.rows.shape[1])

    def _own(self, reading: Reading) -> Answer:
        """What the surrogate says, with its own errors where it has these, else with those of the prior."""
        (along, sets), whole = (reading.along, reading.sets), reading.whole
        assert self.rest is not None
        if self.surrogate.answer is not None:
            return self.surrogate.answer(along, sets, whole=whole)
        # Of the many interactions that trees have a little wrong, what they leave of the worths says nothing.
        if self.surrogate.dense and not whole:
            return self.prior.read(along, sets, reading.judged, whole=False)
        own = self.rest.read(along, sets, reading.judged, whole=whole)
        return own.after(self.surrogate.read(along, sets), self.surrogate.name)

    def _found(self, along: Along, sets: Sets) -> BoolArray:
        """Which sets (k, size) have interactions that the surrogate found, which have errors of a fit."""
        found = set(map(tuple, self.surrogate.found(along.size).tolist()))
        return np.array([tuple(each) in found for each in sets.tolist()], dtype=bool)

    def _corrections(self, left: Residuals, reading: Reading) -> list[Answer]:
        """What is left, size by size or by a regression, where there are enough coalitions for that."""
        sampled, regression = self.sampled, _regression(self.sampled, reading.masses)
        found = []
        if sampled.shows_spread and are_shown(sampled, reading.along, reading.sets):
            found.append(by_size(left, reading.along, reading.sets, whole=reading.whole))
        if regression is not None and self._enough:
            found.append(regression.of(left))
        return found

    @property
    def _enough(self) -> bool:
        """Whether a regression would be preferred to what the prior says, were its errors smaller."""
        return bool(self.sampled.draws >= ENOUGH * self.sampled.rows.shape[1])

    def read(self, reading: Reading) -> Answer:
        """The values or interactions with the smallest errors, game by game."""
        return smallest(self.answers(reading), reading.judged)


def as_wide(answer: Answer, others: Sequence[Answer]) -> Answer:
    """An answer with the smallest errors of some others, game by game, where these are larger."""
    least = smallest([replace(each, weights=None) for each in others])
    wider = (least.spread() > answer.spread()).reshape(-1, *(1,) * (answer.errors.ndim - 1))
    return replace(answer, errors=np.where(wider, least.errors, answer.errors))


def _where(which: BoolArray, answer: Answer, other: Answer) -> Answer:
    """An answer for some games, and another for the others."""
    if which.all() or not which.any():
        return answer if which.all() else other
    values = np.where(which[:, None], answer.values, other.values)
    mask = which.reshape(-1, *(1,) * (answer.errors.ndim - 1))
    method = "; ".join(dict.fromkeys([other.method, answer.method]))
    return replace(
        other, values=values, errors=np.where(mask, answer.errors, other.errors), method=method
    )


def _as_wide_where(which: BoolArray, answer: Answer, other: Answer) -> Answer:
    """An answer with the variances (games, k) of another for some readings (k,), where these are larger."""
    wider = np.maximum(answer.errors, other.errors)
    return replace(answer, errors=np.where(which, wider, answer.errors))


def _regression(sampled: Sampled, masses: FloatArray | None) -> Regression | None:
    """That of the worths, where there is one and enough draws show its error."""
    if masses is None or sampled.draws < sampled.rows.shape[1] + FREE:
        return None
    return Regression.on(sampled, masses)


def alone(sampled: Sampled, reading: Reading, *, few: bool = False) -> list[Answer]:
    """The values by the worths themselves, without a surrogate: by regression, or size by size.

    From ``few`` draws a regression is used only where it leaves nothing, unless it is asked for.
    """
    regression = _regression(sampled, reading.masses)
    if regression is None:
        return []
    left = Residuals(sampled, sampled.worths, sampled.worths)
    found = regression.of(left)
    if sampled.draws < ENOUGH * sampled.rows.shape[1]:
        solved = found.spread() <= ROUNDING * np.mean(sampled.worths**2, axis=1)
        return [found] if few or solved.all() else []
    if not sampled.shows_spread:
        return [found]
    # Where little is linear, as where a few coalitions are wild.
    return [found, by_size(left, reading.along, reading.sets, whole=True)]
