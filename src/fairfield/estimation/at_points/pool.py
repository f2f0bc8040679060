"""Coalitions drawn at several points in turn, which serve at any other.

Draws from q_{x_1}, …, q_{x_L} are draws from their mixture; with weights q_x(z)/mixture(z)
they serve at any x (adaptive multiple importance sampling: Cornuet et al., 2012). A
coalition is evaluated once, however often it is drawn. Coalitions that were drawn by their size
for another criterion can be adopted: they are one more component of the mixture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairfield.core.arrays import BoolArray, FloatArray, IntArray
from fairfield.estimation.at_points.draws import NO_TWINS, bernoulli, effective_size, log_law, twins
from fairfield.estimation.designs.design import Design
from fairfield.estimation.received import keys_of, unseen

# A player this close to certainty, or expected fewer times than this on the other side, is rare.
NEARLY_CERTAIN = 1e-3
FEW_DRAWS = 8
# The draws of a batch come in about so many blocks, unless they were smaller than this.
BLOCKS, SMALLEST_BLOCK = 4, 64
# A batch has no more flips than this: those of known coalitions cost no evaluation, but time.
MOST_FLIPS = 4096


def is_rare(x: FloatArray, draws: float) -> BoolArray:
    """Whether a player is nearly certain, or expected on their rarer side less than a few times."""
    return np.asarray(np.minimum(x, 1 - x) < max(NEARLY_CERTAIN, FEW_DRAWS / max(draws, 1.0)))


@dataclass(frozen=True)
class _Plan:
    """Draws (m, n) to make, which are twins (k, 2), the point each comes from, flips (player, draw).

    ``owners`` are the games that the points are of.
    """

    draws: BoolArray
    twins: IntArray
    laws: IntArray
    points: FloatArray
    owners: IntArray
    flips: IntArray


class Pool:
    """Draws of a batch of games on the same coalitions, each evaluated once."""

    def __init__(self, players: int, games: int) -> None:
        self.players = players
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
        # The coalitions of draws that were made as twins: one row per pair.
        self.twins = NO_TWINS
        self._place: dict[bytes, int] = {}
        self._plan: _Plan | None = None
        # What log_mixture returns, once it was computed.
        self._mixture: FloatArray | None = None

    @property
    def drawn(self) -> int:
        """How many draws there are."""
        return int(self.sizes.sum() + sum(count for count, _ in self.by_size))

    @property
    def ends(self) -> BoolArray:
        """Which coalitions are ∅ and N, whose worths are always asked for: (m,)."""
        sizes = self.coalitions.sum(axis=1)
        return np.asarray((sizes == 0) | (sizes == self.players))

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
        (k, n) are flipped as well, one at least, and a quarter as many new coalitions at most.
        Coalitions that are wanted ``also`` come first.
        """
        drawn, opposed = self._draw(points, fresh, draws, rng)
        laws = np.arange(len(drawn)) % len(points)
        point, player = np.nonzero(rare)
        flips = min(max(1, MOST_FLIPS // max(len(point), 1)), len(drawn) // len(points))
        base = (np.arange(flips)[:, None] * len(points) + point).ravel()
        player = np.tile(player, flips)
        turned = drawn[base]
        turned[np.arange(len(base)), player] ^= True
        cut = max(len(point), self._until(turned, fresh // 4))
        base, player, turned = base[:cut], player[:cut], turned[:cut]
        self._plan = _Plan(drawn, opposed, laws, points, owners, np.stack([player, base], axis=1))
        early = int(base.max(initial=-1)) + 1
        first = drawn[:0] if also is None else also
        every = np.concatenate([first, drawn[:early], turned, drawn[early:]])
        return every[self._unseen(every)]

    def _draw(
        self, points: FloatArray, fresh: int, draws: int, rng: np.random.Generator
    ) -> tuple[BoolArray, IntArray]:
        """Draws in turn at the points, up to so many new coalitions or so many draws; the twins."""
        each = -(-fresh // len(points))
        block = max(SMALLEST_BLOCK, each // BLOCKS)
        drawn = np.empty((0, self.players), dtype=bool)
        opposed = NO_TWINS
        while len(drawn) < draws:
            # One draw at every point in turn, so that a cut leaves all with equally many.
            rows = np.stack([bernoulli(x, each, rng, block=block) for x in points], axis=1)
            pairs = twins(each, block) * len(points)
            places = pairs[:, None, :] + np.arange(len(points))[:, None] + len(drawn)
            opposed = np.concatenate([opposed, places.reshape(-1, 2)])
            drawn = np.concatenate([drawn, rows.reshape(-1, self.players)])
            enough = self._until(drawn, fresh)
            if enough <= len(drawn):
                return drawn[:enough], opposed[opposed[:, 1] < enough]
            each = max(each, len(drawn) // len(points))
        return drawn, opposed

    def _unseen(self, coalitions: BoolArray) -> list[int]:
        """The rows of those without a worth, each once."""
        return list(unseen(coalitions, self._place).values())

    def _until(self, coalitions: BoolArray, fresh: int) -> int:
        """How many of them it takes to see so many new ones; one more than all if not."""
        rows = self._unseen(coalitions)
        return rows[fresh - 1] + 1 if 0 < fresh <= len(rows) else len(coalitions) + 1

    def tell(
        self, coalitions: BoolArray, worths: FloatArray, variances: FloatArray | None = None
    ) -> None:
        """Receive worths (games, k) of coalitions not seen before, and count the draws they complete.

        ``variances`` (games, k) are those of noisy worths.
        """
        noise = np.zeros_like(worths) if variances is None else variances
        self.noise = np.concatenate([self.noise, noise], axis=1)
        for key in keys_of(coalitions):
            self._place.setdefault(key, len(self._place))
        self.coalitions = np.concatenate([self.coalitions, coalitions])
        self.inside = np.concatenate([self.inside, coalitions])
        self.worths = np.concatenate([self.worths, worths], axis=1)
        self.counts = np.concatenate([self.counts, np.zeros(len(coalitions))])
        self._mixture = None
        if self._plan is not None:
            self._complete(self._plan)
            self._plan = None

    def adopt(self, other: Design | Pool) -> None:
        """Use what was evaluated for another criterion: coalitions drawn by size, or another pool.

        Both ends stand first among these and are no draws; flips of rare players in a pool are
        coalitions, but no pairs.
        """
        noise: FloatArray | None
        if isinstance(other, Pool):
            coalitions, counts = other.coalitions, other.counts
            worths, noise = other.worths, other.noise
            self.points = np.concatenate([self.points, other.points])
            self.sizes = np.concatenate([self.sizes, other.sizes])
            self.by_size += other.by_size
            opposed = other.twins
        else:
            drawn = other.sampled(noisy=False)
            coalitions, worths, noise = drawn.rows, drawn.worths, drawn.noise
            counts = np.ones(len(coalitions))
            counts[:2] = 0.0
            self.by_size.append((counts.sum(), drawn.log_law()))
            opposed = np.arange(2, 2 * drawn.pairs).reshape(-1, 2)
        fresh = self._unseen(coalitions)
        variances = None if noise is None else noise[:, fresh]
        self.tell(coalitions[fresh], worths[:, fresh], variances)
        at = self._where(coalitions)
        np.add.at(self.counts, at, counts)
        self.twins = np.concatenate([self.twins, at[opposed]])

    def _complete(self, plan: _Plan) -> None:
        """Count the planned draws up to the first whose worth is not known."""
        at = self._where(plan.draws)
        used = len(at) if (at >= 0).all() else int(np.argmin(at >= 0))
        self.counts += np.bincount(at[:used], minlength=len(self.counts))
        sizes = np.bincount(plan.laws[:used], minlength=len(plan.points))
        first = len(self.points)
        self.points = np.concatenate([self.points, plan.points])
        self.sizes = np.concatenate([self.sizes, sizes])
        self.twins = np.concatenate([self.twins, at[plan.twins[plan.twins[:, 1] < used]]])
        player, base = plan.flips[plan.flips[:, 1] < used].T
        rows, law = np.arange(len(base)), plan.laws[base]
        inside, outside = plan.draws[base], plan.draws[base]
        inside[rows, player], outside[rows, player] = True, False
        both = self._where(inside), self._where(outside)
        found = np.column_stack([plan.owners[law], player, *both, first + law])
        self.pairs = np.concatenate([self.pairs, found[(both[0] >= 0) & (both[1] >= 0)]])

    def _where(self, coalitions: BoolArray) -> IntArray:
        return np.array([self._place.get(key, -1) for key in keys_of(coalitions)], dtype=np.int64)

    def log_mixture(self) -> FloatArray:
        """log Σ_l (m_l/m) q_{x_l}(z) of every coalition (m,), the law of all draws together."""
        if self._mixture is None:
            total = self.sizes.sum() + sum(count for count, _ in self.by_size)
            laws = self._laws(self.inside, total)
            for count, logs in self.by_size:
                by_size = logs[self.coalitions.sum(axis=1)] + np.log(count / total)
                laws = np.concatenate([laws, by_size[None]])
            self._mixture = np.logaddexp.reduce(laws, axis=0)
        return self._mixture

    def _laws(self, inside: FloatArray, total: float) -> FloatArray:
        used = self.sizes > 0
        return log_law(inside, self.points[used]) + np.log(self.sizes[used] / total)[:, None]

    def more_draws(self, count: int, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
        """About so many coalitions (k, n) like those drawn at points, and the log of their law (k,)."""
        used, total = self.sizes > 0, float(self.sizes.sum())
        each = np.ceil(count * self.sizes[used] / total).astype(int)
        points = zip(self.points[used], each, strict=True)
        found = np.concatenate([bernoulli(x, size, rng) for x, size in points])
        shares = np.log(each / each.sum())[:, None]
        laws = log_law(found.astype(float), self.points[used]) + shares
        return found, np.asarray(np.logaddexp.reduce(laws, axis=0))

    def weights(self, x: FloatArray) -> FloatArray:
        """q_x(z)/mixture(z) of every coalition, for points (…, n)."""
        mixture = self.log_mixture()
        # What no draw can be (an end that was asked for with pairs) has no weight.
        drawn = np.where(np.isfinite(mixture), mixture, np.inf)
        return np.asarray(np.exp(log_law(self.inside, x) - drawn))

    def effective(self, x: FloatArray) -> float:
        """The number of draws at x that would serve as well: (Σ w)²/Σ w²."""
        return effective_size(self.weights(x), self.counts)

    def times(self) -> FloatArray:
        """How often each coalition was seen, as a draw or as the flip of one: (m,)."""
        found = self.counts.copy()
        for side in (2, 3):
            rows, pairs = np.unique(self.pairs[:, [1, side]], axis=0, return_counts=True)
            # A draw has one pair with each rare player, and is still one draw.
            np.maximum.at(found, rows[:, 1], pairs)
        return found
