"""Coalitions drawn at several points in turn, and the extension read off all of them anywhere.

Draws from q_{x_1}, …, q_{x_L} are draws from their mixture; with weights q_x(z)/mixture(z)
they serve at any x (adaptive multiple importance sampling: Cornuet et al., 2012). A
coalition is evaluated once, however often it is drawn. Players nearly always in or out are
drawn so rarely on the other side that least squares cannot fit them; their slopes come from
pairs F(S+i) - F(S), a draw and its flip. Coalitions that were drawn by their size for another
criterion can be adopted: they are one more component of the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.core.extension import Extension
from fairfield.estimation.draws import bernoulli, log_law
from fairfield.estimation.paired import Pairs
from fairfield.estimation.slopes import Slopes, slopes
from fairfield.evaluation.kept import Keys, pack

# A player this close to certainty, or expected fewer times than this on the other side, is rare.
NEARLY_CERTAIN = 1e-3
FEW_DRAWS = 8
# Of so many pairs and more the spread is known.
FEW_PAIRS = 3
# The draws of a batch come in about so many blocks, unless they were smaller than this.
BLOCKS, SMALLEST_BLOCK = 4, 64
# A batch has no more flips than this: those of known coalitions cost no evaluation, but time.
MOST_FLIPS = 4096


@dataclass(frozen=True)
class Reading:
    """The extension of one game at x, as the pool has it.

    ``pairs`` (n,) counts the pairs that slopes come from, ``variances`` (n,) are the errors they
    show; ``repeated`` (m,) is how much more the noise of a worth weighs where its coalition
    counts more than once; ``thin`` are players whose slope rests on next to no draws, ``effective``
    is the number of draws at x itself that would serve as well.
    """

    slopes: Slopes
    hessian: FloatArray
    pairs: FloatArray
    variances: FloatArray
    thin: BoolArray
    effective: float
    repeated: FloatArray

    @cached_property
    def beside(self) -> FloatArray:
        """The variance (n,) of slopes that come from pairs; of others, what the fit leaves out."""
        x, fitted = self.slopes.x, self.slopes.fitted
        root = np.sqrt(np.where(fitted, x * (1 - x), 1.0))
        # Draws and pairs that all agree say nothing of one not seen, which may be as odd as any.
        oddest = np.abs(self.slopes.residuals)
        unseen = oddest.max(initial=0.0) / (self.pairs + 1)
        beside = np.where(self.pairs > 0, np.maximum(self.variances, unseen**2), 0.0)
        near = oddest.max(initial=0.0, where=self.slopes.counts > 0) / max(self.effective, 1.0)
        return np.where(fitted, (near / root) ** 2, beside)

    def covariance(self) -> FloatArray:
        """The covariance of the gradient (n, n)."""
        noise = (self.slopes.reach.T * self.repeated) @ self.slopes.reach
        return self.slopes.covariance() + np.diag(self.beside) + noise

    def spread(self) -> float:
        """Σ_i x_i(1-x_i) Var ĝ_i: what a choice between readings makes small."""
        return self.slopes.spread() + float(self.beside @ (self.slopes.x * (1 - self.slopes.x)))


@dataclass(frozen=True)
class Control:
    """A game G like the one drawn, whose extension is known: f = f_G + f_(F-G).

    ``left`` (m,) is F - G on the draws; where a coalition was seen only once, by the part of
    G that was fitted without it. G is the mean of its parts, ``scale`` times the games of these
    ``extensions``.
    """

    left: FloatArray
    scale: float
    extensions: tuple[Extension, ...]

    def at(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, gradient and Hessian of G at x."""
        parts = self.extensions
        value = np.mean([part.value(x) for part in parts], axis=0)
        gradient = np.mean([part.gradient(x) for part in parts], axis=0)
        hessian = np.mean([part.hessian(x) for part in parts], axis=0)
        return self.scale * value, self.scale * gradient, self.scale * hessian


@dataclass(frozen=True)
class _Plan:
    """Draws (m, n) to make, the point each comes from, and flips (player, draw).

    ``owners`` are the games that the points are of.
    """

    draws: BoolArray
    laws: IntArray
    points: FloatArray
    owners: IntArray
    flips: IntArray


