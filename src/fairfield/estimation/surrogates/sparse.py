"""A sparse surrogate: a polynomial in the few interactions that matter.

With s = ±1 for players in and out, F ≈ Σ_A c_A Π_{i∈A} s_i over a family of coalitions A that
holds the parts of all its members, so that it does not matter in which basis a game is sparse. The
family grows by those that stand out in what is left: all pairs, all triples of not too many
players, and larger ones by one player more than a member has. Worths that were left out tell when
to stop; where these are predicted up to rounding, the polynomial is the game.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb, log
from typing import NamedTuple

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.prior.kernels import signs_of
from fairfield.estimation.surrogates.folds import FOLDS, HOPELESS, folds
from fairfield.estimation.surrogates.polynomial import Member, Polynomial, columns

# Coalitions per column of a regression, at least.
ROWS = 1.4
# By how much the family grows in a pass, at least by one for so many coalitions; passes without progress that end it.
GROWTH, ROWS_A_STEP, PATIENCE = 0.15, 100, 4
# An error that is smaller by this factor at least is progress.
PROGRESS = 0.98
# All triples of so many players are looked at; of more, those that extend a pair of the family.
FEW_PLAYERS = 40
# Members of a family that are extended in a pass, and the largest that are.
EXTENDED, LARGEST = 256, 7
# What counts as rounding, in units of the spread of the worths, and the digits that a family is chosen by.
ROUNDING, DIGITS = 1e-9, 10
# Columns of all pairs that are affordable, and of any family.
MOST_COLUMNS = 6000


@dataclass(frozen=True)
class SparseFit:
    """A polynomial fitted to worths (m,), and what it leaves of them.

    It is the mean of polynomials that were each found and fitted without one fold; ``outside`` are the
    residuals of the one that did without the worth. ``exact`` where worths that were left out are
    predicted up to rounding; it is then fitted to all of them.
    """

    polynomial: Polynomial
    outside: FloatArray
    exact: bool


def sparse_fit(
    coalitions: BoolArray,
    worths: FloatArray,
    seed: int = 0,
    rival: float = np.inf,
    groups: IntArray | None = None,
) -> SparseFit | None:
    """The polynomial in few interactions that predicts worths (m,) of coalitions (m, n).

    Each of five folds is left out once; ``groups`` (m,) are left out together, as a coalition and
    its complement should be. None if these are fewer, or if the first fold is predicted much worse
    than a ``rival`` does, whose mean squared error of prediction is given.
    """
    m = len(worths)
    fold = folds(np.arange(m) if groups is None else groups, seed)
    if fold.max(initial=0) < FOLDS - 1:
        return None
    centre, spread = float(np.mean(worths)), float(np.std(worths)) or 1.0
    signs, given = signs_of(coalitions), (worths - centre) / spread
    # So that games which differ in scale alone have the same family.
    y = np.round(given, DIGITS)
    left, exact = np.zeros(m), False
    found: dict[Member, float] = {}
    for k in range(FOLDS):
        out = fold == k
        family, slopes = _Growing(signs[~out], y[~out]).best(signs[out], y[out])
        left[out] = y[out] - columns(signs[out], family) @ slopes
        if k == 0 and _is_rounding(y - columns(signs, family) @ slopes):
            slopes, left = _solve(columns(signs, family), given)
            found, exact = dict(zip(family, slopes.tolist(), strict=True)), True
            break
        if k == 0 and float(np.mean(left[out] ** 2)) > HOPELESS * rival / spread**2:
            return None
        for member, slope in zip(family, slopes.tolist(), strict=True):
            found[member] = found.get(member, 0.0) + slope / FOLDS
    slopes = spread * np.array(list(found.values()))
    slopes[0] += centre
    polynomial = Polynomial(signs.shape[1], list(found), slopes)
    return SparseFit(polynomial, spread * left, exact)


class _Tested(NamedTuple):
    """A family, its slopes, and its mean squared error on other worths."""

    family: list[Member]
    slopes: FloatArray
    error: float


class _Growing:
    """A family of coalitions that grows by what stands out in the residuals of its fit."""

    def __init__(self, signs: FloatArray, worths: FloatArray) -> None:
        self.signs, self.worths = signs, worths
        self.rows, self.players = signs.shape
        self.most = min(int(self.rows / ROWS), MOST_COLUMNS)
        # What the size of a coalition says is taken out: it would make all pairs look alike.
        self.centred = signs - signs.mean(axis=1, keepdims=True)
        self.squares = self.centred**2
        self.least = 1 + self.rows // ROWS_A_STEP
        self.family: dict[Member, None] = {}
        self.slopes, self.left = np.empty(0), worths

    def best(self, signs: FloatArray, worths: FloatArray) -> tuple[list[Member], FloatArray]:
        """The family that predicts other worths best, and its slopes."""
        best: _Tested | None = None
        n = self.players
        # From nothing, from all players, from all pairs: what is left then shows larger ones.
        for size in (0, 1, 2):
            if sum(comb(n, k) for k in range(size + 1)) > self.most:
                continue
            parts = (combinations(range(n), k) for k in range(size + 1))
            members: dict[Member, None] = dict.fromkeys(chain.from_iterable(parts))
            self.family = members
            self.slopes, self.left = _solve(columns(self.signs, members), self.worths)
            found = self._grown(signs, worths)
            best = found if best is None or found.error < best.error else best
            if best.error <= ROUNDING**2:
                break
        assert best is not None
        return best.family, best.slopes

    def _grown(self, signs: FloatArray, worths: FloatArray) -> _Tested:
        best, since = self._tested(signs, worths), 0
        while since < PATIENCE and best.error > ROUNDING**2 and self._grow():
            found, since = self._tested(signs, worths), since + 1
            if found.error < best.error:
                # Small steps forward are steps, but do not go on for ever.
                since = 0 if found.error < PROGRESS * best.error else since
                best = found
        return best

    def _tested(self, signs: FloatArray, worths: FloatArray) -> _Tested:
        left = worths - columns(signs, self.family) @ self.slopes
        return _Tested(list(self.family), self.slopes, float(np.mean(left**2)))

    def _grow(self) -> bool:
        """Take up what stands out most; False if nothing does, or there is no room."""
        room = min(self.most - len(self.family), max(self.least, int(GROWTH * len(self.family))))
        if room <= 0 or _is_rounding(self.left):
            return False
        scores = self._scores()
        order, before = sorted(scores, key=lambda each: -scores[each]), len(self.family)
        # What may stand out by chance is taken up only a few at a time.
        bar = float(
            np.sqrt(2 * log(max(len(scores), comb(self.players, 2), 2)) * np.mean(self.left**2))
        )
        taken: list[Member] = []
        for member in order:
            more = [part for part in _parts(member) if part not in self.family]
            if len(self.family) + len(more) > self.most:
                break
            if len(taken) >= self.least and scores[member] < bar:
                break
            self.family.update(dict.fromkeys(more))
            taken.append(member)
            if len(self.family) - before >= room:
                break
        if not taken:
            return False
        self.slopes, self.left = _solve(columns(self.signs, self.family), self.worths)
        return True

    def _scores(self) -> dict[Member, float]:
        """|correlation| with what is left, of the best candidates of each kind, unless by chance."""
        found: dict[Member, float] = {}
        c, n = self.centred, self.players
        wanted = max(self.least, int(GROWTH * len(self.family))) * 4
        if len(self.family) <= self.players:
            self._rank(found, [()], wanted)
        sums = np.abs((c * self.left[:, None]).T @ c) / np.sqrt(self.squares.T @ self.squares + 1)
        first, second = np.triu_indices(n, 1)
        self._best(found, sums[first, second], (first, second), wanted)
        if n <= FEW_PLAYERS:
            for i in range(n - 2):
                rest, square = c[:, i + 1 :], self.squares[:, i + 1 :]
                own = (rest * (self.left * c[:, i])[:, None]).T @ rest
                size = (square * self.squares[:, i, None]).T @ square
                j, k = np.triu_indices(n - i - 1, 1)
                scores = np.abs(own[j, k]) / np.sqrt(size[j, k] + 1)
                self._best(found, scores, (np.full(len(j), i), j + i + 1, k + i + 1), wanted)
        bases = [each for each in self.family if 2 <= len(each) < LARGEST]
        if bases:
            size = dict(zip(self.family, np.abs(self.slopes), strict=True))
            self._rank(found, sorted(bases, key=lambda each: -size[each])[:EXTENDED], wanted)
        return found

    def _rank(self, found: dict[Member, float], bases: Sequence[Member], wanted: int) -> None:
        """Candidates that have one player more than a base."""
        products = np.stack([self.centred[:, list(base)].prod(axis=1) for base in bases])
        sums = np.abs((products * self.left) @ self.centred)
        scores = sums / np.sqrt(products**2 @ self.squares + 1)
        for at in np.argsort(-scores, axis=None)[: 4 * wanted]:
            base, i = divmod(int(at), self.players)
            member = tuple(sorted({*bases[base], i}))
            if len(member) > len(bases[base]) and member not in self.family:
                found[member] = max(found.get(member, 0.0), float(scores.flat[at]))

    def _best(
        self,
        found: dict[Member, float],
        scores: FloatArray,
        places: Sequence[IntArray],
        wanted: int,
    ) -> None:
        taken = sum(len(each) == len(places) for each in self.family)
        count = min(len(scores), taken + wanted)
        for at in np.argpartition(-scores, count - 1)[:count]:
            member = tuple(int(each[at]) for each in places)
            if member not in self.family:
                found[member] = float(scores[at])


def _parts(member: Member) -> Iterable[Member]:
    """A coalition and all its parts, the small ones first."""
    return chain.from_iterable(combinations(member, size) for size in range(len(member) + 1))


def _solve(columns: FloatArray, worths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least-squares slopes and residuals, refined once: squares of columns lose digits."""
    from scipy.linalg import cho_factor, cho_solve

    gram = columns.T @ columns
    gram[np.diag_indices_from(gram)] += 1e-12 * len(columns)
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    slopes = np.zeros(columns.shape[1])
    left = worths
    for _ in range(3):
        slopes = slopes + cho_solve(factor, columns.T @ left, check_finite=False)
        left = worths - columns @ slopes
    return slopes, left


def _is_rounding(left: FloatArray) -> bool:
    return float(np.abs(left).max(initial=0.0)) <= ROUNDING
