"""The exact multilinear extension of a table of 2^n worths.

The table is read as a matrix M (high players × low players) in blocks that fit the
cache; each block takes part in the two products w_hᵀ M and M w_l, and what is left
are two tables of about 2^(n/2) entries, folded on the host. So every reading below
costs one pass over the table, O(2^n), whatever the number of players asked about.

Only this file touches the big table. Its operations go through the array's own
namespace, so the table may live on any device; it is never copied, centred or
converted as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfield.coalitions import BoolArray, enumerate_coalitions, sizes
from fairfield.extension import by_size, folding
from fairfield.game import TableGame, on_host
from fairfield.multilinear import Extension, FloatArray, Update

# Worths in a block: 4 MB of float64 stay in the last-level cache between the two
# products, and are enough work for BLAS to share among threads.
BLOCK = 2**19
# Worths in a block that is worked on further: 1 MB, inside the second-level cache.
CACHED = 2**17

Lift = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class TableExtension(Extension):
    """f, ∇f, ∇²f of a batch of tables, exactly.

    ``matrices`` holds the tables as (games, 2^high, 2^low). ``shift`` is subtracted
    from every worth as it is read; with a ``lift``, what is extended is not F but
    lift(rate · (F - shift)), elementwise. ``lowest`` and ``highest`` are
    the extreme worths per game.
    """

    matrices: Any
    lowest: FloatArray
    highest: FloatArray
    batch: tuple[int, ...] = ()
    shift: FloatArray | None = None
    rate: FloatArray | None = None
    lift: Lift | None = None
    # The variances of worths that are estimates, as a table of their own.
    noise: TableExtension | None = None
    quick_sweep = True

    @classmethod
    def of(cls, game: TableGame) -> TableExtension:
        """The extension of a table game."""
        count = len(game.players)
        # Half and half; but matrix-vector products are slow on rows of 64 to 256 entries.
        low = max(1, count // 2 if count >= 18 else min(5, count // 2))
        xp = array_api_compat.array_namespace(game.worth_table)
        matrices = xp.reshape(game.worth_table, (-1, 2 ** (count - low), 2**low))
        # An offset many times the range costs digits in every sum: take it out on the way.
        lowest, highest = game.lowest.reshape(-1), game.highest.reshape(-1)
        middle = lowest / 2 + highest / 2
        far = np.abs(middle) > 16 * (highest / 2 - lowest / 2)
        shift = np.where(far, middle, 0.0) if far.any() else None
        noise = None
        if game.variances is not None:
            # Their sums are not differences: nothing may be subtracted on the way.
            noise = replace(cls.of(TableGame(game.variances)), shift=None)
        return cls(matrices, lowest, highest, game.batch, shift, noise=noise)

    @property
    def method(self) -> str:  # type: ignore[override]  # derived here, a field elsewhere
        return "exact table" if self.noise is None else "table of estimated worths"

    @cached_property
    def low(self) -> int:
        """How many players the columns stand for."""
        return int(self.matrices.shape[2]).bit_length() - 1

    @cached_property
    def high(self) -> int:
        """How many players the rows stand for."""
        return int(self.matrices.shape[1]).bit_length() - 1

    @property
    def players(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        return self.low + self.high

    @property
    def degree(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        return self.players

    @property
    def together(self) -> int:  # type: ignore[override]  # derived here, a field elsewhere
        # 8 MB of tables stay in cache from step to step.
        return max(1, 2**20 >> min(self.players, 20))

    @property
    def offset(self) -> FloatArray:
        games = self.matrices.shape[0]
        return (np.zeros(games) if self.shift is None else self.shift).reshape(self.batch)

    @property
    def rounding(self) -> float:
        """What a difference of four worths may be off by, as they are stored."""
        eps = 2.0**-23 if self.matrices.dtype == self._namespace.float32 else 2.0**-52
        return 8 * eps * float(np.maximum(np.abs(self.lowest), np.abs(self.highest)).max())

    def rows(self, chosen: slice | NDArray[np.int64]) -> TableExtension:
        xp = self._namespace
        if isinstance(chosen, slice):
            matrices = self.matrices[chosen, ...]
        else:
            matrices = xp.take(self.matrices, self._on_device(chosen), axis=0)
        shift = None if self.shift is None else self.shift[chosen]
        return replace(
            self,
            matrices=matrices,
            lowest=self.lowest[chosen],
            highest=self.highest[chosen],
            batch=(matrices.shape[0],),
            shift=shift,
            noise=None if self.noise is None else self.noise.rows(chosen),
        )

    def lifted(self, shift: ArrayLike, rate: ArrayLike, lift: Lift) -> TableExtension:
        """The extension of lift(rate · (F - shift)), one shift and rate per game."""
        games = self.matrices.shape[0]
        per_game = [np.broadcast_to(np.asarray(a, dtype=float), self.batch) for a in (shift, rate)]
        return replace(
            self,
            shift=per_game[0].reshape(games),
            rate=per_game[1].reshape(games),
            lift=lift,
            noise=None,
        )

    # ------------------------------------------------------------------ readings

    def value(self, x: ArrayLike) -> FloatArray:
        return self.derivative((), x)

    def gradient(self, x: ArrayLike) -> FloatArray:
        return self.centred(x)[1]

    def centred(self, x: ArrayLike) -> tuple[FloatArray, FloatArray]:
        points, lead = self._points(x)
        faces = self.faces(folding.probabilities(points))
        slopes = faces[..., 1] - faces[..., 0]
        value = faces[..., 0, 0] + points[..., 0] * slopes[..., 0]
        return self.shaped(value, lead), self.shaped(slopes, lead)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        corners = (on_host(self.matrices[:, i, i]).reshape(self.batch) for i in (0, -1))
        return next(corners), next(corners)

    def hessian(self, x: ArrayLike) -> FloatArray:
        points, lead = self._points(x)
        return self.shaped(self.pairs(folding.probabilities(points), folding.DERIVATIVE), lead)

    def gradient_covariance(self, x: ArrayLike) -> FloatArray | None:
        """Σ_S V(S) c_i(S) c_j(S), with c_i(S) the weight of F(S) in ∂_i f(x)."""
        if self.noise is None:
            return None
        points, lead = self._points(x)
        weights = folding.probabilities(points)
        joint = self.noise.pairs(weights**2, weights * folding.DERIVATIVE)
        own = np.arange(self.players)
        joint[..., own, own] = self.noise.faces(weights**2).sum(axis=-1)
        return self.shaped(joint, lead)

    def derivative(self, coalition: Sequence[int], x: ArrayLike) -> FloatArray:
        points, lead = self._points(x)
        factors = folding.probabilities(points)
        factors[..., list(coalition), :] = folding.DERIVATIVE
        below, above = (
            folding.laws(factors[..., : self.low, :]),
            folding.laws(factors[..., self.low :, :]),
        )
        _, of_high = self.fold(None, below[-1])
        derivative = self.shaped(np.vecdot(of_high, above[-1]), lead)
        return derivative if len(coalition) or self.lift else derivative + self.offset

    def sweep(self, x: FloatArray, update: Update) -> FloatArray:
        points, lead = self._points(np.broadcast_to(x, (*self.batch, self.players)))

        def per_game(player: int, slope: FloatArray) -> FloatArray:
            return update(player, slope.reshape(self.batch)).reshape(slope.shape)

        points = points.copy()
        below, above = points[..., : self.low], points[..., self.low :]
        of_low, _ = self.fold(folding.laws(folding.probabilities(above))[-1], None)
        folding.sweep(of_low, below, per_game, first=0)
        _, of_high = self.fold(None, folding.laws(folding.probabilities(below))[-1])
        folding.sweep(of_high, above, per_game, first=self.low)
        return self.shaped(points, lead)

    def faces(self, factors: FloatArray) -> FloatArray:
        """The table folded by the factors of all players but one: (games, k, n, 2)."""
        below, above = factors[..., : self.low, :], factors[..., self.low :, :]
        if self.low == self.high:
            # Both halves in one go: where the table is small, it is calls that cost.
            halves = np.stack([below, above])
            laws = folding.laws(halves)
            tables = np.stack(self.fold(laws[-1][1], laws[-1][0]))
            return np.concatenate(list(folding.faces(tables, halves, laws)), axis=-2)
        law_low, law_high = folding.laws(below), folding.laws(above)
        of_low, of_high = self.fold(law_high[-1], law_low[-1])
        return np.concatenate(
            [folding.faces(of_low, below, law_low), folding.faces(of_high, above, law_high)],
            axis=-2,
        )

    def pairs(self, factors: FloatArray, probe: FloatArray) -> FloatArray:
        """The table folded with ``probe`` in place of two players: (games, k, n, n).

        The probe is (out, in), one for all players or one for each.
        """
        probe = np.broadcast_to(probe, factors.shape)
        below, above = factors[..., : self.low, :], factors[..., self.low :, :]
        columns = folding.probed(below, probe[..., : self.low, :])
        games, k, each, width = columns.shape
        of_low, of_high = self.fold(
            folding.laws(above)[-1], columns.reshape(games, k * each, width)
        )
        of_high = of_high.reshape(of_high.shape[0], k, each, -1)
        return folding.join_pairs(of_low, of_high, below, above, probe)

    def shapley(self) -> FloatArray:
        return by_size.semivalue(self, by_size.shapley_weights(self.players))

    def shapley_covariance(self) -> FloatArray | None:
        return by_size.semivalue_covariance(self, by_size.shapley_weights(self.players))

    def log_sums(self, rate: FloatArray, tilt: FloatArray | None = None) -> FloatArray:
        """log Σ exp(rate · (F - shift) + tilt · z) over the coalitions without and with player i.

        Shaped (*batch, n, 2). Each row and each column of the matrix is shifted by its
        own maximum, so nothing underflows however large the rate.
        """
        games, height, width = self.matrices.shape
        speed = np.broadcast_to(rate, self.batch).reshape(games, 1, 1)
        logs = np.zeros(self.players) if tilt is None else tilt
        add_low = enumerate_coalitions(self.low) @ logs[: self.low]
        add_high = enumerate_coalitions(self.high) @ logs[self.low :]
        tops = np.full((games, width), -np.inf)
        sums = np.zeros((games, width))
        of_rows = np.empty((games, height))
        for some, rows in self.blocks():
            block = on_host(self._read(some, rows)) * speed[some]
            block += add_low + add_high[rows, None]
            top = block.max(axis=2, keepdims=True)
            of_rows[some, rows] = top[..., 0] + np.log(np.exp(block - top).sum(axis=2))
            higher = np.maximum(tops[some], block.max(axis=1))
            sums[some] *= np.exp(tops[some] - higher)
            sums[some] += np.exp(block - higher[:, None]).sum(axis=1)
            tops[some] = higher
        halves = [
            np.stack([_log_sum(table[:, ~inside]), _log_sum(table[:, inside])], axis=-1)
            for table, count in ((tops + np.log(sums), self.low), (of_rows, self.high))
            for inside in enumerate_coalitions(count).T
        ]
        answer = np.stack(halves, axis=1)
        return self.shaped(answer[:, None], self.batch)

    def highest_among(self, may_join: BoolArray, may_stay: BoolArray) -> FloatArray:
        """The largest worth of the coalitions in which nobody does what he may not."""
        xp = self._namespace

        def allowed(some: slice) -> BoolArray:
            z = enumerate_coalitions(len(may_join[some]))
            return np.asarray((np.where(z, may_join[some], may_stay[some])).all(axis=1))

        columns, lines = allowed(slice(0, self.low)), allowed(slice(self.low, None))
        highest = np.full(self.matrices.shape[0], -np.inf)
        for some, rows in self.blocks():
            inside = self._on_device(lines[rows, None] & columns)
            block = xp.where(inside, self.matrices[some, rows, :], -xp.inf)
            highest[some] = np.maximum(highest[some], on_host(xp.max(block, axis=(1, 2))))
        return highest.reshape(self.batch)

    def second_differences(self) -> tuple[FloatArray, FloatArray]:
        """The least and the largest Δ_ij F(S) over all S ∌ i, j: two (*batch, n, n) arrays.

        One pass of a quarter of the table per pair, O(n² 2^n).
        """
        xp, games, count = self._namespace, self.matrices.shape[0], self.players
        least, largest = np.zeros((games, count, count)), np.zeros((games, count, count))
        for j in range(count):
            for i in range(j):
                shape = (games, 2 ** (count - 1 - j), 2, 2 ** (j - 1 - i), 2, 2**i)
                table = xp.reshape(self.matrices, shape)
                with_j = table[:, :, 1, :, 1, :] - table[:, :, 1, :, 0, :]
                change = with_j - (table[:, :, 0, :, 1, :] - table[:, :, 0, :, 0, :])
                for into, extreme in ((least, xp.min), (largest, xp.max)):
                    into[:, i, j] = into[:, j, i] = on_host(extreme(change, axis=(1, 2, 3)))
        return self.shaped(least[:, None], self.batch), self.shaped(largest[:, None], self.batch)

    # ------------------------------------------------------------------ passes

    def fold(
        self, high: FloatArray | None, low: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """w_hᵀ M and M w_l for k laws each, (1 or games, k, ·), in one pass."""
        games, height, width = self.matrices.shape
        of_low = np.zeros((games, 0 if high is None else high.shape[1], width))
        of_high = np.empty((games, height, 0 if low is None else low.shape[1]))
        left = None if high is None else self._on_device(high)
        right = None if low is None else self._on_device(low.swapaxes(1, 2))
        for chosen, rows in self.blocks():
            block = self._read(chosen, rows)
            if left is not None:
                laws = left if left.shape[0] == 1 else left[chosen, ...]
                of_low[chosen] += on_host(laws[:, :, rows] @ block)
            if right is not None:
                laws = right if right.shape[0] == 1 else right[chosen, ...]
                of_high[chosen, rows] = on_host(block @ laws)
        return of_low, of_high.swapaxes(1, 2)

    def by_size(
        self, columns: Callable[[NDArray[np.int64]], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """M times columns that depend on coalition sizes, and sums of equal-sized rows.

        ``columns(sizes)`` are k columns for one row, whose coalitions have these sizes.
        Answers (games, k, 2^high) and (games, high + 1, 2^low).
        """
        games, height, width = self.matrices.shape
        size_low, size_high = sizes(self.low), sizes(self.high)
        by_row_size = np.stack([columns(s + size_low) for s in range(self.high + 1)])
        k = by_row_size.shape[1]
        of_high = np.empty((games, height, k))
        sums = np.zeros((games, self.high + 1, width))
        if height * width <= CACHED:
            # Small tables: all columns for all rows, then each row keeps its own.
            every = self._on_device(by_row_size.reshape(-1, width).T)
            member = self._on_device(np.equal.outer(np.arange(self.high + 1), size_high) * 1.0)
            for some, rows in self.blocks(CACHED):
                block = self._read(some, rows)
                products = on_host(block @ every).reshape(-1, height, self.high + 1, k)
                of_high[some] = products[:, np.arange(height), size_high]
                sums[some] = on_host(member @ block)
            return of_high.swapaxes(1, 2), sums
        # Large ones: rows are gathered by the size of their coalition, so that each
        # meets only the columns that belong to it.
        step = max(1, CACHED // width)
        for size, laws in enumerate(by_row_size):
            group = np.flatnonzero(size_high == size)
            right = self._on_device(np.ascontiguousarray(laws.T))
            for start in range(0, len(group), step):
                which = group[start : start + step]
                ones = self._on_device(np.ones((1, len(which))))
                for game in range(games):
                    block = self.gather(game, which)
                    of_high[game, which] = on_host(block @ right)
                    sums[game, size] += on_host(ones @ block)[0]
        return of_high.swapaxes(1, 2), sums

    def gather(self, game: int, rows: NDArray[np.int64]) -> Any:
        """Some rows of one game's matrix."""
        some = slice(game, game + 1)
        index = self._on_device(rows)
        block = self._namespace.take(self.matrices[some, ...], index, axis=1)
        return self._prepare(block, some)[0, ...]

    def blocks(self, size: int | None = None) -> Iterator[tuple[slice, slice]]:
        """Which games and which rows make a block, of ``size`` worths or so."""
        games, height, width = self.matrices.shape
        if size is None:
            size = CACHED if self.lift else BLOCK
        rows, together = min(height, max(1, size // width)), max(1, size // (height * width))
        for first in range(0, games, together):
            for row in range(0, height, rows):
                yield slice(first, min(first + together, games)), slice(row, row + rows)

    def _read(self, games: slice, rows: slice) -> Any:
        return self._prepare(self.matrices[games, rows, :], games)

    def _prepare(self, block: Any, games: slice) -> Any:
        """A block in float64, shifted, and lifted: work in cache, not in memory."""
        xp = self._namespace
        if block.dtype != xp.float64:
            block = xp.astype(block, xp.float64)
        if self.shift is not None:
            block = block - self._on_device(self.shift[games, None, None])
        if self.lift is not None and self.rate is not None:
            block = self.lift(xp, block * self._on_device(self.rate[games, None, None]))
        return block

    # ------------------------------------------------------------------ shapes

    @cached_property
    def _namespace(self) -> Any:
        return array_api_compat.array_namespace(self.matrices)

    def _on_device(self, array: NDArray[Any]) -> Any:
        if isinstance(self.matrices, np.ndarray):
            return array
        return self._namespace.asarray(array, device=array_api_compat.device(self.matrices))

    def _points(self, x: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
        """Points as (1 or games, k, n), and the leading axes of the answer."""
        points = np.asarray(x, dtype=float)
        lead, depth = points.shape[:-1], len(self.batch)
        if points.shape[-1:] != (self.players,):
            raise ValueError(
                f"a point of shape {points.shape} was given for {self.players} players; "
                "its last axis must hold one probability per player"
            )
        if not self.batch or not lead:
            return points.reshape(1, -1, self.players), lead or self.batch
        if lead[-depth:] != self.batch:
            raise ValueError(
                f"points of shape {points.shape} do not match a batch of {self.batch} games; "
                f"give one point, or an array shaped (..., {', '.join(map(str, self.batch))}, n)"
            )
        games = self.matrices.shape[0]
        return points.reshape(-1, games, self.players).swapaxes(0, 1), lead

    def shaped(self, answer: FloatArray, lead: tuple[int, ...]) -> FloatArray:
        """An answer (games, k, ...) with the leading axes that were asked for."""
        tail = answer.shape[2:]
        return np.asarray(answer.swapaxes(0, 1)).reshape(lead + tail)


def _log_sum(logs: FloatArray) -> FloatArray:
    top = logs.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(logs - top).sum(axis=-1)))