class Pool:
    """Draws of a batch of games on the same coalitions, each evaluated once."""

    def __init__(self, players: int, games: int) -> None:
        self.players, self.games = players, games
        self.coalitions: BoolArray = np.empty((0, players), dtype=bool)
        # The same as numbers, which every reading multiplies.
        self.inside: FloatArray = np.empty((0, players))
        self.worths: FloatArray = np.empty((games, 0))
        self.noise: FloatArray = np.empty((games, 0))
        self.counts: FloatArray = np.empty(0)
        self.points: FloatArray = np.empty((0, players))
        self.sizes: FloatArray = np.empty(0)
        # Draws by size: how many, and the log of their law at each size 0 … n.
        self.by_size: list[tuple[float, FloatArray]] = []
        # Game, player, coalition with the player, coalition without, law: one row per pair.
        self.pairs: IntArray = np.empty((0, 5), dtype=np.int64)
        self._place: dict[bytes, int] = {}
        self._plan: _Plan | None = None
        # What log_mixture returns, once it was computed.
        self._mixture: FloatArray | None = None

    @property
    def drawn(self) -> int:
        """How many draws there are."""
        return int(self.sizes.sum() + sum(count for count, _ in self.by_size))

    def plan(
        self,
        points: FloatArray,
        owners: IntArray,
        fresh: int,
        draws: int,
        rare: BoolArray,
        rng: np.random.Generator,
        *,
        also: BoolArray | None = None,
    ) -> BoolArray:
        """New coalitions to evaluate, from draws in turn at each of the points (k, n).

        It ends with so many ``fresh`` ones, or after so many ``draws``. ``owners`` (k,) are
        the games the points are of. Of the first draws at each point the ``rare`` players
        (k, n) are flipped as well, one at least, and a quarter as many new coalitions at most. Coalitions that
        are wanted ``also`` come first.
        """
        drawn = self._draw(points, fresh, draws, rng)
        laws = np.arange(len(drawn)) % len(points)
        point, player = np.nonzero(rare)
        flips = min(max(1, MOST_FLIPS // max(len(point), 1)), len(drawn) // len(points))
        base = (np.arange(flips)[:, None] * len(points) + point).ravel()
        player = np.tile(player, flips)
        turned = drawn[base]
        turned[np.arange(len(base)), player] ^= True
        cut = max(len(point), self._until(turned, fresh // 4))
        base, player, turned = base[:cut], player[:cut], turned[:cut]
        self._plan = _Plan(drawn, laws, points, owners, np.stack([player, base], axis=1))
        early = int(base.max()) + 1 if len(base) else 0
        first = np.empty((0, self.players), dtype=bool) if also is None else also
        return self._unknown(np.concatenate([first, drawn[:early], turned, drawn[early:]]))

    def _draw(
        self, points: FloatArray, fresh: int, draws: int, rng: np.random.Generator
    ) -> BoolArray:
        """Draws in turn at the points, up to so many new coalitions or so many draws."""
        each = -(-fresh // len(points))
        block = max(SMALLEST_BLOCK, each // BLOCKS)
        drawn = np.empty((0, self.players), dtype=bool)
        while len(drawn) < draws:
            # One draw at every point in turn, so that a cut leaves all with equally many.
            rows = np.stack([bernoulli(x, each, rng, block=block) for x in points], axis=1)
            drawn = np.concatenate([drawn, rows.reshape(-1, self.players)])
            enough = self._until(drawn, fresh)
            if enough <= len(drawn):
                return drawn[:enough]
            each = max(each, len(drawn) // len(points))
        return drawn

    def _until(self, coalitions: BoolArray, fresh: int) -> int:
        """How many of them it takes to see so many new ones; one more than all if not."""
        seen: set[bytes] = set()
        for row, key in enumerate(_keys(coalitions), 1):
            if key not in self._place:
                seen.add(key)
                if len(seen) == fresh:
                    return row
        return len(coalitions) + 1

    def _unknown(self, coalitions: BoolArray) -> BoolArray:
        """Those without a worth, each once, in their order."""
        seen: set[bytes] = set()
        fresh = []
        for row, key in enumerate(_keys(coalitions)):
            if key not in self._place and key not in seen:
                seen.add(key)
                fresh.append(row)
        return coalitions[fresh]

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Receive worths (games, k) of coalitions not seen before, and count the draws they complete.

        ``variances`` (games, k) are those of noisy worths.
        """
        noise = np.zeros_like(worths) if variances is None else variances
        self.noise = np.concatenate([self.noise, noise], axis=1)
        for key in _keys(coalitions):
            self._place.setdefault(key, len(self._place))
        self.coalitions = np.concatenate([self.coalitions, coalitions])
        self.inside = np.concatenate([self.inside, coalitions])
        self.worths = np.concatenate([self.worths, worths], axis=1)
        self.counts = np.concatenate([self.counts, np.zeros(len(coalitions))])
        self._mixture = None
        if self._plan is not None:
            self._complete(self._plan)
            self._plan = None

    def adopt_pairs(self, pairs: Pairs) -> None:
        """Use the coalitions of pairs drawn by size; both ends stand first and are no draws."""
        coalitions, logs = pairs.received()
        counts = np.ones(len(coalitions))
        counts[:2] = 0.0
        self._adopt(coalitions, pairs.worths(), pairs.noise(), counts)
        self.by_size.append((counts.sum(), logs))

    def adopt(self, other: Pool) -> None:
        """Use the draws of another pool; its flips of rare players are coalitions, no pairs."""
        self._adopt(other.coalitions, other.worths, other.noise, other.counts)
        self.points = np.concatenate([self.points, other.points])
        self.sizes = np.concatenate([self.sizes, other.sizes])
        self.by_size += other.by_size

    def _adopt(
        self,
        coalitions: BoolArray,
        worths: FloatArray,
        noise: FloatArray | None,
        counts: FloatArray,
    ) -> None:
        _, first = np.unique(pack(coalitions), return_index=True)
        first = np.sort(first)
        fresh = first[self._where(coalitions[first]) < 0]
        variances = None if noise is None else noise[:, fresh]
        self.tell(coalitions[fresh], worths[:, fresh], variances)
        np.add.at(self.counts, self._where(coalitions), counts)
        self._mixture = None

    def _complete(self, plan: _Plan) -> None:
        """Count the planned draws up to the first whose worth is not known."""
        at = self._where(plan.draws)
        used = len(at) if (at >= 0).all() else int(np.argmin(at >= 0))
        self.counts += np.bincount(at[:used], minlength=len(self.counts))
        sizes = np.bincount(plan.laws[:used], minlength=len(plan.points))
        first = len(self.points)
        self.points = np.concatenate([self.points, plan.points])
        self.sizes = np.concatenate([self.sizes, sizes])
        player, base = plan.flips[plan.flips[:, 1] < used].T
        rows, law = np.arange(len(base)), plan.laws[base]
        inside, outside = plan.draws[base], plan.draws[base]
        inside[rows, player], outside[rows, player] = True, False
        both = self._where(inside), self._where(outside)
        found = np.column_stack([plan.owners[law], player, *both, first + law])
        self.pairs = np.concatenate([self.pairs, found[(both[0] >= 0) & (both[1] >= 0)]])

    def _where(self, coalitions: BoolArray) -> IntArray:
        return np.array([self._place.get(key, -1) for key in _keys(coalitions)], dtype=np.int64)

    def log_mixture(self) -> FloatArray:
        """log Σ_l (m_l/m) q_{x_l}(z) of every coalition (m,), the law of all draws together."""
        if self._mixture is None:
            used = self.sizes > 0
            total = self.sizes.sum() + sum(count for count, _ in self.by_size)
            shares = np.log(self.sizes[used] / total)
            laws = log_law(self.inside, self.points[used]) + shares[:, None]
            for count, logs in self.by_size:
                by_size = logs[self.coalitions.sum(axis=1)] + np.log(count / total)
                laws = np.concatenate([laws, by_size[None]])
            self._mixture = np.logaddexp.reduce(laws, axis=0)
        return self._mixture

    def weights(self, x: FloatArray) -> FloatArray:
        """q_x(z)/mixture(z) of every coalition, for points (…, n)."""
        mixture = self.log_mixture()
        # What no draw can be (an end that was asked for with pairs) has no weight.
        drawn = np.where(np.isfinite(mixture), mixture, np.inf)
        return np.asarray(np.exp(log_law(self.inside, x) - drawn))

    def times(self) -> FloatArray:
        """How often each coalition was seen, as a draw or as the flip of one: (m,)."""
        found = self.counts.copy()
        for side in (2, 3):
            rows, pairs = np.unique(self.pairs[:, [1, side]], axis=0, return_counts=True)
            # A draw has one pair with each rare player, and is still one draw.
            np.maximum.at(found, rows[:, 1], pairs)
        return found

    def effective(self, x: FloatArray) -> float:
        """The number of draws at x that would serve as well: (Σ w)²/Σ w²."""
        return effective_size(self.weights(x), self.counts)

    def read(
        self,
        x: FloatArray,
        game: int = 0,
        guess: FloatArray | None = None,
        control: Control | None = None,
    ) -> Reading:
        """The extension of a game at x; ``guess`` serves for slopes that no draw shows.

        With a ``control`` only what it leaves of the worths is read from the draws.
        """
        if control is None:
            return self._read(x, self.worths[game], game, guess)
        value, gradient, hessian = control.at(x)
        found = self._read(x, control.left, game, None if guess is None else guess - gradient)
        slopes = replace(
            found.slopes,
            value=found.slopes.value + value,
            gradient=found.slopes.gradient + gradient,
        )
        return replace(found, slopes=slopes, hessian=found.hessian + hessian)

    def _read(
        self, x: FloatArray, worths: FloatArray, game: int, guess: FloatArray | None
    ) -> Reading:
        weights = self.weights(x)
        effective = effective_size(weights, self.counts)
        rare = is_rare(x, effective)
        known, variances, pairs, crossed = self._from_pairs(x, worths, game, rare)
        thin = rare & np.isnan(known)
        if effective < 2 * self.players:
            thin = np.isnan(known)
        found = slopes(
            self.inside,
            worths,
            x,
            weights=weights,
            counts=self.counts,
            guess=np.where(thin, 0.0 if guess is None else guess, np.nan),
            known=known,
        )
        fitted = found.fitted
        root = np.sqrt(np.where(fitted, x * (1 - x), 1.0))
        hessian = np.where(fitted[:, None] & fitted, found.curvature() / np.outer(root, root), 0.0)
        # Residuals tell of noise as if every draw had its own.
        repeated = self.noise[game] * (self.counts**2 - self.counts)
        return Reading(found, hessian + crossed, pairs, variances, thin, effective, repeated)

    def _from_pairs(
        self, x: FloatArray, worths: FloatArray, game: int, rare: BoolArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Slopes of rare players, NaN elsewhere; their variances, numbers of pairs and ∂_ij f."""
        known = np.full(self.players, np.nan)
        variances, sizes = np.zeros(self.players), np.zeros(self.players)
        crossed = np.zeros((self.players, self.players))
        own, errors = self.pairs[self.pairs[:, 0] == game], self.noise[game]
        certain = np.minimum(x, 1 - x) < NEARLY_CERTAIN
        spread = np.where(certain, 1.0, x * (1 - x))
        for i in np.flatnonzero(rare):
            _, _, inside, outside, laws = own[own[:, 1] == i].T
            if len(laws) < FEW_PAIRS:
                continue
            others = np.arange(self.players) != i
            points = self.points[np.unique(laws)][:, others]
            shares = np.unique(laws, return_counts=True)[1] / len(laws)
            rows = self.coalitions[inside][:, others]
            mixture = np.logaddexp.reduce(log_law(rows, points) + np.log(shares)[:, None], axis=0)
            weights = np.exp(log_law(rows, x[others]) - mixture)
            total, size = weights.sum(), effective_size(weights, np.ones(len(weights)))
            if size < FEW_PAIRS:
                continue
            gains = worths[inside] - worths[outside]
            known[i] = weights @ gains / total
            apart = weights * (gains - known[i]) / total
            variances[i], sizes[i] = apart @ apart * size / (size - 1), size
            for side in (inside, outside):
                # Pairs that share a coalition share its noise.
                together = np.bincount(side, weights / total, len(worths))
                variances[i] += errors @ together**2 - errors[side] @ (weights / total) ** 2
            columns = np.where(certain[others], 0.0, (rows - x[others]) / spread[others])
            moments = apart @ columns
            noise = (apart**2 @ columns**2).sum()
            kept = max(0.0, 1 - noise / (moments @ moments)) if moments.any() else 0.0
            crossed[i, others] = crossed[others, i] = kept * moments
        return known, variances, sizes, crossed


def is_rare(x: FloatArray, draws: float) -> BoolArray:
    """Whether a player is nearly certain, or expected on their rarer side less than a few times."""
    return np.asarray(np.minimum(x, 1 - x) < max(NEARLY_CERTAIN, FEW_DRAWS / max(draws, 1.0)))


def effective_size(weights: FloatArray, counts: FloatArray) -> float:
    """(Σ w)²/Σ w² over draws, the number of draws of equal weight that would serve as well."""
    squares = counts @ weights**2
    return float((counts @ weights) ** 2 / squares) if squares > 0 else 0.0


def _keys(coalitions: BoolArray) -> list[bytes]:
    keys: Keys = pack(coalitions)
    return [bytes(key) for key in keys.tolist()]
